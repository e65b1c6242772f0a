"""What becomes of each key on the way from one node to another (Lei et al., section 5.2.2, algorithm 3).

* **keep**: the target has one value there, and that is written (A12: the target's, not the source's).
* **replace**: the values are those of some key of the source, and are copied from it. A key of the source
  takes part if it holds more than half of the target's values (A13: the "rate of common values" is read
  as the share of the *target's* values, and must exceed the bound); the best is taken, of equal ones the
  key itself and then the first.
* **ignore**: no key of the source has them, or most duplicates disagree there (the "fake" replace: in
  more than half of the pairs of one page, one URL in the source and another in the target).

Where a URL has no such key, that is no value of its own here. Values travel between path and query, and
from host label to host label; scheme, port and trailing slash can only be what they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from undust.tree import ABSENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.tree import PatternTree

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Counted = tuple[Ints, Ints]
    """Codes in order, and how often each is there."""

Kind = Literal["keep", "replace", "ignore"]

_CACHED_VALUES = 20_000_000


@dataclass(frozen=True)
class Operation:
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

    @property
    def replaced(self) -> tuple[Operation, ...]:
        """The operations that carry a value over."""
        return tuple(each for each in self.operations if each.kind == "replace")

    @property
    def ignored(self) -> tuple[Operation, ...]:
        """The operations at keys that do not matter."""
        return tuple(each for each in self.operations if each.kind == "ignore")


class Mapper:
    """Finds the operations between nodes of one tree."""

    def __init__(
        self, tree: PatternTree, cluster: Ints, min_common: float = 0.5, max_disagreement: float = 0.5
    ) -> None:
        self.tree = tree
        self.cluster = cluster
        self.min_common = min_common
        self.max_disagreement = max_disagreement
        self._values: dict[tuple[int, int], Codes] = {}
        self._cached = 0
        self._counts: dict[tuple[int, int | None], Counted] = {}
        self._cached_counts = 0

    def mapping(self, source: int, target: int) -> Mapping:
        """Return what becomes of each key of the target, in key order."""
        pattern = self.tree.nodes[target].pattern
        operations = []
        for key in sorted(pattern):
            if pattern[key] >= 0:
                operations.append(Operation(key, "keep", value=pattern[key]))
                continue
            like = self._source_key(source, target, key)
            is_fake = like < 0 or self._disagreement(source, target, like, key) > self.max_disagreement
            operations.append(Operation(key, "ignore" if is_fake else "replace", source=like))
        return Mapping(source, target, tuple(operations))

    def _source_key(self, source: int, target: int, key: int) -> int:
        """Return the key of the source that has most of the target's values at a key; -1 for none."""
        wanted = self.values(target, key)
        if source == target:
            return key
        best, best_key = self.min_common, -1
        pattern = self.tree.nodes[source].pattern
        names = self.tree.columns.key_names
        for other in sorted(pattern, key=lambda each: (each != key, each)):
            if pattern[other] >= 0 or not can_move(names[other], names[key]):
                continue
            there = self.values(source, other)
            if len(there) <= best * len(wanted):
                continue
            common = _common(wanted, there)
            if common > best * len(wanted):
                best, best_key = common / len(wanted), other
        return best_key

    def values(self, node: int, key: int) -> Codes:
        """Return the distinct values of a node at a key, absence left aside."""
        if (node, key) not in self._values:
            if self._cached > _CACHED_VALUES:
                self._values.clear()
                self._cached = 0
            found = np.unique(self.tree.columns.column(key)[self.tree.rows(node)])
            self._values[node, key] = found[found != ABSENT]
            self._cached += len(found)
        return self._values[node, key]

    def _disagreement(self, source: int, target: int, source_key: int, key: int) -> float:
        """Return the share of pairs of one page, from one node to the other, that differ in the value."""
        own = self.tree.nodes[source].count if source == target else 0
        pairs = _meetings(self._counted(source, None), self._counted(target, None)) - own
        if pairs <= 0:
            return 0.0
        equal = _meetings(self._counted(source, source_key), self._counted(target, key)) - own
        return 1 - equal / pairs

    def _counted(self, node: int, key: int | None) -> Counted:
        """Return how many URLs of a node each page has, with each value of a key if one is given."""
        if (node, key) not in self._counts:
            if self._cached_counts > _CACHED_VALUES:
                self._counts.clear()
                self._cached_counts = 0
            rows = self.tree.rows(node)
            code = self.cluster[rows]
            if key is not None:
                code = (
                    code * (len(self.tree.columns.value_texts) + 1) + self.tree.columns.column(key)[rows] + 1
                )
            self._counts[node, key] = np.unique(code, return_counts=True)
            self._cached_counts += len(self._counts[node, key][0])
        return self._counts[node, key]


def _meetings(left: Counted, right: Counted) -> int:
    """Return how many pairs of one from each side are equal."""
    if len(left[0]) > len(right[0]):
        left, right = right, left
    place = np.searchsorted(right[0], left[0])
    place[place == len(right[0])] = 0
    is_there = right[0][place] == left[0]
    return int((left[1][is_there] * right[1][place[is_there]]).sum())


def _common(one: Codes, other: Codes) -> int:
    """Return how many values two sorted columns of distinct values share."""
    if len(one) > len(other):
        one, other = other, one
    if not len(one) or one[-1] < other[0] or other[-1] < one[0]:
        return 0
    place = np.searchsorted(other, one)
    place[place == len(other)] = 0
    return int((other[place] == one).sum())


def part_of(name: str) -> str:
    """Return the part of a URL that a key is in: scheme, host, port, path, slash or query."""
    return "query" if name.startswith("?") else name.partition("_")[0]


def can_move(source: str, target: str) -> bool:
    """Whether a value of one key may be written at another."""
    if source == target:
        return True
    parts = {part_of(source), part_of(target)}
    return parts <= {"path", "query"} or parts == {"host"}
