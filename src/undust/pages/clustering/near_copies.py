"""Pages whose sketches or blocks nearly agree, gathered around hubs, without comparing all with all.

Two sketches of k minima that agree in at least s of them differ in at most k - s places. Cut into k - s + 1
bands, at least one band is the same in both: no pair is missed by chance. Sketches with an equal band are
compared in full. Where very many share a band, each is compared with a few representatives instead of with
all others.

Near copies are not an equivalence: a copy of a copy of a copy may be another page. On real sites, joining
whatever agrees with anything in a cluster joined thousands of pages that no person would call alike. So every
member must agree with the one hub of its cluster: then any two of 32 minima agree in 30.

By blocks, each page is known by a few of its blocks, those with the smallest numbers among the blocks that
are its own. Pages of one text share some of them with near certainty. Pages with such a block in common are
compared.

How pages differ from themselves, and how two pages differ, is shown by samples of pairs. Every kind of
witness that two sightings are one page is a sample of pairs. There is also a sample of pairs of different
pages, so that a reader sees whether the two can be distinguished on this site.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from undust.pages.facts import equal_pairs, other_pairs
from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.pages import SiteEvidence

    Ints = NDArray[np.int64]
    Sketches = NDArray[np.uint32]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Pairs = tuple[Ints, Ints]


SAME_SHARE = 31 / 32
"""Share of minima that must agree for one page."""
ALIKE = 29 / 32
"""Below this share two pages are known to differ; between the two it is undecided."""
_ALL_PAIRS = 64
"""A band shared by more sketches than this is searched through representatives."""
REPRESENTATIVES = 32
"""How many of them at most, for one band."""
COMPARED_AT_ONCE = 1 << 16


def needed(size: int, share: float = SAME_SHARE) -> int:
    """Return how many of `size` minima must agree.

    >>> needed(32), needed(4)
    (31, 4)
    """
    return math.ceil(share * size)


def agreement(sketches: Sketches, left: Ints, right: Ints) -> Ints:
    """Return in how many minima each pair of rows agrees."""
    counts = np.empty(len(left), np.int64)
    for start in range(0, len(left), COMPARED_AT_ONCE):
        part = slice(start, start + COMPARED_AT_ONCE)
        counts[part] = (sketches[left[part]] == sketches[right[part]]).sum(axis=1)
    return counts


def near_stars(sketches: Sketches, share: float = SAME_SHARE) -> tuple[Ints, Ints]:
    """Return hub and member for each row that agrees with a hub; equal sketches come first of all."""
    nothing = np.zeros(0, np.int64)
    size = sketches.shape[1] if len(sketches) else 0
    if not size:
        return nothing, nothing
    least = needed(size, share)
    first, copies = _equal(sketches)
    rows = np.setdiff1d(np.arange(len(sketches)), copies, assume_unique=True)
    found = [(nothing, nothing)]
    for band in np.array_split(np.arange(size), size - least + 1):
        found += _pairs_of_band(sketches, rows, band, least)
    lefts, rights = zip(*found, strict=True)
    weight = np.bincount(first, minlength=len(sketches))
    hub, member = around_hubs(np.concatenate(lefts), np.concatenate(rights), weight)
    return np.concatenate((first, hub)), np.concatenate((copies, member))


def around_hubs(left: Ints, right: Ints, weight: Ints) -> tuple[Ints, Ints]:
    """Choose hubs among the ends of pairs, those with most copies first, and give each other end to one."""
    # The rank of a row: hubs are chosen in this order, and a row goes to the first hub it is paired with.
    order = np.lexsort((np.arange(len(weight)), -weight))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first, second = np.minimum(rank[left], rank[right]), np.maximum(rank[left], rank[right])
    hubs, members = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    while len(first):
        # A URL that is second in no remaining pair is a hub now; the URLs that it takes are done.
        is_second = np.zeros(len(rank), np.bool_)
        is_second[second] = True
        taken = np.full(len(rank), len(rank), np.int64)
        by_hub = ~is_second[first]
        np.minimum.at(taken, second[by_hub], first[by_hub])
        members.append(np.flatnonzero(taken < len(rank)))
        hubs.append(taken[members[-1]])
        stays = (taken[first] == len(rank)) & (taken[second] == len(rank))
        first, second = first[stays], second[stays]
    return order[np.concatenate(hubs)], order[np.concatenate(members)]


def _equal(sketches: Sketches) -> tuple[Ints, Ints]:
    rows, starts = _buckets(sketches, np.arange(len(sketches)), np.arange(sketches.shape[1]))
    first = rows[np.repeat(starts[:-1], np.diff(starts))]
    is_copy = (first != rows) & (agreement(sketches, first, rows) == sketches.shape[1])
    return first[is_copy], rows[is_copy]


def _buckets(sketches: Sketches, rows: Ints, band: Ints) -> tuple[Ints, Ints]:
    """Return the rows ordered so that those with an equal band are together, and where each starts."""
    key = np.zeros(len(rows), np.uint64)
    for column in band.tolist():
        key = (key ^ sketches[rows, column]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    order = np.lexsort((rows, key))
    key = key[order]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    return rows[order], np.append(starts, len(rows))


def _pairs_of_band(sketches: Sketches, rows: Ints, band: Ints, least: int) -> Iterator[tuple[Ints, Ints]]:
    ordered, starts = _buckets(sketches, rows, band)
    sizes = np.diff(starts)
    is_small = np.repeat(sizes <= _ALL_PAIRS, sizes)
    end = np.repeat(starts[1:], sizes)
    place = np.flatnonzero(is_small & (np.repeat(sizes, sizes) > 1))
    for distance in range(1, _ALL_PAIRS):
        place = place[place + distance < end[place]]
        if not len(place):
            break
        yield _verified(sketches, ordered[place], ordered[place + distance], least)
    for bucket in np.flatnonzero(sizes > _ALL_PAIRS).tolist():
        yield from _through_representatives(sketches, ordered[starts[bucket] : starts[bucket + 1]], least)


def _through_representatives(sketches: Sketches, rows: Ints, least: int) -> Iterator[tuple[Ints, Ints]]:
    for _ in range(REPRESENTATIVES):
        if len(rows) <= 1:
            return
        others = rows[1:]
        agrees = agreement(sketches, np.broadcast_to(rows[:1], others.shape), others) >= least
        yield np.broadcast_to(rows[:1], int(agrees.sum())), others[agrees]
        rows = others[~agrees]


def _verified(sketches: Sketches, left: Ints, right: Ints, least: int) -> tuple[Ints, Ints]:
    agrees = agreement(sketches, left, right) >= least
    return left[agrees], right[agrees]


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


def near_block_stars(evidence: SiteEvidence, rows: Ints, weight: Ints) -> tuple[Ints, Ints]:
    """Return hub and member for rows whose pages are most likely one.

    Args:
        evidence: Of the site.
        rows: Which rows to compare.
        weight: Of each row of the site: how many copies it represents.

    """
    nothing = np.zeros(0, np.int64)
    found = [(nothing, nothing, *(np.zeros(0, np.bool_) for _ in range(2)))]
    for left, right in candidates(*evidence.anchors(rows, ANCHORS)):
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


def candidates(block: Ints, row: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of rows with a block in common, by their distance in the order of rows."""
    order = np.lexsort((row, block))
    block, row = block[order], row[order]
    for distance in range(1, _TOGETHER):
        is_equal = block[distance:] == block[:-distance]
        if not is_equal.any():
            return
        is_pair = is_equal & (row[distance:] != row[:-distance])
        yield row[:-distance][is_pair], row[distance:][is_pair]


MOST_COMPARED_PAIRS = 1000
"""Pairs of each kind that are compared; of more, some from all over the site."""
NO_DIFFERENCE = 0.999
"""Share from which two pages are equal in a feature."""
FETCHED_TWICE, ONE_HOME, ONE_CLUSTER, TWO_PAGES = "again", "home", "cluster", "different"
"""Pairs of one URL seen twice, of URLs that the site sends to one place, of one cluster, of two pages."""
WORDS_FEATURE, NUMBERS_FEATURE, ORDER_FEATURE, TITLE_FEATURE = 0, 3, 4, 5
"""Features of a pair, see `SiteEvidence.features`."""


@dataclass(frozen=True)
class PairSample:
    """How alike the pairs of one kind are."""

    kind: str
    left: Ints
    right: Ints
    features: Floats

    def __len__(self) -> int:
        return len(self.left)

    @property
    def median_words(self) -> float:
        """The median share of words that both pages have, without those of the template."""
        return float(np.median(self.features[:, WORDS_FEATURE]))

    @property
    def equal(self) -> int:
        """Pairs without any difference."""
        return int((self.features[:, : TITLE_FEATURE + 1] >= NO_DIFFERENCE).all(axis=1).sum())

    def differing(self, feature: int) -> int:
        """Return how many pairs differ in a feature."""
        return int((self.features[:, feature] < NO_DIFFERENCE).sum())


@dataclass(frozen=True)
class BlockChanges:
    """What differs between two sightings, in blocks."""

    shared: int
    """Blocks with the same words and any numbers."""
    numbers: int
    """… of which the numbers differ."""
    only_left: int
    only_right: int


def samples(evidence: SiteEvidence, together: Pairs, cluster: Ints) -> Iterator[PairSample]:
    """Yield a sample of pairs for each kind that the site has.

    Args:
        evidence: Of the site.
        together: Rows that are in one cluster, as pairs.
        cluster: The cluster of each row.

    """
    facts = evidence.facts
    rows = np.flatnonzero(facts.shows)
    again = facts.earlier.row, len(facts) + np.arange(len(facts.earlier.row))
    random, near = other_pairs(facts, rows)
    left, right = (np.concatenate(sides) for sides in zip(random, near, strict=True))
    apart = cluster[left] != cluster[right]
    different = left[apart], right[apart]
    kinds = {
        FETCHED_TWICE: again,
        ONE_HOME: equal_pairs(facts.home, rows),
        ONE_CLUSTER: together,
        TWO_PAGES: different,
    }
    for kind, pairs in kinds.items():
        left, right = _some(*_with_blocks(evidence, *pairs))
        if len(left):
            yield PairSample(kind, left, right, evidence.features(left, right))


def block_changes(evidence: SiteEvidence, left: int, right: int) -> BlockChanges:
    """Return what differs between two rows; rows after the last are earlier sightings."""
    one, other = (_words_and_numbers(evidence, row) for row in (left, right))
    shared = one.keys() & other.keys()
    return BlockChanges(
        len(shared),
        sum(one[key] != other[key] for key in shared),
        len(one.keys() - shared),
        len(other.keys() - shared),
    )


def _words_and_numbers(evidence: SiteEvidence, row: int) -> dict[int, frozenset[int]]:
    facts = evidence.facts
    blocks = facts.blocks[row] if row < len(facts) else facts.earlier.blocks[row - len(facts)]
    found: dict[int, frozenset[int]] = {}
    for block in blocks.as_py() or ():
        numbers = frozenset({block >> DIGITS_SHIFT & DIGITS_MASK})
        found[block >> KEY_SHIFT] = found.get(block >> KEY_SHIFT, frozenset()) | numbers
    return found


def _with_blocks(evidence: SiteEvidence, left: Ints, right: Ints) -> Pairs:
    has_blocks = evidence.composition.last_key >= 0
    both = has_blocks[left] & has_blocks[right]
    return left[both], right[both]


def _some(left: Ints, right: Ints) -> Pairs:
    places = np.linspace(0, len(left) - 1, min(len(left), MOST_COMPARED_PAIRS)).astype(np.int64)
    return left[places], right[places]
