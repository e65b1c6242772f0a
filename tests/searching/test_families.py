"""Small families of duplicates: each is learned from half of its pages, and nothing is lost on the others."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import undust
from bench.sites.families import FAMILIES, family
from undust.rules import RuleSet
from undust.searching import learn_site

REMOVED = 0.95
_LONGEST = 12


def halves(name: str, *, canonical: bool = False) -> tuple[pa.Table, list[str], list[str]]:
    """Return what may be learned from, and the URLs and pages to judge by."""
    made = family(name, canonical=canonical)
    pages = made.labels["cluster"].to_pylist()
    # Both halves have all names of parameters.
    is_seen = np.array([int(page) // 4 % 2 == 0 for page in pages])
    urls = made.seen["url"].to_pylist()
    other = [(url, page) for url, page, seen in zip(urls, pages, is_seen, strict=True) if not seen]
    return made.seen.filter(pa.array(is_seen)), [url for url, _ in other], [page for _, page in other]


def learned(table: pa.Table) -> RuleSet:
    """Return the rules of the only site in a table."""
    (found,) = undust.find_duplicates(table).sites
    return RuleSet(learn_site(found).rules)


@cache
def learned_of(name: str) -> RuleSet:
    """Return the rules of a family, learned once for all tests."""
    return learned(halves(name)[0])


def judged(rules: RuleSet, urls: list[str], pages: list[str]) -> tuple[float, int]:
    """Return the share of the duplicates that are gone by key, and how many pages are lost."""
    keys = rules.compile().batch(pa.array(urls), keys=True).to_pylist()
    shown: dict[str, set[str]] = {}
    for key, page in zip(keys, pages, strict=True):
        shown.setdefault(key, set()).add(page)
    lost = sum(len(some) - 1 for some in shown.values())
    return (len(urls) - len(shown) - lost) / (len(urls) - len(set(pages))), lost


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_learned_from_half_of_its_pages(name: str) -> None:
    """At least 95 in 100 duplicates of unseen pages have one key, and no two pages have."""
    _, urls, pages = halves(name)
    removed, lost = judged(learned_of(name), urls, pages)
    assert removed >= REMOVED
    assert lost == 0


@pytest.mark.parametrize("name", ["title_dp", "sid_always", "two_junk", "slug_and_session"])
def test_a_declared_form_changes_nothing(name: str) -> None:
    """With rel=canonical the same is learned as without."""
    training, urls, pages = halves(name, canonical=True)
    removed, lost = judged(learned(training), urls, pages)
    assert removed >= REMOVED
    assert lost == 0


@pytest.mark.parametrize("name", ["sid_always", "two_junk", "session_path", "random_host", "view_sid"])
def test_what_is_never_missing_is_masked(name: str) -> None:
    """A part that no URL lacks is hidden from the key, and every canonical URL is one that was seen."""
    _, urls, _ = halves(name)
    canonical = learned_of(name).compile()
    assert [canonical(url) for url in urls] == urls
    assert any(canonical.key(url) != url for url in urls)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_rule_holds_a_value_of_one_visitor(name: str) -> None:
    """No long word with digits stands in a rule."""
    for rule in learned_of(name):
        words = "".join(sign if sign.isalnum() else " " for sign in f"{rule.source} {rule.target}").split()
        assert not [word for word in words if len(word) > _LONGEST and any(map(str.isdigit, word))]


def test_the_order_of_rows_does_not_matter() -> None:
    """Rows in another order give the same bytes."""
    training, _, _ = halves("slug_and_session")
    shuffled = training.take(pa.array(np.random.default_rng(1).permutation(len(training))))
    assert learned(training).dumps() == learned(shuffled).dumps()
