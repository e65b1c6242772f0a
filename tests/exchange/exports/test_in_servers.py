"""Redirects of real nginx and Apache: whoever follows them arrives at the canonical form."""

from __future__ import annotations

import re

import pytest

from tests.exchange.exports import shop
from tests.exchange.exports.in_servers import by_server
from undust import RuleSet
from undust.exchange.exports import export

COUNT = 5000
EMPTY_PARAMETER = re.compile(r"[?&](?:&|$)")


@pytest.mark.parametrize(("name", "target"), [("nginx", "nginx"), ("apache2", "apache")])
def test_redirects_lead_to_the_canonical_form(name: str, target: str) -> None:
    """Every URL ends where the canonicalizer sends it, by the rules that were not refused."""
    exported = export(shop.everything(), target)
    assert len(exported.refused) < len(shop.REFUSED)
    urls = [url for url in shop.urls(2 * COUNT) if name == "nginx" or not EMPTY_PARAMETER.search(url)][:COUNT]
    assert len(urls) == COUNT
    found = by_server(name, exported.text, urls)
    assert shop.differences(urls, found, RuleSet(exported.rules)) == []
    assert sum(one != other for one, other in zip(urls, found, strict=True)) > COUNT / 3
