"""What a tree may propose: how many pages show a candidate, and which of the two trees of a site speaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.proposing.papers.test_tree import site_of
from undust.proposing.papers.selection import TrialUrls
from undust.proposing.papers.tree import (
    Selected,
    TreeOptions,
    better,
    fewest_pages,
    propose_by_tree,
    raw_candidates,
    selected,
)
from undust.rules import Rule
from undust.statistics import upper_bound
from undust.urls.pattern_tree import SALIENCES


def shop(sections: int) -> dict[str, str]:
    """Pages under their own name and under a number, in sections that the two curves cut differently."""
    pages = {}
    for section in range(sections):
        for number in range(12 + section):
            page = f"{section}-{number}"
            pages[f"http://s.test/part{section}/view/{number}"] = page
            pages[f"http://s.test/part{section}/print/{number}"] = page
    return pages


@pytest.mark.parametrize("selection", ["graph", "naive", "all"])
def test_either_is_the_one_with_more_right_merges(selection: str) -> None:
    """Proposed is what one of the two trees proposes, and it is worth no less than the other."""
    site = site_of(shop(9))
    options = TreeOptions(selection=selection)
    trial = TrialUrls(site)
    worth = {}
    for curve in SALIENCES:
        found = selected(site, trial, replace(options, salience=curve))
        right, wrong = trial.merges(rule for each in found.candidates for rule in each.rules)
        worth[tuple(found.candidates)] = right - wrong / options.max_fpr
    chosen = propose_by_tree(site, options).candidates
    assert worth[chosen] == max(worth.values()) > 0


def test_a_lost_page_weighs_more_than_the_urls_of_another() -> None:
    """Twenty URLs stand against one page at the published bound, and the first of equal trees is taken."""
    pages = {f"http://s.test/a?id={number}&s={s}": f"a{number}" for number in range(9) for s in "xy"}
    pages |= {f"http://s.test/b?id={number}": f"b{number}" for number in range(2)}
    site = site_of(pages)
    trial, options = TrialUrls(site), TreeOptions()
    tree = selected(site, trial, replace(options, salience="site"))

    def made(*lines: str) -> Selected:
        sides = [line.split(" → ") for line in lines]
        rules = tuple(Rule("s.test", "rewrite", left, right) for left, right in sides)
        return tree._replace(candidates=[replace(tree.candidates[0], rules=rules)] if rules else [])

    careful = made("http://s.test/a?id={a}&s={**} → http://s.test/a?id={a}")
    greedy = made(
        "http://s.test/a?id={a}&s={**} → http://s.test/a?id={a}", "http://s.test/b?id={**} → http://s.test/b"
    )
    assert trial.merges(careful.candidates[0].rules) == (9, 0)
    assert trial.merges(greedy.candidates[0].rules) == (9, 1)
    assert better([greedy, careful], trial, options) is careful
    assert better([greedy, made()], trial, options).candidates == []
    assert better([careful, made()], trial, options) is careful


def test_29_pages_without_a_contradiction_show_less_than_a_tenth() -> None:
    """The default is the least number of pages that shows it with 95 % confidence."""
    least = TreeOptions().min_pages
    assert upper_bound(0, least) < 0.1 < upper_bound(0, least - 1)


@pytest.mark.parametrize(
    ("wanted", "pages", "fewest"),
    [(29, 10_000, 29), (29, 841, 29), (29, 840, 28), (29, 4, 2), (29, 1, 1), (1, 400, 1), (29, 0, 0)],
)
def test_small_sites_need_fewer_pages(wanted: int, pages: int, fewest: int) -> None:
    """A site of few pages cannot show any form on 29 of them."""
    assert fewest_pages(wanted, pages) == fewest


def test_what_few_pages_show_is_no_candidate() -> None:
    """Of two forms one has 5 pages and one 95; the square root of 100 is more than 5."""
    pages = {f"http://s.test/rare/{n}?s={s}": f"rare {n}" for n in range(5) for s in ("1", "2")}
    pages |= {f"http://s.test/usual/{n}?s={s}": f"usual {n}" for n in range(95) for s in ("1", "2")}
    site = site_of(pages)

    def about(options: TreeOptions) -> set[str]:
        _, found = raw_candidates(site, options)
        texts = [str(rule) for raw in found for rule in raw.rules]
        return {name for name in ("rare", "usual") if any(f"/{name}/" in text for text in texts)}

    assert about(TreeOptions(min_pages=1)) == {"rare", "usual"}
    assert about(TreeOptions()) == {"usual"}
    _, found = raw_candidates(site, TreeOptions())
    assert "too few pages show it" in {raw.reason for raw in found}
