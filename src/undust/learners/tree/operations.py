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
            common = np.isin(wanted, self.values(source, other), assume_unique=True).sum()
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
        rows, others = self.tree.rows(source), self.tree.rows(target)
        left, right = self.cluster[rows], self.cluster[others]
        own = len(rows) if source == target else 0
        pairs = _meetings(left, right) - own
        if pairs <= 0:
            return 0.0
        width = len(self.tree.columns.value_texts) + 1
        columns = self.tree.columns
        left = left * width + columns.column(source_key)[rows] + 1
        right = right * width + columns.column(key)[others] + 1
        return 1 - (_meetings(left, right) - own) / pairs


def _meetings(left: Ints, right: Ints) -> int:
    """Return how many pairs of one from each side are equal."""
    one, counts = np.unique(left, return_counts=True)
    other, more = np.unique(right, return_counts=True)
    _, at, there = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return int((counts[at] * more[there]).sum())


def part_of(name: str) -> str:
    """Return the part of a URL that a key is in: scheme, host, port, path, slash or query."""
    return "query" if name.startswith("?") else name.partition("_")[0]


def can_move(source: str, target: str) -> bool:
    """Whether a value of one key may be written at another."""
    if source == target:
        return True
    parts = {part_of(source), part_of(target)}
    return parts <= {"path", "query"} or parts == {"host"}
