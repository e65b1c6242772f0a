"""The pattern tree of Lei et al. (WWW 2010, section 5.1, algorithm 1), grown level by level.

A node holds URLs. It is split at the key whose values have the smallest entropy: its salient values get a
child each, all others go to one child together, and URLs without the key to one of their own. An absent key
counts as one more value in the entropy; of keys with equal entropies the first is taken. Keys that most URLs
of a node do not have come after the others: their entropy is small because they are rare, and a tree that
began with them would have a level for each. Keys with one value cannot split anything and are passed over, so
that there are no chains of single children (A11).

A key that many URLs have and many do not (each at least as many as a salient value needs) splits a node even
if its values are all trivial: URLs with and without a parameter are two forms. A key that only few URLs have
splits nothing, or every rare parameter would add a level. The node is a leaf where the key of smallest
entropy has only trivial values and no other key is there in one half and absent in another.

The entries of all URLs that are still in play are sorted once, by key and value, and stay so within their
nodes: each level is one pass over them, whatever the number of nodes.

Which values of a key are salient, and which are put together under `*`: Lei et al. sort values by frequency
and cut where the curve declines most (section 5.1). The printed equation 5 has its sign turned and a maximum
where the place of the maximum is meant (A9): here it is the place of the largest `ln f_i - ln f_(i+1)`, the
first one where there are several. Two curves can be asked for (`Salience`): that of one key in one node
(A10), or that of figure 6, all tokens of the site whatever their key, which is cut once. Tokens that every
URL has are not on the second curve: they separate nothing.

What the paper leaves open: both curves end at the least number of URLs that a value needs. So values of about
the same frequency (five language folders) are salient together when each has enough URLs, and trivial
together when not. That least number is the square root of the number of URLs of the tree: then no key has
more salient values than that, on small sites as on large ones. From a million URLs on it is a thousandth of
them. A value with a quarter of the URLs of the node is salient wherever the decline is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.urls.views import UrlColumns

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Codes = NDArray[np.int32]


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


Salience = Literal["node", "site"]
"""Whose frequencies decide: those of a key in a node, or those of a text in all URLs, at any key."""
SALIENCES: tuple[Salience, ...] = get_args(Salience)

ALWAYS = 0.25
"""A value of this share of the URLs of a node is salient wherever the decline is."""
NEVER = 0.001
"""A value below this share of all URLs is not."""
SEEN_TWICE = 2


def least_count(total: int) -> float:
    """Return how many URLs a value must have at least, in a tree of this many."""
    return max(SEEN_TWICE, math.sqrt(total), NEVER * total)


def decline(frequencies: Ints, least: float) -> int:
    """Return the smallest frequency before the largest decline of a curve that ends at `least`.

    >>> decline(np.array([60, 40, 1, 1, 1]), 2), decline(np.array([61, 60, 60, 59]), 15)
    (40, 59)

    """
    falling = np.sort(frequencies)[::-1]
    following = np.append(falling[1:], min(least, falling[-1]))
    # Quotients of whole numbers are rounded exactly, so equal declines are found equal; logarithms are not.
    return int(falling[int(np.argmax(falling / following))])


def salient(counts: Ints, least: float, *, total: int, is_frequent: Bools | None = None) -> Bools:
    """Return which of the counted values are salient.

    Args:
        counts: How many URLs of the node have each value.
        least: How many a value must have.
        total: How many URLs the node has.
        is_frequent: Which values are before the decline, if that is not to be found among the counts.

    >>> salient(np.array([60, 40, 1, 1, 1]), 2, total=103).tolist()
    [True, True, False, False, False]

    """
    if is_frequent is None:
        is_frequent = counts >= decline(counts, least)
    return np.asarray((is_frequent | (counts >= ALWAYS * total)) & (counts >= least))


_SCALE = float(1 << 30)


class _Split(NamedTuple):
    """A key at which a node could be split: its values are the runs from `start` to `end`."""

    key: int
    start: int
    end: int


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


def grow(
    columns: UrlColumns,
    chosen: Bools | None = None,
    salience: Salience = "node",
    least: float | None = None,
) -> PatternTree:
    """Return the pattern tree of URLs, all or the chosen ones.

    Args:
        columns: The URLs.
        chosen: Which of them take part.
        salience: Whose frequencies make a value salient.
        least: How many URLs a salient value has at least; the square root of their number by default.

    """
    taken = np.ones(len(columns), np.bool_) if chosen is None else chosen
    growing = _Growing(columns, taken, salience, least_count(int(taken.sum())) if least is None else least)
    while growing.is_alive:
        growing.grow_one_level()
    return PatternTree(columns, tuple(growing.nodes), growing.node_of_row)


class _Growing:
    """A tree on its way: the nodes so far, the open ones among them, and the entries still in play."""

    def __init__(self, columns: UrlColumns, chosen: Bools, salience: Salience, least: float) -> None:
        order = np.lexsort((columns.values, columns.keys)).astype(np.int32)
        order = order[chosen[columns.entry_rows[order]]]
        self.entries = _TreeEntries(columns.entry_rows[order], columns.keys[order], columns.values[order])
        self.names = columns.key_names
        self.least = least
        count = int(chosen.sum())
        self.is_frequent = self._frequent_in_site(count) if salience == "site" else None
        self.nodes = [TreeNode(parent=None, depth=0, count=count)] if count else []
        self.node_of_row = np.where(chosen, 0, -1).astype(np.int32)
        self.open: list[int] = [0] if count else []
        # x ln x in whole numbers: sums of them do not depend on their order, so ties are ties.
        numbers = np.arange(count + 1, dtype=np.float64)
        numbers[1:] *= np.log(numbers[1:])
        self.x_log_x = np.rint(numbers * _SCALE).astype(np.int64)

    def _frequent_in_site(self, count: int) -> Bools:
        """Return which values are before the decline of the curve of all tokens (figure 6)."""
        in_site = np.bincount(self.entries.value)
        parting = in_site[(in_site > 0) & (in_site < count)]
        if not len(parting):
            return np.ones(len(in_site), np.bool_)
        return np.asarray(in_site >= decline(parting, self.least))

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
        self._split(runs, self._describe(runs))

    def _describe(self, runs: _Runs) -> list[list[_Split]]:
        """Write the patterns of the open nodes; return the keys of each, the smallest entropy first."""
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
        splits = np.flatnonzero((values > 1) & ~self._is_done(group, key))
        found: list[list[_Split]] = [[] for _ in self.open]
        is_rare = 2 * there < sizes[group]
        for at in splits[np.lexsort((key[splits], -certainty[splits], is_rare[splits], group[splits]))]:
            found[group[at]].append(_Split(int(key[at]), int(starts[at]), int(ends[at])))
        return found

    def _is_done(self, group: Ints, key: Codes) -> Bools:
        """Return which keys were split at before, above the node."""
        width = len(self.names)
        done = [place * width + old for place, node in enumerate(self.open) for old in self.nodes[node].done]
        return np.isin(group * width + key, np.array(done, np.int64))

    def _split(self, runs: _Runs, keys: list[list[_Split]]) -> None:
        """Give the open nodes their children, and move the rows and the entries there."""
        child_of_run = np.full(len(runs.count), -1, np.int64)
        child_of_absent = np.full(len(self.open), -1, np.int64)
        parents, self.open = self.open, []
        for place, parent in enumerate(parents):
            found = self._best(parent, keys[place], runs)
            if found is not None:
                split, is_salient = found
                own = slice(split.start, split.end)
                child_of_run[own], child_of_absent[place] = self._children(
                    parent, split.key, runs.count[own], is_salient
                )
        place_of_node = np.full(len(self.nodes) + 1, -1, np.int64)  # the last for rows in no node
        place_of_node[parents] = np.arange(len(parents))
        place_of_row = place_of_node[self.node_of_row]
        moved = np.where(place_of_row >= 0, child_of_absent[place_of_row], -1)
        run_of_entry = np.repeat(np.arange(len(runs.count)), runs.count)
        target = child_of_run[run_of_entry]
        moved[self.entries.row[target >= 0]] = target[target >= 0]
        self.node_of_row = np.where(moved >= 0, moved, self.node_of_row).astype(np.int32)
        self.entries = self.entries[~self._is_constant_run[run_of_entry] & (moved >= 0)[self.entries.row]]

    def _best(self, parent: int, keys: list[_Split], runs: _Runs) -> tuple[_Split, Bools] | None:
        """Return the key to split a node at, and which of its values are salient."""
        total = self.nodes[parent].count
        is_trivial = False
        for split in keys:
            counts = runs.count[split.start : split.end]
            there = int(counts.sum())
            is_salient = np.zeros(len(counts), np.bool_)
            if not is_trivial and counts.max() >= self.least:
                values = runs.value[split.start : split.end]
                frequent = None if self.is_frequent is None else self.is_frequent[values]
                is_salient = salient(counts, self.least, total=total, is_frequent=frequent)
            if is_salient.any() or min(there, total - there) >= self.least:
                return split, is_salient
            is_trivial |= there >= self.least
        return None

    def _children(self, parent: int, key: int, counts: Ints, is_salient: Bools) -> tuple[Ints, int]:
        """Add the children of a node; return those of its values and the one without a value."""
        node = self.nodes[parent]
        node.split = key
        child = np.full(len(counts), -1, np.int64)
        for at in np.flatnonzero(is_salient):
            child[at] = self._add(parent, key, int(counts[at]))
        if not is_salient.all():
            child[~is_salient] = self._add(parent, key, int(counts[~is_salient].sum()))
        absent = node.count - int(counts.sum())
        return child, self._add(parent, key, absent) if absent else -1

    def _add(self, parent: int, key: int, count: int) -> int:
        node = self.nodes[parent]
        pattern = {k: v for k, v in node.pattern.items() if v >= 0}
        child = TreeNode(parent, node.depth + 1, count, pattern, done=(*node.done, key))
        number = len(self.nodes)
        self.nodes.append(child)
        node.children.append(number)
        self.open.append(number)
        return number
