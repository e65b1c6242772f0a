"""Which of two trees of a site speaks: the one whose rules bring more URLs together, and few pages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.proposing.papers.test_tree import site_of
from undust.proposing.papers.selection import TrialUrls
from undust.proposing.papers.tree import Selected, TreeOptions, better, propose_by_tree, selected
from undust.rules import Rule
from undust.urls.tree import SALIENCES


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
