"""A rule that left a URL alone is not tried again on what another rule dropped parameters from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.rules import Canonicalizer as Oracle
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from random import Random

SITE = "shop.test"
DROPPING = (
    "rewrite {s}://{h}/{p**}?a={**}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{**:b|c*}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?{k**:a|d}&{**} → {s}://{h}/{p}?{k} when ?d={**}",
    "rewrite {s}://{h}/{p**}?{k**:b|cc|d}&{**} → {s}://{h}/{p}?{k:sorted} when ?b={**}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:first}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:last}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:unique}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:sorted}",
    "rewrite {s}://{h}/{p**}/x?{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}/y?{rest**} → {s}://{h}/{p}",
    "rewrite {s}://www.{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest}",
)
OTHERS = (
    "rewrite {s}://{h}/{p**}?a=1&{rest**} → {s}://{h}/{p}/x?{rest}",
    "rewrite {s}://{h}/{p**}?a={v:int}&a={w}&{rest**} → {s}://{h}/{p}?d={w}&{rest}",
    "rewrite {s}://{h}/{p**}?b={v} → {s}://{h}/{p}/{v}",
    "rewrite {s}://{h}/{p**}?b={v}&{rest**} → {s}://{h}/{v}/y?{rest}",
    "rewrite {s}://{h}/x/{p**}?{rest**} → {s}://{h}/{p}?{rest} unless ?cc={**}",
    "rewrite {s}://{h}/x/{p**}?d={v}&{rest**} → {s}://{h}/{p}?a={v}&{rest} when ?a={**}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p:lower}?{rest} unless ?d={**}",
    "rewrite {s}://{h}/{p**}?{rest**} → {s}://{h}/{p}?{rest:amp}",
    "rewrite {s}://{h}/x → {s}://{h}/y",
    "rewrite {s}://{h}/{p**}?{**:a}&{**:a|b}&{rest**} → {s}://{h}/{p}?{rest}",
    "rewrite {s}://{h}/{p**}?a={**}&{**:a|b}&{rest**} → {s}://{h}/{p}/X?{rest}",
    'replace "//" → "/"',
    'replace "?a=2&" → "?"',
    "keep {s}://{h}/{p**}?d=1&{rest**}",
    "keep {s}://{h}/x/{p**}?{rest**} unless ?b={**}",
    "rewrite {s}://{h}/{p**}?cc={v}&{rest**} → {s}://{h}/{p}?cc={v:any}&{rest}",
)
names = st.sampled_from(("a", "b", "cc", "d", "A"))
values = st.sampled_from(("=1", "=2", "=..", "", "=x;a=1", "=x//y", "=%2F", "=X"))
segments = st.sampled_from(("x", "y", "X", "", "z"))
urls = st.builds(
    "{}://{}/{}{}".format,
    st.sampled_from(("http", "https")),
    st.sampled_from(("www.shop.test", "shop.test", "shop.test:8080")),
    st.lists(segments, max_size=4).map("/".join),
    st.one_of(
        st.sampled_from(("", "?", "?&", "?a&&b")),
        st.lists(st.builds("{}{}".format, names, values), min_size=1, max_size=9).map(
            lambda parts: f"?{'&'.join(parts)}"
        ),
    ),
)


def read(text: str, *, is_fetched: bool) -> Rule:
    """Return a rule. Neither a keep nor a mask can be for comparing only."""
    rule = Rule.parse(text, site=SITE)
    return rule if text.startswith("keep") or ":any}" in text else replace(rule, fetch=is_fetched)


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(DROPPING), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(OTHERS), max_size=6, unique=True),
    st.lists(st.booleans(), min_size=11, max_size=11),
    st.randoms(use_true_random=False),
    st.lists(urls, min_size=3, max_size=3),
)
def test_answers_are_those_of_an_engine_that_tries_every_rule(
    dropping: list[str], others: list[str], is_fetched: list[bool], random: Random, several: list[str]
) -> None:
    """Whatever the order of the rules, canonical form and key are those of the plain engine."""
    texts = [*dropping, *others]
    random.shuffle(texts)
    rules = [read(text, is_fetched=fetched) for text, fetched in zip(texts, is_fetched, strict=False)]
    compiled = RuleSet(rules).compile()
    oracle = Oracle([rule.to_json() for rule in rules])
    for url in several:
        found = oracle.explain(url)
        assert (compiled(url), compiled.key(url)) == (found.canonical, found.key)


@pytest.mark.parametrize(
    ("texts", "url", "expected"),
    [
        ([OTHERS[2], DROPPING[0]], "http://shop.test/z?a=1&b=2", "http://shop.test/z/2"),
        ([OTHERS[8], DROPPING[9]], "http://shop.test/x/y?b=2", "http://shop.test/"),
        ([OTHERS[4], DROPPING[1]], "http://shop.test/x/z?cc=1", "http://shop.test/z"),
    ],
)
def test_what_fewer_parameters_wake_is_tried_again(texts: list[str], url: str, expected: str) -> None:
    """A query that must be empty, or has one parameter too many, and a parameter that excepts."""
    fillers = [DROPPING[0].replace("?a=", f"?q{number}=") for number in range(4)]
    compiled = RuleSet([Rule.parse(text, site=SITE) for text in (*texts, *fillers)]).compile()
    assert compiled(url) == expected
