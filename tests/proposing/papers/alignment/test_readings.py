"""Titles as one unit or token by token: the reading is used that brings more URLs of a site together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.proposing.papers.labelled import labelled, proposed
from undust.judging.verdict import Candidate, Proposal
from undust.proposing.papers.alignment import better_reading
from undust.rules import Rule

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters

TITLES = ("kettle", "blue-teapot", "small-copper-pan", "cup-and-saucer", "old-bowl", "jug")
TITLED = [[f"http://x.test/{TITLES[(n + 2 * k) % 6]}-p{n}.html" for k in range(3)] for n in range(20, 40)]
DATED = [
    [
        f"http://x.test/log?from=2024-{month:02}-{day}T{month * 7 % 24:02}%3A00&precision=second"
        for day in days
    ]
    for month in range(1, 13)
    for days in ((11, 12, 13), (21, 22, 23))
]


def site_of(*pages: list[str]) -> SiteClusters:
    """A site of these pages."""
    return labelled({url: str(number) for number, urls in enumerate(pages) for url in urls})


def proposal(*lines: str) -> Proposal:
    """Candidates of one rule each."""
    sides = [line.split(" → ") for line in lines]
    rules = [
        Rule("x.test", "rewrite", f"http://x.test{one}", f"http://x.test{other}") for one, other in sides
    ]
    return Proposal(tuple(Candidate((rule,), 3, "pairs", 3) for rule in rules))


PAGES = [[f"http://x.test/item/{n}", f"http://x.test/item/{n}?sid=s{n}"] for n in range(8)]
PAGES += [[f"http://x.test/list/{n}", f"http://x.test/list/{n}?sort=up"] for n in range(3)]
ITEMS = "/item/{n}?sid={**} → /item/{n}"
LISTS = "/list/{n}?sort={**} → /list/{n}"
WRONG = "/item/{*} → /item/1"


def test_the_reading_that_brings_more_urls_together() -> None:
    """Eight pages are more than three, from either side."""
    site, more, less = site_of(*PAGES), proposal(ITEMS), proposal(LISTS)
    assert better_reading(site, more, less) is more
    assert better_reading(site, less, more) is more


def test_what_merges_different_pages_counts_for_nothing() -> None:
    """A rule that brings all items together brings the URLs of each together too."""
    site, right, wrong = site_of(*PAGES), proposal(LISTS), proposal("/item/{*}?sid={**} → /item/1", WRONG)
    assert better_reading(site, wrong, right) is right
    assert better_reading(site, right, wrong) is right


def test_fewer_failures_decide_between_equal_ones() -> None:
    """What both propose counts for neither; then the one without a wrong candidate, and then the first."""
    site, plain, wider = site_of(*PAGES), proposal(ITEMS, LISTS), proposal(ITEMS, LISTS, WRONG)
    assert better_reading(site, wider, plain) is plain
    assert better_reading(site, plain, wider) is plain
    again = proposal(ITEMS, LISTS)
    assert better_reading(site, plain, again) is plain


def test_titles_are_read_as_units_where_pages_have_them() -> None:
    """The proposal is the one with word runs on a shop of titles, the plain one where it merges dates."""
    for pages, is_plain in ((TITLED, False), (DATED, True)):
        site = site_of(*pages)
        chosen = proposed(site, "alignment").candidates
        runs, plain = (
            proposed(site, "alignment", word_runs=runs, either_reading=False).candidates
            for runs in (True, False)
        )
        assert runs != plain
        assert chosen == (plain if is_plain else runs)
