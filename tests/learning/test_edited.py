"""The rules that the search among edits adds, with the evidence of pages that were held out."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.learning import Requirements
from undust.learning import learn_site as learn_in_rounds
from undust.learning.edited import combined_rules, edited_rules
from undust.rules import RuleSet

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters


def site_of(pages: dict[str, str]) -> SiteClusters:
    """Labelled URLs as the clusters of a site."""
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    (found,) = undust.find_duplicates(table)
    return found


def title(draw: Random) -> str:
    """Three words that nobody wrote before."""
    return "-".join("".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(3))


def titled(count: int = 80) -> dict[str, str]:
    """Products whose title is never missing and does not matter."""
    draw = Random(1)
    return {f"http://a.test/{title(draw)}/dp/{n}": str(n) for n in range(count) for _ in range(3)}


def test_what_is_never_missing_is_hidden_from_keys() -> None:
    """The rounds find nothing; the search finds one rule, and says what it did on held-out pages."""
    site = site_of(titled())
    assert not learn_in_rounds(site).rules
    learned = combined_rules(site)
    (rule,) = learned.rules
    key = RuleSet([rule]).compile().key
    assert key("http://a.test/any-title/dp/7") == key("http://a.test/other/dp/7")
    assert key("http://a.test/any-title/dp/7") != key("http://a.test/any-title/dp/8")
    assert rule.support is not None
    assert rule.support > 30
    assert (rule.false_positives, rule.fpr) == (0, 0.0)
    assert 0 < (rule.fpr_upper or 0) < 0.15
    assert 0 < (rule.saves or 0) < len(titled())
    assert learned.held_pairs >= rule.support
    assert learned.held_false == 0
    for url, becomes in rule.examples:
        assert key(url) == becomes


def test_nothing_is_proposed_from_held_out_pages() -> None:
    """With all pages held out there is nothing to propose from; with none, there is nothing to test on."""
    site = site_of(titled())
    assert not edited_rules(site, Requirements(held_out=1.0)).rules
    (rule,) = edited_rules(site, Requirements(held_out=0.0)).rules
    assert (rule.support, rule.saves) == (0, 0)


def test_rules_of_the_rounds_come_first_and_keep_their_evidence() -> None:
    """The search starts from where they lead, and repeats none of them."""
    pages = {f"http://a.test/p/{n}{tail}": str(n) for n in range(60) for tail in ("", f"?sid={n * 7919}")}
    pages |= {url: f"titled {page}" for url, page in titled(40).items()}
    site = site_of(pages)
    first, both = learn_in_rounds(site), combined_rules(site)
    assert both.rules[: len(first.rules)] == first.rules
    assert len(both.rules) > len(first.rules)
    assert len({rule.id for rule in both.rules}) == len(both.rules)
    assert both.left < first.left
    assert both.candidates > first.candidates


def test_refused_edits_are_told_with_the_reason() -> None:
    """A parameter that selects is refused because it would merge pages."""
    pages = {f"http://a.test/list?page={n}{tail}": str(n) for n in range(40) for tail in ("", f"&s={n}x")}
    learned = edited_rules(site_of(pages))
    refused = {str(each.rule): each for each in learned.refused}
    page = next(each for text, each in refused.items() if "?page={**}&{rest**}" in text)
    assert page.reason == "merged different pages"
    assert page.lost > 10
    assert sum(learned.rejected.values()) >= len(refused)


@pytest.mark.parametrize("least", [3, 50])
def test_a_person_may_ask_for_more_pages(least: int) -> None:
    """`--min-support` holds for the search, too."""
    rules = edited_rules(site_of(titled(30)), Requirements(min_support=least)).rules
    assert bool(rules) is (least < 30)
