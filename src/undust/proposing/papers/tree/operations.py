"""Which two nodes hold the same pages, and what becomes of each key on the way from one to the other.

Pairs (Lei et al., algorithm 2): only nodes that share a cluster are compared. A node and one above it share
URLs by their nature, not by duplication, so such pairs are left out.

Operations, one for each key (Lei et al., section 5.2.2, algorithm 3):

* **keep**: the target has one value there, and that is written (A12: the target's, not the source's).
* **replace**: the values are those of some key of the source, and are copied from it. A key of the source
  takes part if it holds more than half of the target's values (A13: the "rate of common values" is read
  as the share of the *target's* values, and must exceed the bound); the best is taken, of equal ones the
  key itself and then the first.
* **ignore**: no key of the source has them, or most duplicates disagree there (the "fake" replace: in
  more than half of the pairs of one page, one URL in the source and another in the target).

A URL without such a key has no value of its own here. Values travel between path and query, and from host
label to host label; scheme, port and trailing slash can only be what they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from undust._core import meetings, shared_codes
from undust.urls.views import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.urls.pattern_tree import PatternTree

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Counted = tuple[Ints, Ints]
    """Codes in order, and how often each is there."""


_PAIRS_AT_ONCE = 1 << 22


def duplicate_nodes(tree: PatternTree, cluster: Ints, min_overlap: float) -> list[tuple[int, int]]:
    """Return ordered pairs of nodes that share enough duplicates, a node and itself included."""
    pairs = overlaps(tree, cluster)
    above = [set(tree.ancestors(node)) for node in range(len(tree))]
    return [
        (one, other)
        for (one, other), overlap in pairs.items()
        if overlap >= min_overlap and one not in above[other] and other not in above[one]
    ]


def overlaps(tree: PatternTree, cluster: Ints) -> dict[tuple[int, int], float]:
    """Return the overlap of all ordered pairs of nodes that meet in some cluster.

    `cluster` is that of each row of the tree's columns. The overlap of two nodes is the share of their
    URLs that are in clusters common to both (equation 6); of a node with itself, its duplicate rate.
    """
    touched = _touched(tree, cluster)
    count = len(tree)
    codes, sums = _common(*touched, count)
    sizes = np.array([node.count for node in tree.nodes], np.int64)
    clusters = np.bincount(touched[1], minlength=count)
    left, right = np.divmod(codes, max(count, 1))
    overlap = sums / (sizes[left] + sizes[right])
    overlap[left == right] = 1 - (clusters / np.maximum(sizes, 1))[left[left == right]]
    return dict(zip(zip(left.tolist(), right.tolist(), strict=True), overlap.tolist(), strict=True))


def _touched(tree: PatternTree, cluster: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each cluster with each node it touches and the number of URLs there, in order."""
    count = max(len(tree), 1)
    rows = np.flatnonzero(tree.leaf >= 0)
    code, urls = np.unique(cluster[rows] * count + tree.leaf[rows], return_counts=True)
    parent = np.array([-1 if node.parent is None else node.parent for node in tree.nodes], np.int64)
    levels = [(code, urls)]
    while len(code):
        above = parent[code % count]
        stays = above >= 0
        code, urls = code[stays] // count * count + above[stays], urls[stays]
        levels.append((code, urls))
    code, sums = _summed([code for code, _ in levels], [urls for _, urls in levels])
    return code // count, code % count, sums


def _common(cluster: Ints, node: Ints, urls: Ints, count: int) -> tuple[Ints, Ints]:
    """Return for each ordered pair of nodes that meet (as a code) the URLs in their common clusters."""
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    lengths = np.diff(np.append(starts, len(cluster)))
    codes, sums = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    waiting = 0
    for length in np.unique(lengths):
        own = starts[lengths == length]
        step = max(1, _PAIRS_AT_ONCE // int(length) ** 2)
        for begin in range(0, len(own), step):
            place = own[begin : begin + step, None] + np.arange(length)
            nodes, weight = _alike(node[place], urls[place])
            codes.append((nodes[:, :, None] * count + nodes[:, None, :]).reshape(-1))
            sums.append((weight[:, :, None] + weight[:, None, :]).reshape(-1))
            waiting += len(codes[-1])
            if waiting > _PAIRS_AT_ONCE:
                codes, sums = ([each] for each in _summed(codes, sums))
                waiting = 0
    return _summed(codes, sums)


def _alike(nodes: Ints, urls: Ints) -> tuple[Ints, Ints]:
    """Return each set of nodes once, with the URLs of all clusters that touch just these."""
    sets, place = np.unique(nodes, axis=0, return_inverse=True)
    sums = np.zeros_like(sets)
    np.add.at(sums, place.reshape(-1), urls)
    return sets, sums


def _summed(codes: list[Ints], sums: list[Ints]) -> tuple[Ints, Ints]:
    """Return each code once, in order, with the sum of what goes with it."""
    code, place = np.unique(np.concatenate(codes), return_inverse=True)
    return code, np.bincount(place.reshape(-1), np.concatenate(sums), len(code)).astype(np.int64)


Kind = Literal["keep", "replace", "ignore"]
Common = Literal["target", "fewer"]
SHARE_BASES: tuple[Common, ...] = get_args(Common)
"""Whose values the common ones of two keys are a share of: the target's, or those of the key with fewer."""

_CACHED_VALUES = 20_000_000


class Operation(NamedTuple):
    """What is written at one key of the target."""

    key: int
    kind: Kind
    value: int = ABSENT
    """The value that is kept."""
    source: int = -1
    """The key of the source whose value is copied; of an ignored key, the one that looked like it."""


@dataclass(frozen=True)
class Mapping:
    """A raw candidate: from one node to another, or a node to its own normal form."""

    source: int
    target: int
    operations: tuple[Operation, ...]

    @cached_property
    def replaced(self) -> tuple[Operation, ...]:
        """The operations that carry a value over."""
        return tuple(each for each in self.operations if each.kind == "replace")

    @cached_property
    def ignored(self) -> tuple[Operation, ...]:
        """The operations at keys that do not matter."""
        return tuple(each for each in self.operations if each.kind == "ignore")


class Mapper:
    """Finds the operations between nodes of one tree."""

    def __init__(
        self,
        tree: PatternTree,
        cluster: Ints,
        min_common: float = 0.5,
        max_disagreement: float = 0.5,
        common: Common = "fewer",
    ) -> None:
        self.tree = tree
        self.cluster = cluster
        self.min_common = min_common
        self.common = common
        self.max_disagreement = max_disagreement
        self.kinds = [kind_of(name) for name in tree.columns.key_names]
        self._values: dict[int, dict[int, Codes]] = {}
        self._cached = 0
        self._counts: dict[tuple[int, int | None], Counted] = {}
        self._cached_counts = 0
        self._without: dict[tuple[int, int], Counted] = {}
        self._cached_without = 0

    def mapping(self, source: int, target: int) -> Mapping:
        """Return what becomes of each key of the target, in key order."""
        pattern = self.tree.nodes[target].pattern
        like = {key: self._source_key(source, target, key) for key in pattern if pattern[key] < 0}
        own = self.tree.nodes[source].count if source == target else 0
        pairs = self._meetings(source, None, target, None) - own if max(like.values(), default=-1) >= 0 else 0

        def disagreement(key: int) -> float:
            """Return the share of pairs of one page, from one node to the other, that differ in the value.

            Pairs in which neither URL has the key show nothing about its value, and do not count.
            """
            equal = self._meetings(source, like[key], target, key) - own
            neither = self._neither(source, like[key], target, key)
            told = pairs - neither
            return 1 - (equal - neither) / told if told > 0 else 0.0

        operations = []
        for key in sorted(pattern):
            if pattern[key] >= 0:
                operations.append(Operation(key, "keep", value=pattern[key]))
                continue
            is_fake = like[key] < 0 or disagreement(key) > self.max_disagreement
            operations.append(Operation(key, "ignore" if is_fake else "replace", source=like[key]))
        return Mapping(source, target, tuple(operations))

    def _source_key(self, source: int, target: int, key: int) -> int:
        """Return the key of the source that has most of the target's values at a key; -1 for none."""
        if source == target:
            return key
        wanted, held = self._open(target)[key], self._open(source)
        best, best_key = self.min_common, -1
        if key in held:
            best, best_key = self._better(wanted, held[key], best, best_key, key)
        for other, there in held.items():
            if other != key and self.kinds[other] == self.kinds[key]:
                best, best_key = self._better(wanted, there, best, best_key, other)
        return best_key

    def _better(self, wanted: Codes, there: Codes, best: float, best_key: int, key: int) -> tuple[float, int]:
        """Return a key and the share of common values, if that is more than the best so far."""
        whole = len(wanted) if self.common == "target" else min(len(wanted), len(there))
        if not whole or len(there) <= best * whole:
            return best, best_key
        common = shared_codes(wanted, there)
        return (common / whole, key) if common > best * whole else (best, best_key)

    def _open(self, node: int) -> dict[int, Codes]:
        """Return the distinct values of a node at each key that has several, absence left aside."""
        if node not in self._values:
            if self._cached > _CACHED_VALUES:
                self._values.clear()
                self._cached = 0
            pattern, rows = self.tree.nodes[node].pattern, self.tree.rows(node)
            found = {key: self._distinct(key, rows) for key in sorted(pattern) if pattern[key] < 0}
            self._values[node] = found
            self._cached += sum(map(len, found.values()))
        return self._values[node]

    def _distinct(self, key: int, rows: Ints) -> Codes:
        found = np.unique(self.tree.columns.column(key)[rows])
        return np.asarray(found[found != ABSENT])

    def _meetings(self, source: int, source_key: int | None, target: int, key: int | None) -> int:
        """Return how many pairs of one page there are, with one value if keys are given."""
        return meetings(*self._counted(source, source_key), *self._counted(target, key))

    def _neither(self, source: int, source_key: int, target: int, key: int) -> int:
        """Return how many pairs of one page there are in which both lack the key, but no URL with itself."""
        lacking = [self._lacking(node, own) for node, own in ((source, source_key), (target, key))]
        if not (len(lacking[0][0]) and len(lacking[1][0])):
            return 0
        itself = int(lacking[0][1].sum()) if source == target else 0
        return meetings(*lacking[0], *lacking[1]) - itself

    def _lacking(self, node: int, key: int) -> Counted:
        """Return how many URLs of a node without a key each page has."""
        if (node, key) not in self._without:
            if self._cached_without > _CACHED_VALUES:
                self._without.clear()
                self._cached_without = 0
            rows = self.tree.rows(node)
            code = np.sort(self.cluster[rows[self.tree.columns.column(key)[rows] == ABSENT]], kind="stable")
            starts = np.flatnonzero(np.diff(code, prepend=-1))
            self._without[node, key] = code[starts], np.diff(starts, append=len(code))
            self._cached_without += len(starts)
        return self._without[node, key]

    def _counted(self, node: int, key: int | None) -> Counted:
        """Return how many URLs of a node each page has, with each value of a key if one is given."""
        if (node, key) not in self._counts:
            if self._cached_counts > _CACHED_VALUES:
                self._counts.clear()
                self._cached_counts = 0
            rows = self.tree.rows(node)
            code = self.cluster[rows]
            if key is not None:
                values = len(self.tree.columns.value_texts) + 1
                code = code * values + self.tree.columns.column(key)[rows] + 1
            code.sort(kind="stable")  # rows come page by page, so there is little to sort
            starts = np.flatnonzero(np.diff(code, prepend=-1))
            self._counts[node, key] = code[starts], np.diff(starts, append=len(code))
            self._cached_counts += len(starts)
        return self._counts[node, key]


def kind_of(name: str) -> str:
    """Return what a key holds; a value may be written at another key of the same kind."""
    part = part_of(name)
    return "text" if part in {"path", "query"} else part


def part_of(name: str) -> str:
    """Return the part of a URL that a key is in: scheme, host, port, path, slash or query."""
    return "query" if name.startswith("?") else name.partition("_")[0]
