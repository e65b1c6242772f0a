"""A pattern tree: its nodes, which URLs each holds, and what all URLs of a node have in common.

The URLs of the site are integer columns, which the tree splits and on which its rules are proved. A URL is a
map from keys (`scheme`, `host_0`, `path_0`, `slash`, `?id`) to values, as in section 2 of Lei et al., *A
Pattern Tree-based Approach to Learning URL Normalization Rules*, WWW 2010. Values are codes in one vocabulary
for all keys, so that a value can be followed from one key to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.urls import KeyValueView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Bools = NDArray[np.bool_]


ABSENT = -1
"""The value of a key that a URL does not have."""
NO_EQUALS_TEXT, _EMPTY = 0, ""
CACHED_COLUMNS = 48

_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class UrlColumns:
    """The URLs that have keys at all, row by row; `rows` has their numbers among the given URLs."""

    rows: Ints
    offsets: Ints
    """Row `i` has the entries from `offsets[i]` to `offsets[i + 1]`, in URL order."""
    keys: Codes
    values: Codes
    key_names: tuple[str, ...]
    """In natural order: scheme, host, port, path, slash, then the parameters by name."""
    value_texts: pa.Array
    """Text of each code; null for a parameter without `=`."""
    _columns: dict[int, Codes] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, urls: Any, rows: Ints | None = None) -> UrlColumns:  # noqa: ANN401 -- any Arrow array
        """Return the columns of some rows of URLs in normal form; those with a user name are excluded."""
        chosen = np.arange(len(urls)) if rows is None else rows
        view = KeyValueView.of(urls if rows is None else urls.take(pa.array(rows)))
        names = tuple(_text(name) for name in view.key_names.to_pylist())
        offsets = view.offsets.to_numpy()
        keys = view.keys.to_numpy().view(np.int32)
        values = view.values.to_numpy().view(np.int32)
        lengths = np.diff(offsets)
        is_usual = lengths > 0
        if "userinfo" in names:
            with_name = np.repeat(np.arange(len(lengths)), lengths)[keys == names.index("userinfo")]
            is_usual[with_name] = False
        if not is_usual.all():
            kept = np.repeat(is_usual, lengths)
            keys, values, lengths = keys[kept], values[kept], lengths[is_usual]
            offsets = np.concatenate([[0], np.cumsum(lengths)])
        return cls(chosen[is_usual], offsets, keys, values, names, view.value_texts)

    def ordered(self, order: Ints) -> UrlColumns:
        """Return the same URLs in another order, with the same codes."""
        lengths = self.lengths[order]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(len(self.keys)) + np.repeat(self.offsets[:-1][order] - offsets[:-1], lengths)
        return replace(
            self,
            rows=self.rows[order],
            offsets=offsets,
            keys=self.keys[entries],
            values=self.values[entries],
            _columns={},
        )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> Ints:
        """How many entries each row has."""
        return np.diff(self.offsets)

    @cached_property
    def entry_rows(self) -> Codes:
        """The row of each entry."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)

    def column(self, key: int) -> Codes:
        """Return the value of every row at one key, or `ABSENT`."""
        if key not in self._columns:
            if len(self._columns) >= CACHED_COLUMNS:
                del self._columns[next(iter(self._columns))]
            start, end = np.searchsorted(self._keys_in_order[1], [key, key + 1])
            entries = self._keys_in_order[0][start:end]
            values = np.full(len(self), ABSENT, np.int32)
            values[self.entry_rows[entries]] = self.values[entries]
            self._columns[key] = values
        return self._columns[key]

    @cached_property
    def _keys_in_order(self) -> tuple[Codes, Codes]:
        order = np.argsort(self.keys, kind="stable").astype(np.int32)
        return order, self.keys[order]

    @cached_property
    def layout(self) -> Codes:
        """The number of each row's layout: which keys it has, and in which order."""
        return self._layouts[0]

    @cached_property
    def layouts(self) -> tuple[tuple[int, ...], ...]:
        """The keys of each layout, in URL order."""
        return self._layouts[1]

    @cached_property
    def _layouts(self) -> tuple[Codes, tuple[tuple[int, ...], ...]]:
        place = np.arange(len(self.keys)) - np.repeat(self.offsets[:-1], self.lengths)
        mixed = (self.keys.astype(np.uint64) + np.uint64(1)) * (
            _MIX * (np.uint64(2) * place.astype(np.uint64) + np.uint64(1))
        )
        mixed ^= mixed >> np.uint64(31)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        sums = np.add.reduceat(mixed, self.offsets[:-1]) if len(self) else np.zeros(0, np.uint64)
        _, first, number = np.unique(sums, return_index=True, return_inverse=True)
        found = [tuple(self.keys[self.offsets[row] : self.offsets[row + 1]].tolist()) for row in first]
        # Numbered by their keys and not by a hash, so that nothing depends on how it mixes.
        ranks = np.argsort(sorted(range(len(found)), key=found.__getitem__))
        return ranks[number.reshape(-1)].astype(np.int32), tuple(sorted(found))

    @cached_property
    def is_run(self) -> Bools:
        """Which values a capture can take: they are not empty and have no `&` and no `;`."""
        lengths = pc.fill_null(pc.binary_length(self.value_texts), 0).to_numpy(zero_copy_only=False)
        return np.asarray((lengths > 0) & ~self.has_semicolon & ~self._with("&"))

    @cached_property
    def has_semicolon(self) -> Bools:
        """Which values hold a `;`; what follows it is not known."""
        return self._with(";")

    def _with(self, mark: str) -> Bools:
        found = pc.match_substring(self.value_texts, mark)
        return np.asarray(pc.fill_null(found, fill_value=False).to_numpy(zero_copy_only=False))

    def text(self, value: int) -> str:
        """Return a value as text; `ABSENT` and a missing `=` have none."""
        return "" if value == ABSENT else _text(self.value_texts[value].as_py() or "")


def _text(value: str | bytes) -> str:
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


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
    """The nodes of a tree, the root first and children after their parents."""

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
