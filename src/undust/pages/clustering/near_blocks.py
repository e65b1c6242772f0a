"""Pages that are made of nearly the same blocks, gathered around hubs, without comparing all with all.

Each page is known by a few of its blocks, those with the smallest numbers among the blocks that are its own.
Pages of one text share some of them with near certainty. Pages with such a block in common are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undust.pages.clustering.near_copies import around_hubs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.pages import SiteEvidence

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

SAME = 3.0
"""Ratio from which two pages are joined: one wrong pair in twenty, if both cases were as frequent."""
WHOLE = 0.97
"""So much of the shorter page must be in the longer one; a revision of a page has less."""
TITLE = 0.5
"""So much of the titles must agree: two tags with the same posts differ in nothing else."""
OWN_NUMBERS = 0.85
"""So much of what is shared must be equal with its digits, as far as it is not the template's."""
EQUAL = 0.999
CHANGING = 0.3
"""All numbers must be equal, unless they differ in such a share of the pairs that are equal otherwise."""
ANCHORS = 8
"""Blocks by which a page is known."""
_TOGETHER = 48
"""So many pages with a block in common are compared with each other; of more, each with its neighbours."""


def near_stars(evidence: SiteEvidence, rows: Ints, weight: Ints) -> tuple[Ints, Ints]:
    """Return hub and member for rows whose pages are most likely one.

    Args:
        evidence: Of the site.
        rows: Which rows to compare.
        weight: Of each row of the site: how many copies it stands for.

    """
    nothing = np.zeros(0, np.int64)
    found = [(nothing, nothing, np.zeros(0, np.bool_))]
    for left, right in _candidates(*evidence.anchors(rows, ANCHORS)):
        features = evidence.features(left, right)
        words, whole, exact, numbers, _, title, _ = features.T
        is_same = (evidence.contents(left, right) >= SAME) & (whole >= WHOLE) & (title >= TITLE)
        is_same &= exact >= OWN_NUMBERS * words
        found.append((left[is_same], right[is_same], numbers[is_same] >= EQUAL))
    left, right, is_equal = _each_once(*(np.concatenate(each) for each in zip(*found, strict=True)))
    # Where copies differ in numbers time and again, numbers are counters and clocks.
    if np.mean(is_equal) > 1 - CHANGING if len(is_equal) else True:
        left, right = left[is_equal], right[is_equal]
    return around_hubs(left, right, weight)


def _each_once(left: Ints, right: Ints, is_equal: Bools) -> tuple[Ints, Ints, Bools]:
    """Return pairs without repetitions."""
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    first = np.unique(left * size + right, return_index=True)[1]
    return left[first], right[first], is_equal[first]


def _candidates(block: Ints, row: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of rows with a block in common, by their distance in the order of rows."""
    order = np.lexsort((row, block))
    block, row = block[order], row[order]
    for distance in range(1, _TOGETHER):
        is_equal = block[distance:] == block[:-distance]
        if not is_equal.any():
            return
        is_pair = is_equal & (row[distance:] != row[:-distance])
        yield row[:-distance][is_pair], row[distance:][is_pair]
