"""URLs taken apart into what stays and what changes, and which of the values that change matter.

A URL's *skeleton* is its host, the number of its segments and the names of its parameters, with the values
masked. Two URLs that differ in exactly one value share one *context*. If such pairs usually show different
content, that value matters: no single page should hold many values of it.

`differences` answers for groups of URLs said to be one page: which of the values they differ in matter
elsewhere on the site. What a group itself says about a value is left out when that group is judged: a group
of a thousand "not found" pages would otherwise prove that product numbers do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from undust.pages.clustering.nodes import counted
from undust.urls import KeyValueView

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Hashes = NDArray[np.uint64]
    Floats = NDArray[np.float64]


_MASK = np.array([0xFFFFFFFF], np.uint64)
TABLES_HELD = 16
VARIABLE = r"^(?:path_|\?)"


@dataclass(frozen=True, eq=False)
class Shapes:
    """The URLs of a site; an entry is one path segment or one parameter of one URL, in the order of URLs."""

    skeleton: Ints
    """Of each URL."""
    place: Ints
    """Of each URL: its host, and what else it has beside segments and parameters."""
    row: Ints
    """The URL of each entry."""
    key: Ints
    value: Ints
    context: Ints
    """Equal for entries of one key whose URLs differ, if at all, in this entry's value only."""
    scope: Ints
    """The skeleton and the key of each entry, as one number."""
    key_names: pa.Array
    value_texts: pa.Array
    """Of each value."""
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
            place=_numbered(sums(np.where(varies, np.uint64(0), whole), offsets)),
            row=row[varies],
            key=codes[varies],
            value=value[varies].astype(np.int64),
            context=_numbered(mixed((skeleton + values)[row] - whole, key)[varies]),
            scope=_numbered(mixed(skeleton[row], key)[varies]),
            key_names=view.key_names,
            value_texts=view.value_texts,
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
        """Of each URL: whether it is only a host."""
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


@dataclass(frozen=True, eq=False)
class Membership:
    """Membership pairs: node `node[i]` belongs to group `group[i]`; a node may be in several."""

    group: Ints
    node: Ints
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class ValueEvidence:
    """What pairs of URLs outside a group show about a value: how many differ in content, of how many."""

    share: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class Differences:
    """One row per group and scope (a skeleton and one of its keys) in which the group has members."""

    group: Ints
    scope: Ints
    values: Ints
    """How many the group holds in URLs of this skeleton."""
    key_values: Ints
    """... and in all URLs that have this key."""
    least_values: Ints
    """The smallest number that the group holds of any key of the skeleton that varies on the site."""
    alone: ValueEvidence
    """Of URLs of this skeleton that differ in this value alone."""
    named: ValueEvidence
    """Of all URLs that differ in a parameter of this name alone; nothing for path segments."""
    whole: ValueEvidence
    """Of all URLs of this skeleton, whichever values differ."""


def differences(shapes: Shapes, page: Ints, groups: Membership) -> Differences:
    """Return what is known of the values in each group; `page` is the content of each node, -1 unknown."""
    entry, group = _entries(shapes, groups)
    scope, value = shapes.scope[entry], shapes.value[entry]
    row_group, row_scope, values = distinct_counts(group, scope, value)
    row_key, row_skeleton = shapes.key_of_scope[row_scope], shapes.skeleton_of_scope[row_scope]
    by_key = distinct_counts(group, shapes.key[entry], value)
    whole_page, members = page[groups.node] >= 0, shapes.skeleton[groups.node]
    is_known = page[shapes.row] >= 0
    contexts = _Contexts.of(shapes.context[is_known], page[shapes.row][is_known], shapes.context_count)
    alone = _without(contexts, group, shapes.context[entry], page[shapes.row[entry]] >= 0)
    observed = np.flatnonzero(page >= 0)
    skeletons = _Contexts.of(shapes.skeleton[observed], page[observed], shapes.skeleton_count)
    whole = _without(skeletons, groups.group, members, whole_page)
    is_named = shapes.is_named[row_key]
    named = alone.opinion(shapes.key_of_context, row_group, row_key)
    return Differences(
        group=row_group,
        scope=row_scope,
        values=values,
        key_values=_looked_up(by_key, row_group, row_key),
        least_values=_least(shapes, row_group, row_skeleton, row_scope, values),
        alone=alone.opinion(shapes.scope_of_context, row_group, row_scope),
        named=ValueEvidence(named.share, np.where(is_named, named.weight, 0.0)),
        whole=whole.opinion(np.arange(shapes.skeleton_count), row_group, row_skeleton),
    )


def share_without(context: Ints, page: Ints, is_member: Bools) -> tuple[float, float]:
    """Return the share of differing pairs and the URLs compared, without pairs of members."""
    contexts = _Contexts.of(context, page, int(context.max()) + 1 if len(context) else 0)
    members = np.bincount(context[is_member], minlength=len(contexts.count))
    weight, differing = contexts.weights(np.arange(len(contexts.count)), np.maximum(members, 1))
    total = float(weight.sum())
    return (float(differing.sum()) / total if total else 0.0), total


@dataclass(frozen=True, eq=False)
class _Contexts:
    """Per context: the URLs in it, and how many ordered pairs of them show different content."""

    count: Ints
    differing: Ints

    @classmethod
    def of(cls, context: Ints, page: Ints, size: int) -> _Contexts:
        count = np.bincount(context, minlength=size)
        together, _, copies = counted(context, page)
        same = np.bincount(together, copies * (copies - 1), minlength=size).astype(np.int64)
        return cls(count, count * (count - 1) - same)

    def weights(self, context: Ints, members: Ints) -> tuple[Floats, Floats]:
        """Return how much contexts count without pairs of members, and how much supports a difference."""
        count, differing = self.count[context], self.differing[context]
        pairs = count * (count - 1) - members * (members - 1)
        others = np.maximum(count - members, 0).astype(np.float64)
        return others, np.where(pairs > 0, others * differing / np.maximum(pairs, 1), 0.0)


@dataclass(frozen=True, eq=False)
class _Without:
    """The weights of all contexts, and by how much they change for the groups that are in them."""

    weight: Floats
    differing: Floats
    group: Ints
    context: Ints
    weight_change: Floats
    differing_change: Floats

    def opinion(self, part: Ints, groups: Ints, parts: Ints) -> ValueEvidence:
        """Add up by part of the site: `part` of each context; one opinion per (group, part) asked for."""
        size = int(part.max()) + 1 if len(part) else 0
        if not size:
            return ValueEvidence(np.zeros(len(groups)), np.zeros(len(groups)))
        asked, changed = groups * size + parts, self.group * size + part[self.context]
        weight: Floats = np.bincount(part, self.weight, minlength=size)[parts].astype(np.float64)
        weight += _summed(asked, changed, self.weight_change)
        differing: Floats = np.bincount(part, self.differing, minlength=size)[parts].astype(np.float64)
        differing += _summed(asked, changed, self.differing_change)
        return ValueEvidence(np.where(weight > 0, differing / np.maximum(weight, 1e-9), 0.0), weight)


def _without(contexts: _Contexts, group: Ints, context: Ints, is_known: Bools) -> _Without:
    everywhere = np.arange(len(contexts.count))
    weight, differing = contexts.weights(everywhere, np.ones_like(everywhere))
    in_group, in_context, members = counted(group[is_known], context[is_known])
    own_weight, own_differing = contexts.weights(in_context, members)
    return _Without(
        weight,
        differing,
        in_group,
        in_context,
        own_weight - weight[in_context],
        own_differing - differing[in_context],
    )


def _entries(shapes: Shapes, groups: Membership) -> tuple[Ints, Ints]:
    """Return all entries of all members, each with its group."""
    starts = np.searchsorted(shapes.row, np.arange(len(shapes.skeleton) + 1))
    lengths = np.diff(starts)[groups.node]
    first = np.repeat(starts[groups.node], lengths)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return first + within, np.repeat(groups.group, lengths)


def _least(shapes: Shapes, group: Ints, skeleton: Ints, scope: Ints, values: Ints) -> Ints:
    counts = np.where(shapes.values_of_scope[scope] > 1, values, np.iinfo(np.int64).max)
    order = np.lexsort((skeleton, group))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(group[order]) != 0) | (np.diff(skeleton[order]) != 0)
    least = np.minimum.reduceat(counts[order], np.flatnonzero(is_new)) if len(order) else counts
    back = np.empty(len(order), np.int64)
    back[order] = least[np.cumsum(is_new) - 1]
    return back


def _looked_up(table: tuple[Ints, Ints, Ints], first: Ints, second: Ints) -> Ints:
    size = int(max(table[1].max(initial=0), second.max(initial=0))) + 1
    place = np.searchsorted(table[0] * size + table[1], first * size + second)
    return table[2][place] if len(table[2]) else np.zeros(len(first), np.int64)


def _summed(asked: Ints, places: Ints, amounts: Floats) -> Floats:
    """Return for each place asked for the sum of the amounts there."""
    order = np.argsort(places, kind="stable")
    total = np.concatenate(([0.0], np.cumsum(amounts[order])))
    starts, ends = (np.searchsorted(places[order], asked, side) for side in ("left", "right"))
    return np.asarray(total[ends] - total[starts])


def distinct_counts(first: Ints, second: Ints, third: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the distinct pairs of `first` and `second`, and how many values of `third` each has."""
    order = np.lexsort((third, second, first))
    first, second, third = first[order], second[order], third[order]
    is_new = np.ones(len(first), np.bool_)
    is_new[1:] = (np.diff(first) != 0) | (np.diff(second) != 0) | (np.diff(third) != 0)
    return counted(first[is_new], second[is_new])
