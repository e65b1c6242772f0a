"""Which pairs of a cluster's URLs are compared, and the rule that each pair makes, as rows of codes.

The paper compares all of them, which is quadratic in the size of a cluster. Here all ordered pairs are taken
among at most `sample` URLs of a cluster, and clusters are taken in the order of a seeded hash until
`max_pairs` are reached; those ten times as large as the sample come first, for up to half of the pairs, or
the page with most of a site's URLs would be excluded by chance. Sources and targets are the same URLs, for a
wildcard on the right side needs as many different targets as one on the left needs sources.

A wildcard comes from pairs that repeat the same difference: from URLs that are equal except for the value at
one key, a *line*. Of 300,000 URLs in a dozen forms, fifty taken at random are four of each, and four make no
wildcard. So the URLs of a large cluster are taken line by line, the longest line first, from each as many as
a wildcard needs; then, in the order of the hash, any. And a cluster ten times as large as its sample gives
twice as many, one a hundred times as large three times, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from undust._core import pair_rules
from undust.proposing.papers.rewrite.maps import distinct, hashes_of, offsets_of, spans, sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.proposing.papers.rewrite.maps import Bools, Codes, Hashes, Ints, Maps

    Pairs = NDArray[np.int64]


_ENTRIES = 40
"""Keys of both URLs, for one pair and on the average. Ordinary URLs have fewer, but those of a trap may have
thousands, and memory is for entries: a cluster that would take an eighth of it is excluded."""
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


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules as rows: entry `e` of rule `r` has the context and the action at a key.

    A context is a value's code, -1 (the key is absent) or a wildcard. An action is a value's code, -1,
    -2 (the wildcard), or -3 less the key whose value is taken. Each rule is there once.
    """

    offsets: Ints
    keys: Codes
    context: Codes
    action: Codes
    support_offsets: Ints
    support: Ints
    """The numbers of the pairs that support each rule, ascending."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def supports(self) -> Ints:
        """How many pairs each rule has."""
        return np.diff(self.support_offsets)

    def entry_hashes(self) -> Hashes:
        """Return a number for each entry."""
        return hashes_of(self.keys, self.context, self.action)

    def hashes(self) -> Hashes:
        """Return a number for each rule."""
        return sums(self.entry_hashes(), self.offsets)

    def take(self, rules: Ints) -> Rules:
        """Return some of the rules, in the given order."""
        lengths = np.diff(self.offsets)[rules]
        entries = spans(self.offsets[rules], lengths)
        counts = self.supports[rules]
        support = self.support[spans(self.support_offsets[rules], counts)]
        columns = (self.keys[entries], self.context[entries], self.action[entries])
        return Rules(offsets_of(lengths), *columns, offsets_of(counts), support)


def rules_of_pairs(maps: Maps, pairs: SampledPairs) -> Rules:
    """Return GenerateRule (Algorithm 2) of each pair, equal ones pooled (Algorithm 4).

    Where several keys of the source have the wanted value, the same key comes first, then the key
    order; a reference that other pairs contradict is in another rule than they are, and stays behind
    with its few pairs (A20).
    """
    columns = pair_rules(maps.offsets, maps.keys, maps.values, maps.linked, pairs.left, pairs.right)
    offsets, keys, context, action = (pa.array(column).to_numpy() for column in columns)
    number = np.arange(len(pairs.left), dtype=np.int64)
    every = Rules(offsets, keys, context, action, np.arange(len(number) + 1), number)
    return pooled(every, every.hashes())


def pooled(rules: Rules, hashes: Hashes) -> Rules:
    """Return each rule once, with the pairs of all its copies; in the order of the hashes."""
    _, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) == len(rules):
        return rules.take(first)
    once = rules.take(first)
    members = np.repeat(place.reshape(-1), rules.supports)
    offsets, support = united(members, rules.support, len(first))
    return Rules(once.offsets, once.keys, once.context, once.action, offsets, support)


def united(owners: Ints, members: Ints, count: int) -> tuple[Ints, Ints]:
    """Return for each of `count` owners its members, sorted and each once, as offsets and members."""
    span = int(members.max(initial=0)) + 1
    both = distinct(owners.astype(np.int64) * span + members)
    return offsets_of(np.bincount(both // span, minlength=count)), both % span


def is_open_action(context: Codes, action: Codes, is_open: Bools) -> Bools:
    """Whether a wildcard may take the place of each action: what it writes is a value that one covers."""
    writes = is_open[np.maximum(action, 0)]
    copies = ~((context >= 0) & ~is_open[np.maximum(context, 0)])
    return np.where(action >= 0, writes, (action <= FIRST_REFERENCE) & copies)


def is_open_context(context: Codes, is_open: Bools) -> Bools:
    """Whether a wildcard may take the place of each context."""
    return (context >= 0) & is_open[np.maximum(context, 0)]


KEY_ABSENT, STAR, FIRST_REFERENCE = -1, -2, -3


def source_key(action: Any) -> Any:  # noqa: ANN401 -- a number or an array
    """Return the key whose value an action takes."""
    return FIRST_REFERENCE - action
