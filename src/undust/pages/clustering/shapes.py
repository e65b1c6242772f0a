"""URLs taken apart into what stays and what changes.

A URL's *skeleton* is its host, the number of its segments and the names of its parameters, with the
values masked. Two URLs that differ in exactly one value share one *context*. If such pairs
usually show different content, that value matters: no single page should hold many values of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from undust.urls import KeyValueView

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Hashes = NDArray[np.uint64]

_MASK = np.array([0xFFFFFFFF], np.uint64)
TABLES_HELD = 16
VARIABLE = r"^(?:path_|\?)"


@dataclass(frozen=True, eq=False)
class Shapes:
    """The URLs of a site; an entry is one path segment or one parameter of one URL, in the order of URLs."""

    skeleton: Ints
    """Of each URL."""
    row: Ints
    """The URL of each entry."""
    key: Ints
    value: Ints
    context: Ints
    """Equal for entries of one key whose URLs differ, if at all, in this entry's value only."""
    scope: Ints
    """The skeleton and the key of each entry, as one number."""
    key_names: pa.Array
    is_named: Bools
    """Of each key: a parameter, whose name means the same everywhere, and no path segment."""

    @classmethod
    def of(cls, urls: pa.Array) -> Shapes:
        """Take the URLs apart."""
        view = KeyValueView.of(urls, "&;")
        offsets = np.asarray(view.offsets, np.int64)
        codes = np.asarray(view.keys, np.int64)
        key, value = codes.astype(np.uint64), np.asarray(view.values, np.uint64)
        row = np.repeat(np.arange(len(urls)), np.diff(offsets))
        varies = np.asarray(pc.match_substring_regex(view.key_names, VARIABLE), np.bool_)[codes]
        whole = mixed(key, value)
        skeleton = sums(np.where(varies, mixed(key, _MASK), whole), offsets)
        values = sums(np.where(varies, whole, np.uint64(0)), offsets)
        return cls(
            skeleton=_numbered(skeleton),
            row=row[varies],
            key=codes[varies],
            value=value[varies].astype(np.int64),
            context=_numbered(mixed((skeleton + values)[row] - whole, key)[varies]),
            scope=_numbered(mixed(skeleton[row], key)[varies]),
            key_names=view.key_names,
            is_named=np.asarray(pc.starts_with(view.key_names, "?"), np.bool_),
        )

    @cached_property
    def context_count(self) -> int:
        """How many contexts there are."""
        return int(self.context.max(initial=-1)) + 1

    @cached_property
    def skeleton_count(self) -> int:
        """How many skeletons there are."""
        return int(self.skeleton.max(initial=-1)) + 1

    @cached_property
    def key_of_scope(self) -> Ints:
        """The key of each scope."""
        return _spread(self.scope, self.key)

    @cached_property
    def skeleton_of_scope(self) -> Ints:
        """The skeleton of each scope."""
        return _spread(self.scope, self.skeleton[self.row])

    @cached_property
    def key_of_context(self) -> Ints:
        """The key of each context."""
        return _spread(self.context, self.key)

    @cached_property
    def scope_of_context(self) -> Ints:
        """The scope of each context."""
        return _spread(self.context, self.scope)

    @cached_property
    def values_of_scope(self) -> Ints:
        """How many values each scope has."""
        order = np.lexsort((self.value, self.scope))
        scope, value = self.scope[order], self.value[order]
        is_new = np.ones(len(scope), np.bool_)
        is_new[1:] = (np.diff(scope) != 0) | (np.diff(value) != 0)
        return np.bincount(scope[is_new], minlength=1)

    @cached_property
    def _by_skeleton(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.skeleton, kind="stable")
        return order, np.searchsorted(self.skeleton[order], np.arange(self.skeleton_count + 1))

    @cached_property
    def _first_entry(self) -> Ints:
        return np.searchsorted(self.row, np.arange(len(self.skeleton) + 1))

    @cached_property
    def is_root(self) -> Bools:
        """Of each URL: nothing but a host."""
        return np.asarray(np.diff(self._first_entry) == 0, np.bool_)

    def urls_of(self, skeleton: int) -> Ints:
        """Return the URLs of a skeleton."""
        order, starts = self._by_skeleton
        return order[starts[skeleton] : starts[skeleton + 1]]

    def entries_of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the keys of URLs of one skeleton, and the entry of each key (column) for each URL (row)."""
        first = self._first_entry
        width = int(first[rows[0] + 1] - first[rows[0]])
        entries = first[rows][:, None] + np.arange(width)
        entries = np.take_along_axis(entries, np.argsort(self.key[entries], axis=1, kind="stable"), axis=1)
        return self.key[entries[0]], entries

    def table(self, skeleton: int) -> tuple[Ints, Ints]:
        """Return the same for all URLs of a skeleton; the last few tables are kept."""
        if skeleton not in self._tables:
            if len(self._tables) >= TABLES_HELD:
                self._tables.clear()
            self._tables[skeleton] = self.entries_of(self.urls_of(skeleton))
        return self._tables[skeleton]

    @cached_property
    def _tables(self) -> dict[int, tuple[Ints, Ints]]:
        return {}

    def name(self, key: int) -> str:
        """Return the name of a key as `KeyValueView` has it."""
        return str(self.key_names[key].as_py())


def mixed(first: Hashes, second: Hashes) -> Hashes:
    """Return a hash of two numbers."""
    hashed = (second ^ (second >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    hashed = first * np.uint64(0x9E3779B97F4A7C15) + hashed
    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(0x94D049BB133111EB)
    hashed ^= hashed >> np.uint64(32)
    return hashed


def sums(hashes: Hashes, offsets: Ints) -> Hashes:
    """Return the sum of each row's hashes; a sum does not know the order of parameters."""
    total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(hashes, dtype=np.uint64)))
    return np.asarray(total[offsets[1:]] - total[offsets[:-1]])


def _numbered(hashes: Hashes) -> Ints:
    return np.unique(hashes, return_inverse=True)[1].astype(np.int64)


def _spread(numbers: Ints, values: Ints) -> Ints:
    spread = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    spread[numbers] = values
    return spread
