"""Pairs of URLs that are taken for two pages: at random within a shape, and neighbours one value apart.

Pairs at random are too easy, for pages about one subject are more alike. Half of the pairs are neighbours.
Some of them are copies of one page; the calibration tolerates that, for the price of weaker evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages.facts import SiteFacts

    Ints = NDArray[np.int64]
    Pairs = tuple[Ints, Ints]

DRAWN = 1500
"""Pairs of each kind."""


def other_pairs(facts: SiteFacts, rows: Ints) -> tuple[Pairs, Pairs]:
    """Return pairs at random within a shape, and neighbours, of rows that may be compared."""
    generator = np.random.Generator(np.random.PCG64(len(rows)))
    may = np.zeros(len(facts), np.bool_)
    may[rows] = True
    shapes = facts.shapes()
    random = _drawn(shapes.shape[rows], rows, generator)
    entries = np.flatnonzero(may[shapes.context_row])
    near = _drawn(shapes.context[entries], shapes.context_row[entries], generator)
    return _different(facts, random), _different(facts, near)


def _drawn(group: Ints, row: Ints, generator: np.random.Generator) -> Pairs:
    """Draw pairs of rows of one group, each group by its size."""
    order = np.lexsort((row, group))
    group, row = group[order], row[order]
    if not len(group):
        return row, row
    starts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    sizes = np.diff(np.append(starts, len(group)))
    several = np.repeat(sizes > 1, sizes)
    if not several.any():
        return row[:0], row[:0]
    first = np.flatnonzero(several)[generator.integers(0, int(several.sum()), DRAWN)]
    start, size = np.repeat(starts, sizes)[first], np.repeat(sizes, sizes)[first]
    second = start + (first - start + 1 + generator.integers(0, size - 1)) % size
    return row[first], row[second]


def _different(facts: SiteFacts, pairs: Pairs) -> Pairs:
    """Return the pairs of which nothing says that they are one page."""
    left, right = pairs
    digest, home, label = facts.digest, facts.home, facts.label
    is_one = (digest[left] >= 0) & (digest[left] == digest[right])
    is_one |= (home[left] >= 0) & (home[left] == home[right])
    is_one |= (label[left] >= 0) & (label[left] == label[right])
    kept = ~is_one & (left != right)
    return left[kept], right[kept]


def equal_pairs(column: Ints, rows: Ints) -> Pairs:
    """Return pairs of rows with one value of a column: the first of each value with each other one."""
    known = rows[column[rows] >= 0]
    order = known[np.lexsort((known, column[known]))]
    is_first = np.diff(column[order], prepend=-1) != 0
    first = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]] if len(order) else order
    return first[~is_first], order[~is_first]
