"""Which pairs of a cluster's URLs are compared.

The paper compares all of them, which is quadratic in the size of a cluster. Here all ordered pairs are
taken among at most `sample` URLs of a cluster, and clusters are taken in the order of a seeded hash until
`max_pairs` are reached; those ten times as large as the sample come first, for up to half of the pairs, or
the page with most of a site's URLs would be left out by chance. Sources and targets are the same URLs, for a
wildcard on the right side needs as many different targets as one on the left needs sources.

A wildcard comes from pairs that repeat the same difference: from URLs that are equal but for the value at
one key, a *line*. Of 300,000 URLs in a dozen forms, fifty taken at random are four of each, and four make
no wildcard. So the URLs of a large cluster are taken line by line, the longest line first, from each as
many as a wildcard needs; then, in the order of the hash, any. And a cluster ten times as large as its
sample gives twice as many, one a hundred times as large three times, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from undust.proposing.papers.rewrite.maps import hashes_of, offsets_of, spans, sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.proposing.papers.rewrite.maps import Ints, Maps

    Pairs = NDArray[np.int64]

_ENTRIES = 40
"""Keys of both URLs, for one pair and on the average. Ordinary URLs have fewer, but those of a trap may have
thousands, and memory is for entries: a cluster that would take an eighth of it is left out."""
_TENFOLD = 10
_SALT = -8


@dataclass(frozen=True, eq=False)
class SampledPairs:
    """Pairs of rows, and how many more there would have been."""

    left: Pairs
    right: Pairs
    left_out: int


def choose_pairs(maps: Maps, sample: int, max_pairs: int, seed: int, alike: int) -> SampledPairs:
    """Return the ordered pairs of different maps that rules are made of.

    `alike` is how many URLs of one line make a wildcard.
    """
    sizes = np.bincount(maps.clusters)
    rows = np.flatnonzero(sizes[maps.clusters] > 1) if len(maps) else np.arange(0)
    turn_of_row = _turns(maps, rows[sizes[maps.clusters[rows]] > sample], seed, alike)
    rows = rows[np.lexsort((hashes_of(rows, seed, 0), turn_of_row[rows], maps.clusters[rows]))]
    clusters, first, count = np.unique(maps.clusters[rows], return_index=True, return_counts=True)
    taken = np.minimum(count, sample)
    most = sample * _TENFOLD
    while (count >= most).any():
        taken[count >= most] += sample
        most *= _TENFOLD
    number = taken * (taken - 1)
    turn = np.argsort(hashes_of(clusters, seed, 1), kind="stable")
    is_giant = (count >= sample * _TENFOLD)[turn]
    is_ahead = is_giant & (np.cumsum(np.where(is_giant, number[turn], 0)) <= max_pairs // 2)
    turn = np.concatenate((turn[is_ahead], turn[~is_ahead]))
    reach = offsets_of(np.diff(maps.offsets)[rows])
    entries = 2 * (taken - 1) * (reach[first + taken] - reach[first])
    room = max(_ENTRIES * max_pairs, 1 << 23)
    narrow = entries <= room // 8
    fits = np.zeros(len(clusters), np.bool_)
    fits[turn] = np.cumsum(np.where(narrow, number, 0)[turn]) <= max_pairs
    fits[turn] &= np.cumsum(np.where(narrow, entries, 0)[turn]) <= room
    fits &= narrow
    members = spans(first[fits], taken[fits])
    many = np.repeat(taken[fits], taken[fits])
    left = np.repeat(members, many)
    right = spans(np.repeat(first[fits], taken[fits]), many)
    differ = left != right
    left, right = rows[left[differ]], rows[right[differ]]
    all_pairs = int((count.astype(np.int64) * (count - 1)).sum())
    left_out = all_pairs - len(left)
    # Two spellings of one map (parameters in another order) make no rule.
    whole = sums(hashes_of(maps.keys, maps.values, 0), maps.offsets)
    differ = whole[left] != whole[right]
    return SampledPairs(left[differ], right[differ], left_out)


def _turns(maps: Maps, rows: Ints, seed: int, alike: int) -> Ints:
    """Return for each of all maps its place in its cluster: those of the longest line first, others last."""
    turns = np.full(len(maps), np.iinfo(np.int64).max)
    lengths = np.diff(maps.offsets)[rows]
    entries = spans(maps.offsets[rows], lengths)
    if not len(entries):
        return turns
    row = np.repeat(rows, lengths)
    hashes = hashes_of(maps.keys[entries], maps.values[entries], 0)
    residual = np.repeat(sums(hashes, offsets_of(lengths)), lengths) - hashes
    residual += hashes_of(maps.keys[entries], maps.clusters[row], _SALT)
    order = np.lexsort((hashes_of(row, seed, 0), residual))
    line, starts, length = _runs(residual[order])
    place = np.arange(len(order)) - starts[line]
    kept = (length[line] >= alike) & (place < alike)
    order, line, place = order[kept], line[kept], place[kept]
    # Lines by cluster and length; each is used with as many URLs as make a wildcard.
    cluster = maps.clusters[row[order]]
    ranked = np.lexsort((place, residual[order], -length[line], cluster))
    chosen = row[order[ranked]]
    np.minimum.at(turns, chosen, np.arange(len(chosen)))
    return turns


def _runs(values: NDArray[np.uint64]) -> tuple[Ints, Ints, Ints]:
    """Return the run of equal values that each is in, where the runs begin, and how long they are."""
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    length = np.diff(np.append(starts, len(values)))
    return np.repeat(np.arange(len(starts)), length), starts, length
