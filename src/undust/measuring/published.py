"""Rules applied as their papers apply them, instead of by the one canonicalizer; and the papers' figures.

The canonicalizer follows the first rule that changes a URL, again and again. The papers differ: so each way
is written down here, and a comparison reports where it makes a difference. All start from the normal form,
and all end with the masks, since an ignored part is written as `*` in every paper.

The figures are what the papers report of the methods that `compare` runs, for the table with both. Figures of
one site are means: totals of tables by the number of sites. Only what is printed is here, and a figure that a
paper does not have is left out. The papers count on other sites and with other bounds, so these figures say
what to expect, not what to reach.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from undust.rules import Rule

PASSES = 10
"""MA of DustBuster: the number of passes over all rules."""


def in_passes(rules: RuleSet, urls: pa.Array, threads: int = 1) -> pa.Array:
    """DustBuster, phase 5: rule after rule, each until it changes nothing, and all that up to ten times.

    A single rule runs to its end rather than ten times; a growing rule, which has none, does nothing.
    """
    turning, masks = _apart(rules)
    images = RuleSet().compile().batch(urls, threads=threads).cast(pa.large_string())
    passing = _Passing(turning, threads)
    for _ in range(PASSES):
        before = images
        images = passing.once_through(images)
        if images.equals(before):
            break
    return RuleSet(masks).compile().batch(images, keys=True, threads=threads)


class _Passing:
    """Rules that URLs go through in order; each URL only meets those that change it."""

    def __init__(self, rules: list[Rule], threads: int) -> None:
        self.every = RuleSet(rules).compile()
        self.alone = [RuleSet([rule]).compile() for rule in rules]
        self.threads = threads

    def once_through(self, images: pa.Array) -> pa.Array:
        """Return the URLs after each rule was applied once."""
        waiting = np.arange(len(images))
        turn = np.zeros(len(images), np.int64)
        while len(waiting):
            rows, rules = (
                each.to_numpy()
                for each in self.every.touched(images.take(pa.array(waiting)), threads=self.threads)
            )
            is_due = rules >= turn[waiting[rows]]
            rows, rules = rows[is_due], rules[is_due]
            order = np.lexsort((rules, rows))
            first = order[np.unique(rows[order], return_index=True)[1]]
            waiting, due = waiting[rows[first]], rules[first]
            images = self._changed(images, waiting, due)
            turn[waiting] = due + 1
        return images

    def _changed(self, images: pa.Array, rows: NDArray[np.int64], due: NDArray[np.int64]) -> pa.Array:
        mask = np.zeros(len(images), np.bool_)
        mask[rows] = True
        parts, order = [], np.lexsort((rows, due))
        for rule, some in _groups(due[order], rows[order]):
            parts.append(self.alone[rule].batch(images.take(pa.array(some)), threads=self.threads))
        if not parts:
            return images
        back = np.argsort(rows[order], kind="stable")
        return pc.replace_with_mask(images, pa.array(mask), pa.concat_arrays(parts).take(pa.array(back)))


def _groups(keys: NDArray[np.int64], values: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    starts = [*np.flatnonzero(np.diff(keys, prepend=-1)), len(keys)]
    for start, end in pairwise(starts):
        yield int(keys[start]), values[start:end]


def once(rules: RuleSet, urls: pa.Array, threads: int = 1) -> pa.Array:
    """One step: the first rule that changes a URL does so once, and that is all.

    With the most specific rules first this is what Dasgupta et al. need, with the highest support first
    what DUSTER does, and with the rules that selection kept what the pattern tree does.
    """
    turning, masks = _apart(rules)
    step = RuleSet(turning).program.step
    images = pa.array([step(url)[1] for url in urls.to_pylist()], pa.string())
    return RuleSet(masks).compile().batch(images, keys=True, threads=threads)


PUBLISHED_APPLICATIONS: Mapping[str, Callable[[RuleSet, pa.Array, int], pa.Array]] = {
    "substring": in_passes,
    "rewrite": once,
    "tree": once,
    "alignment": once,
}
"""By learner: what its paper makes of URLs, given the rules in the published order."""


def _apart(rules: RuleSet) -> tuple[list[Rule], list[Rule]]:
    """Return the active rules that turn a URL into another, and those that only mask it."""
    active = [rule for rule in rules if rule.status == "active"]
    masks = [rule for rule in active if ":any}" in (rule.target or "")]
    return [rule for rule in active if rule not in masks], masks


class PublishedFigure(NamedTuple):
    """One line of a published table."""

    method: str
    """As `compare` calls it."""
    paper: str
    candidates: float | None = None
    """Before any filter, for one site; of all sites where the paper has no number of sites."""
    valid: float | None = None
    """The share of these that passed the proof."""
    rules: float | None = None
    """Deployed, for one site."""
    compression: float | None = None
    """The share of the URLs that is removed."""


_BAR_YOSSEF, _DASGUPTA, _LEI, _RODRIGUES = "Bar-Yossef 2006", "Dasgupta 2008", "Lei 2010", "Rodrigues 2015"
"""First authors: four sites; 360 hosts, fpr at most 5 %; 200 sites, fpr at most 5 %; WBR10, fpr 0."""
PUBLISHED_FIGURES = (
    PublishedFigure("substring", f"{_BAR_YOSSEF}, forum", 37, 7 / 37, 7, 0.047),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, academic", 2_041, 52 / 2_041, 52, 0.18),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, large news", 1_243, 62 / 1_243, 62, 0.06),
    PublishedFigure("substring", f"{_BAR_YOSSEF}, small news", 96, 5 / 96, 5, 0.26),
    PublishedFigure("rewrite-5", _LEI, 52_577 / 200, 19_754 / 52_577, 10_433 / 200, 0.188),
    PublishedFigure("rewrite-10", _LEI, 36_149 / 200, 13_813 / 36_149, 7_434 / 200, 0.16),
    PublishedFigure("rewrite-10", _DASGUPTA, None, None, 166_000 / 360, 0.21),
    PublishedFigure("rewrite-10", _RODRIGUES, 31_565, 1_985 / 31_565),
    PublishedFigure("rewrite-30", _DASGUPTA, None, None, 21_000 / 360, 0.16),
    PublishedFigure("tree-naive", _LEI, 14_912 / 200, 6_373 / 14_912, 2_069 / 200, 0.263),
    PublishedFigure("tree-graph", _LEI, 14_912 / 200, 6_373 / 14_912, 1_171 / 200, 0.345),
    PublishedFigure("tree-graph", _RODRIGUES, 6_974, 1_575 / 6_974),
    PublishedFigure("alignment", _RODRIGUES, 786, 577 / 786),
)
"""Of 786 candidates 577 are 73.4 %; the paper prints 85.48 %."""
