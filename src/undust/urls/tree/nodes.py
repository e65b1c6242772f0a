"""A pattern tree: its nodes, which URLs each holds, and what all URLs of a node have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.urls.tree.columns import UrlColumns

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Bools = NDArray[np.bool_]

ANYTHING, PERHAPS = -2, -3
"""In a pattern: several values; several values or none. A value itself is a code from 0 on."""


@dataclass(eq=False)
class TreeNode:
    """URLs of one form."""

    parent: int | None
    depth: int
    count: int
    pattern: dict[int, int] = field(default_factory=dict)
    """What each key holds: a code, `ANYTHING` or `PERHAPS`; a key that is not here is absent."""
    split: int | None = None
    """The key at which its children differ."""
    children: list[int] = field(default_factory=list)
    done: tuple[int, ...] = ()
    """The keys at which its ancestors were split."""


@dataclass(frozen=True, eq=False)
class PatternTree:
    """The nodes of a tree, the root first and children behind their parents."""

    columns: UrlColumns
    nodes: tuple[TreeNode, ...]
    leaf: Codes
    """The leaf of each row; -1 for rows that were not chosen."""

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def height(self) -> int:
        """Nodes on the longest way from the root to a leaf."""
        return max((node.depth for node in self.nodes), default=-1) + 1

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The numbers of the nodes, each before its children and those together."""
        found: list[int] = []
        waiting = [0] if self.nodes else []
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += reversed(self.nodes[node].children)
        return tuple(found)

    @cached_property
    def _rows(self) -> tuple[Ints, Ints, Ints]:
        """All rows, leaf by leaf in `order`, and where those of each node begin and end."""
        rank = np.empty(len(self.nodes), np.int64)
        rank[list(self.order)] = np.arange(len(self.nodes))
        rows = np.flatnonzero(self.leaf >= 0)
        rows = rows[np.argsort(rank[self.leaf[rows]], kind="stable")]
        below = np.ones(len(self.nodes), np.int64)
        for node in range(len(self.nodes) - 1, 0, -1):
            parent = self.nodes[node].parent
            below[0 if parent is None else parent] += below[node]
        ranks = rank[self.leaf[rows]]
        return rows, np.searchsorted(ranks, rank), np.searchsorted(ranks, rank + below)

    def rows(self, node: int) -> Ints:
        """Return the rows of a node."""
        rows, starts, ends = self._rows
        return rows[starts[node] : ends[node]]

    def ancestors(self, node: int) -> Iterator[int]:
        """Yield the parent of a node, its parent, and so on to the root."""
        parent = self.nodes[node].parent
        while parent is not None:
            yield parent
            parent = self.nodes[parent].parent
