"""A rule is judged by the tail of its pages and by the share expected to be right, never by a sum."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import undust
from bench.raw.changes import KINDS, SITE, changing_site, judged, numbers, page_row, words
from undust.learning.acceptance import Acceptance
from undust.learning.bounds import are_convincing, share_right, worst
from undust.learning.site_pages import Requirements, SitePages
from undust.learning.state import State
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.raw.changes import Row


def test_evidence_for_does_not_pay_for_evidence_against() -> None:
    """A hundred pages that agree do not outvote ten that are certainly different."""
    assert are_convincing(np.full(100, 4.0))
    assert not are_convincing(np.concatenate((np.full(100, 4.0), np.full(11, -4.0))))


def test_a_few_doubtful_pages_do_not_outvote_the_others() -> None:
    """Four pages of which nothing is known do not refuse a rule with a hundred clean ones."""
    assert are_convincing(np.concatenate((np.full(100, 4.0), np.zeros(4))))


def test_pages_that_say_nothing_prove_nothing() -> None:
    """Without evidence a rule is not believed."""
    assert not are_convincing(np.zeros(50))
    assert not are_convincing(np.zeros(0))
    assert worst(np.array([1.0, 3.0])) == 1.0
    assert share_right(np.array([-4.0, 4.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_that_change_keep_their_rules(kind: str) -> None:
    """Counters, clocks, tokens, rotating lines and their like on every page cost next to nothing."""
    removed, lost, _ = judged(list(changing_site(kind, 1.0, 60)))
    assert removed > 0.9
    assert lost == 0


@pytest.mark.parametrize("kind", ["prices", "weather", "calendar", "variants"])
def test_pages_that_differ_in_numbers_alone_are_not_merged(kind: str) -> None:
    """A number tells pages apart where the site shows that it does."""
    _, lost, _ = judged(list(numbers(kind, 80)))
    assert lost == 0


def wiki(numbers_of: Callable[[int], list[int]]) -> list[Row]:
    """Pages, and beside each the same text with a note, at addresses with these numbers."""
    rows = []
    for page in range(80):
        own = random.Random(page)
        title, parts = words(own, 3), [f"<p>{words(own, 14)}" for _ in range(6)]
        name = title.replace(" ", "_")
        rows.append(page_row(f"{SITE}/{name}", title, parts))
        for number in numbers_of(page):
            note = f"<p>Seen in the state of day {own.randrange(1, 28)} by {words(own, 1)}"
            rows.append(page_row(f"{SITE}/{name}?state={number}", title, [note, *parts]))
    return rows


@pytest.mark.parametrize(
    ("numbers_of", "is_removed"),
    [
        (lambda page: [400 + page * 7], False),
        (lambda page: [400 + page * 7, 2000 + page * 3], True),
        (lambda page: [1 + page % 4], True),
    ],
    ids=["one number a page", "several numbers a page", "one number on several pages"],
)
def test_a_number_is_removed_if_it_was_seen_not_to_matter(
    numbers_of: Callable[[int], list[int]], *, is_removed: bool
) -> None:
    """A number that is the only one of its page, and of no other page, may name a revision."""
    key = undust.learn(pa.Table.from_pylist(wiki(numbers_of))).compile().key
    urls = f"{SITE}/some_other_page?state=77", f"{SITE}/some_other_page"
    assert (key(urls[0]) == key(urls[1])) == is_removed


@pytest.mark.parametrize(("before", "lists"), [("", 12), ("order=owner", 12), ("order=owner", 30)])
def test_a_parameter_has_one_default(before: str, lists: int) -> None:
    """A second value that does nothing on a few lists is as doubtful as any: short lists have one order."""
    pages = {
        f"http://a.test/q?list={n}{order}": f"list {n}"
        for n in range(lists)
        for order in ("", "&order=owner", "&order=id")
    }
    table = pa.table({"url": list(pages), "cluster": list(pages.values())})
    site_pages = SitePages(undust.find_duplicates(table).sites[0], Requirements())

    def drops(value: str) -> Rule:
        text = f"rewrite {{s}}://{{h}}/{{p**}}?{value}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
        return Rule.parse(text, site="a.test")

    state = State(site_pages, [drops(before)] if before else [])
    rule = drops("order=id")
    is_accepted = Acceptance(Requirements(), site_pages).are_met(state, state.effect(rule), rule)
    assert is_accepted == (not before or lists == 30)


def test_one_value_for_another_needs_many_pages() -> None:
    """`order=priority` is `order=owner` on lists with one entry; fewer than 25 pages do not decide."""
    text = "rewrite {s}://{h}/q?order=a&{rest**} → {s}://{h}/q?order=b&{rest}"
    table = pa.table({"url": ["http://a.test/q?order=a", "http://a.test/q?order=b"], "cluster": ["1", "1"]})
    site_pages = SitePages(undust.find_duplicates(table).sites[0], Requirements())
    assert Acceptance(Requirements(), site_pages).least_pages(Rule.parse(text, site="a.test")) == 25
