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
TITLE = 0.9
"""So much of the titles must agree: two tags with the same posts, or the forms of a page and of its only
section, differ in nothing else."""
OWN_NUMBERS = 0.85
"""So much of what is shared must be equal with its digits, as far as it is not the template's."""
EQUAL = 0.999
CHANGING = 0.3
"""All numbers must be equal, unless they differ in such a share of the pairs that are equal otherwise; each
page weighs the same there, however many copies it has."""
TWINS = 0.5
"""Share of the pages of a shape of URLs that must have a copy. Where fewer have one, the values in these URLs
name pages, and two pages of that shape are one only if all their words and numbers are equal."""
ANCHORS = 8
"""Blocks by which a page is known."""
_TOGETHER = 48
"""At most this many pages with a common block are compared with each other; of more, only neighbours."""


def near_stars(evidence: SiteEvidence, rows: Ints, weight: Ints) -> tuple[Ints, Ints]:
    """Return hub and member for rows whose pages are most likely one.

    Args:
        evidence: Of the site.
        rows: Which rows to compare.
        weight: Of each row of the site: how many copies it stands for.

    """
    nothing = np.zeros(0, np.int64)
    found = [(nothing, nothing, *(np.zeros(0, np.bool_) for _ in range(2)))]
    for left, right in _candidates(*evidence.anchors(rows, ANCHORS)):
        features = evidence.features(left, right)
        words, whole, exact, numbers, _, title, _ = features.T
        is_same = (evidence.contents(left, right) >= SAME) & (whole >= WHOLE) & (title >= TITLE)
        is_same &= exact >= OWN_NUMBERS * words
        some = left[is_same], right[is_same], numbers[is_same] >= EQUAL, words[is_same] >= EQUAL
        found.append(some)
    left, right, is_equal, has_equal_words = _each_once(
        *(np.concatenate(each) for each in zip(*found, strict=True))
    )
    # Where copies differ in numbers time and again, numbers are counters and clocks.
    if _share_equal(left, right, is_equal) > 1 - CHANGING:
        left, right = left[is_equal], right[is_equal]
        is_equal, has_equal_words = is_equal[is_equal], has_equal_words[is_equal]
    shape = evidence.facts.shapes().shape
    kept = (is_equal & has_equal_words) | _have_twins(shape, rows, weight[rows] > 1, (left, right))
    return around_hubs(left[kept], right[kept], weight)


def _have_twins(shape: Ints, rows: Ints, has_copies: Bools, pairs: tuple[Ints, Ints]) -> Bools:
    """Return of each pair whether it is of two shapes, or of one in which most rows have a copy.

    >>> shape = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    >>> pairs = np.array([0, 5, 6, 0]), np.array([1, 6, 7, 5])
    >>> _have_twins(shape, np.arange(8), np.zeros(8, np.bool_), pairs).tolist()
    [False, True, True, True]
    """
    left, right = pairs
    is_one = shape[left] == shape[right]
    paired = np.unique(np.concatenate((left[is_one], right[is_one], rows[has_copies])))
    size = int(shape.max(initial=0)) + 1
    all_rows, with_twin = (np.bincount(shape[some], minlength=size) for some in (rows, paired))
    return np.asarray(~is_one | (with_twin >= TWINS * all_rows)[shape[left]], np.bool_)


def _share_equal(left: Ints, right: Ints, is_equal: Bools) -> float:
    """Return the share of the pairs whose numbers are equal, if the pairs of each row weigh one together.

    >>> few, many = [(0, 1), (2, 3)], [(at, other) for at in range(4, 9) for other in range(at + 1, 9)]
    >>> left, right = np.array(few + many).T
    >>> round(_share_equal(left, right, np.array([False] * 2 + [True] * 10)), 2)
    0.56
    """
    if not len(left):
        return 1.0
    pairs = np.bincount(np.concatenate((left, right)))
    weight = 1 / pairs[left] + 1 / pairs[right]
    return float(weight @ is_equal / weight.sum())


def _each_once(left: Ints, right: Ints, *flags: Bools) -> tuple[Ints, Ints, Bools, Bools]:
    """Return pairs without repetitions."""
    size = int(max(left.max(initial=0), right.max(initial=0))) + 1
    first = np.unique(left * size + right, return_index=True)[1]
    is_equal, has_equal_words = (flag[first] for flag in flags)
    return left[first], right[first], is_equal, has_equal_words


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
