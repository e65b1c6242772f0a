"""The pattern tree of Lei et al. (WWW 2010, section 5.1, algorithm 1), grown level by level.

A node holds URLs. It is split at the key whose values have the smallest entropy: its salient values
(`salience.py`) get a child each, all others go to one child together. Where the chosen key has no
salient value, the node is a leaf. Keys with one value cannot split anything and are passed over, so that
there are no chains of single children (A11); a key that is absent counts as one more value; of keys with
equal entropies the first is taken.

The entries of all URLs that are still in play are sorted once, by key and value, and stay so within
their nodes: each level is one pass over them, whatever the number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from undust.urls.tree.nodes import ANYTHING, PERHAPS, PatternTree, TreeNode
from undust.urls.tree.salience import least_count, salient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.urls.tree.columns import UrlColumns
    from undust.urls.tree.salience import Salience

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Bools = NDArray[np.bool_]

_SCALE = float(1 << 30)


@dataclass(eq=False)
class _TreeEntries:
    """Entries in play, sorted by node, key and value."""

    row: Codes
    key: Codes
    value: Codes

    def __getitem__(self, chosen: Bools | Ints) -> _TreeEntries:
        return _TreeEntries(self.row[chosen], self.key[chosen], self.value[chosen])


@dataclass(eq=False)
class _Runs:
    """Equal entries counted: one run is one value of one key in one node."""

    group: Ints
    key: Codes
    value: Codes
    count: Ints

    @classmethod
    def of(cls, entries: _TreeEntries, group: Ints) -> _Runs:
        starts = _starts(group, entries.key, entries.value)
        count = np.diff(np.append(starts, len(group)))
        return cls(group[starts], entries.key[starts], entries.value[starts], count)


def _starts(*columns: NDArray[np.int64] | Codes) -> Ints:
    """Return where one of the columns has a value other than in the row before."""
    length = len(columns[0])
    is_start = np.ones(length, np.bool_)
    if length:
        is_start[1:] = False
    for column in columns:
        is_start[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(is_start)


def grow(columns: UrlColumns, chosen: Bools | None = None, salience: Salience = "node") -> PatternTree:
    """Return the pattern tree of URLs, all or the chosen ones."""
    growing = _Growing(columns, np.ones(len(columns), np.bool_) if chosen is None else chosen, salience)
    while growing.is_alive:
        growing.grow_one_level()
    return PatternTree(columns, tuple(growing.nodes), growing.node_of_row)


class _Growing:
    """A tree on its way: the nodes so far, the open ones among them, and the entries still in play."""

    def __init__(self, columns: UrlColumns, chosen: Bools, salience: Salience) -> None:
        order = np.lexsort((columns.values, columns.keys)).astype(np.int32)
        order = order[chosen[columns.entry_rows[order]]]
        self.entries = _TreeEntries(columns.entry_rows[order], columns.keys[order], columns.values[order])
        self.names = columns.key_names
        self.in_site = np.bincount(self.entries.value) if salience == "site" else None
        self.least = least_count(int(chosen.sum()))
        count = int(chosen.sum())
        self.nodes = [TreeNode(parent=None, depth=0, count=count)] if count else []
        self.node_of_row = np.where(chosen, 0, -1).astype(np.int32)
        self.open: list[int] = [0] if count else []
        # x ln x in whole numbers: sums of them do not depend on their order, so ties are ties.
        numbers = np.arange(count + 1, dtype=np.float64)
        numbers[1:] *= np.log(numbers[1:])
        self.x_log_x = np.rint(numbers * _SCALE).astype(np.int64)

    @property
    def is_alive(self) -> bool:
        return bool(self.open)

    def grow_one_level(self) -> None:
        place = np.full(len(self.nodes), -1, np.int64)
        place[self.open] = np.arange(len(self.open))
        group = place[self.node_of_row[self.entries.row]]
        kept = group >= 0
        if not kept.all():
            self.entries, group = self.entries[kept], group[kept]
        # Within a node the entries are in order already; a stable sort keeps that.
        order = np.argsort(group.astype(np.int32), kind="stable")
        self.entries, group = self.entries[order], group[order]
        runs = _Runs.of(self.entries, group)
        chosen = self._describe(runs)
        self._split(runs, chosen)

    def _describe(self, runs: _Runs) -> Ints:
        """Write the patterns of the open nodes; return for each the key to split at, -1 for none."""
        sizes = np.array([self.nodes[node].count for node in self.open], np.int64)
        starts = _starts(runs.group, runs.key)
        ends = np.append(starts[1:], len(runs.group))
        group, key = runs.group[starts], runs.key[starts]
        there = np.add.reduceat(runs.count, starts) if len(starts) else starts
        absent = sizes[group] - there
        values = ends - starts + (absent > 0)
        certainty = np.add.reduceat(self.x_log_x[runs.count], starts) if len(starts) else starts
        certainty = certainty + self.x_log_x[absent]
        for at in range(len(starts)):
            pattern = self.nodes[self.open[group[at]]].pattern
            if values[at] == 1:
                pattern[int(key[at])] = int(runs.value[starts[at]])
            else:
                pattern[int(key[at])] = PERHAPS if absent[at] else ANYTHING
        # What is constant stays constant below: its entries leave the game, and the children inherit it.
        self._is_constant_run = np.repeat(values == 1, ends - starts)
        chosen = np.full(len(self.open), -1, np.int64)
        splits = np.flatnonzero((values > 1) & ~self._is_done(group, key))
        ranked = splits[np.lexsort((key[splits], -certainty[splits], group[splits]))]
        first = ranked[_starts(group[ranked])]
        chosen[group[first]] = key[first]
        return chosen

    def _is_done(self, group: Ints, key: Codes) -> Bools:
        """Return which keys were split at before, above the node."""
        width = len(self.names)
        done = [place * width + old for place, node in enumerate(self.open) for old in self.nodes[node].done]
        return np.isin(group * width + key, np.array(done, np.int64))

    def _split(self, runs: _Runs, chosen: Ints) -> None:
        """Give the open nodes their children, and move the rows and the entries there."""
        is_of_key = runs.key == chosen[runs.group]
        child_of_run = np.full(len(runs.count), -1, np.int64)
        child_of_absent = np.full(len(self.open), -1, np.int64)
        starts = np.searchsorted(runs.group, np.arange(len(self.open) + 1))
        parents, self.open = self.open, []
        for place, parent in enumerate(parents):
            if chosen[place] < 0:
                continue
            own = np.arange(starts[place], starts[place + 1])
            own = own[is_of_key[own]]
            children = self._children(parent, int(chosen[place]), runs.value[own], runs.count[own])
            if children is not None:
                child_of_run[own], child_of_absent[place] = children
        place_of_node = np.full(len(self.nodes) + 1, -1, np.int64)  # the last for rows in no node
        place_of_node[parents] = np.arange(len(parents))
        place_of_row = place_of_node[self.node_of_row]
        moved = np.where(place_of_row >= 0, child_of_absent[place_of_row], -1)
        run_of_entry = np.repeat(np.arange(len(runs.count)), runs.count)
        target = child_of_run[run_of_entry]
        moved[self.entries.row[target >= 0]] = target[target >= 0]
        self.node_of_row = np.where(moved >= 0, moved, self.node_of_row).astype(np.int32)
        self.entries = self.entries[~self._is_constant_run[run_of_entry] & (moved >= 0)[self.entries.row]]

    def _children(self, parent: int, key: int, values: Codes, counts: Ints) -> tuple[Ints, int] | None:
        """Add the children of a node; return those of its values and the one without a value."""
        node = self.nodes[parent]
        absent = node.count - int(counts.sum())
        sizes = np.append(counts, absent) if absent else counts
        frequencies = None
        if self.in_site is not None:
            frequencies = sizes.copy()
            frequencies[: len(values)] = self.in_site[values]
        is_salient = salient(sizes, self.least, has_absent=absent > 0, frequencies=frequencies)
        if not is_salient.any():
            return None
        node.split = key
        child = np.full(len(sizes), -1, np.int64)
        for at in np.flatnonzero(is_salient):
            child[at] = self._add(parent, key, int(sizes[at]))
        if not is_salient.all():
            child[~is_salient] = self._add(parent, key, int(sizes[~is_salient].sum()))
        return child[: len(counts)], int(child[-1]) if absent else -1

    def _add(self, parent: int, key: int, count: int) -> int:
        node = self.nodes[parent]
        pattern = {k: v for k, v in node.pattern.items() if v >= 0}
        child = TreeNode(parent, node.depth + 1, count, pattern, done=(*node.done, key))
        number = len(self.nodes)
        self.nodes.append(child)
        node.children.append(number)
        self.open.append(number)
        return number
