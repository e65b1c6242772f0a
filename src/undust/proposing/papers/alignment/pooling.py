"""Across clusters: equal skeletons are one rule, and all their texts decide what its captures match.

A skeleton: what the URLs of a group share, with units for text and slots for what some of them lack.

A text inside an optional part may be a name that belongs to the rule (`index.html`, `page=1`) or data of the
page (a session). Names come back in many clusters: a text that is alone in its place in at least one of
`max_members` clusters is a name, and its rule is its own. All else is pooled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import group_forms
from undust.proposing.papers.alignment.groups import spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.proposing.papers.alignment.groups import Aligned, AlignmentOptions, TokenGroups

    Ints = NDArray[np.int64]


SAME_UNIT, VARIES, OPTIONAL, SLOT, OR, END_SLOT, HOST = -1, -2, -3, -4, -5, -6, -7
"""As the core writes them."""

WORD_JOINTS = ("-", "_", "+", "%20")
"""What the words of a title are joined by; the core has the same."""

Item = str | int
"""A literal, or the number of a unit."""


@dataclass(frozen=True)
class Slot:
    """A place where URLs differ in what they have; slots of one factor change together."""

    factor: int
    alternatives: tuple[tuple[Item, ...], ...]


@dataclass(frozen=True)
class Skeleton:
    """Literals, numbers of units, and slots, in the order of the URL."""

    items: tuple[Item | Slot, ...]
    units: tuple[int, ...]
    """What each unit is: SAME, VARIES, OPTIONAL or HOST."""

    @classmethod
    def read(cls, elements: Sequence[int], vocabulary: pa.Array) -> Skeleton:
        """Return the skeleton that the core wrote as numbers."""
        items: list[Item | Slot] = []
        fixed = [element for element in _outside_slots(elements) if element in (SAME_UNIT, VARIES, HOST)]
        units, unit, place = list(fixed), 0, 0
        while place < len(elements):
            element = elements[place]
            place += 1
            if element == SLOT:
                alternatives: list[list[Item]] = [[]]
                factor, place = elements[place], place + 1
                while elements[place] != END_SLOT:
                    if elements[place] == OR:
                        alternatives.append([])
                    elif elements[place] == OPTIONAL:
                        alternatives[-1].append(len(units))
                        units.append(OPTIONAL)
                    else:
                        alternatives[-1].append(vocabulary[elements[place]].as_py())
                    place += 1
                place += 1
                items.append(Slot(factor, tuple(map(tuple, alternatives))))
            elif element >= 0:
                items.append(vocabulary[element].as_py())
            else:
                items.append(unit)
                unit += 1
        return cls(tuple(items), tuple(units))

    @property
    def beside_changes(self) -> tuple[int, ...]:
        """The units with one text in a cluster that only a sign between words parts from one that varies."""
        found = []
        for place, item in enumerate(self.items):
            if isinstance(item, int) and self.units[item] == SAME_UNIT:
                sides = (self.items[place + 1 :], self.items[:place][::-1])
                nearest = (next((each for each in side if each not in WORD_JOINTS), None) for side in sides)
                if any(isinstance(each, int) and self.units[each] == VARIES for each in nearest):
                    found.append(item)
        return tuple(found)

    @property
    def factors(self) -> tuple[int, ...]:
        """How many alternatives each factor has."""
        sizes = {item.factor: len(item.alternatives) for item in self.items if isinstance(item, Slot)}
        return tuple(sizes[factor] for factor in sorted(sizes))

    @property
    def forms(self) -> int:
        """How many forms there are; the first is the shortest."""
        return prod(self.factors)

    def text(self, form: int, written: Callable[[int], str]) -> str:
        """Return one form as text, given the text for each unit."""
        items = self._items(self._chosen(form))
        return "".join(item if isinstance(item, str) else written(item) for item in items)

    def length(self, form: int) -> int:
        """Return how many literals and units a form has."""
        return sum(1 for _ in self._items(self._chosen(form)))

    def _chosen(self, form: int) -> tuple[int, ...]:
        return list(product(*map(range, self.factors)))[form]

    def _items(self, chosen: tuple[int, ...]) -> Iterator[Item]:
        for item in self.items:
            if isinstance(item, Slot):
                yield from item.alternatives[chosen[item.factor]]
            else:
                yield item


def _outside_slots(elements: Sequence[int]) -> Iterator[int]:
    is_inside = False
    for element in elements:
        is_inside = (is_inside or element == SLOT) and element != END_SLOT
        if not is_inside:
            yield element


TOO_MANY_FORMS = -1
_CLASSES = {
    "int": "^[0-9]+$",
    "alpha": "^[A-Za-z]+$",
    "hex": "^[0-9A-Fa-f]+$",
    "word": "^[A-Za-z0-9_-]+$",
}
"""The narrowest first."""
_WIDE = ("word", "")
_NUMBER = re.compile(r"([^0-9]+)?([0-9]+)([^0-9]+)?")


@dataclass(frozen=True, eq=False)
class SkeletonForms:
    """The skeletons of groups, and the texts of their units in codes: ranks, so that they sort as texts."""

    skeleton_offsets: Ints
    skeletons: Ints
    skeleton_of: Ints
    row_form: Ints
    """Of each URL."""
    group: Ints
    unit: Ints
    form: Ints
    code: Ints
    texts: pa.Array
    is_of: NDArray[np.bool_]
    """For each class, which texts are of it."""

    @classmethod
    def of(cls, groups: TokenGroups, aligned: Aligned, options: AlignmentOptions) -> SkeletonForms:
        """Return the forms of aligned groups; the alignment of a group depends only on the group."""
        found = group_forms(
            groups.offsets,
            groups.codes,
            groups.groups,
            groups.vocabulary,
            aligned.columns,
            aligned.widths,
            max_forms=options.max_forms,
            across_hosts=options.across_hosts,
            whole_parts=options.whole_parts,
            word_runs=options.word_runs,
        )
        offsets, skeletons, skeleton_of, row_form, group, unit, form = (
            pa.array(each).to_numpy().astype(np.int64) for each in found[:-1]
        )
        encoded = pa.array(found[-1]).dictionary_encode()
        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        texts = encoded.dictionary.take(pa.array(order))
        is_of = [
            np.asarray(pc.match_substring_regex(texts, pattern), np.bool_) for pattern in _CLASSES.values()
        ]
        return cls(
            offsets,
            skeletons,
            skeleton_of,
            row_form,
            group,
            unit,
            form,
            rank[encoded.indices.to_numpy()],
            texts,
            np.stack(is_of),
        )


class Seen(NamedTuple):
    """What was seen of one unit in all clusters of a rule."""

    texts: tuple[str, ...] | None
    """All of them, sorted; None if there are too many for a list, or some that never come back."""
    kind: str
    """The narrowest class they are all of; empty for none."""
    around: tuple[str, str]
    """What all of them begin and end with, where a number is between; the class is that of the number.
    Only of a unit next to one that varies, which could otherwise take a part of it."""
    constant: str | None
    """What the form that is written has in most clusters."""
    by_form: tuple[str, ...] | None
    """One text for each of the forms, if the form decides it."""


class Pool(NamedTuple):
    """One rule: its skeleton, what was seen of each unit, and in how many clusters and pairs of URLs."""

    skeleton: Skeleton
    forms: tuple[int, ...]
    """Those that have a rule, the one that is written first."""
    seen: tuple[Seen, ...]
    clusters: int
    pairs: int


def pools(forms: SkeletonForms, groups: TokenGroups, options: AlignmentOptions) -> tuple[list[Pool], int]:
    """Return the rules that were seen in enough clusters, and how many were not."""
    return _Pooling(forms, groups, options).run()


class _Pooling:
    def __init__(self, forms: SkeletonForms, groups: TokenGroups, options: AlignmentOptions) -> None:
        self.forms, self.groups, self.options = forms, groups, options
        self.vocabulary = groups.vocabulary
        self.pairs = groups.pairs
        self.sizes = np.diff(groups.groups)

    def run(self) -> tuple[list[Pool], int]:
        """Return all pools, and how many had too few clusters."""
        forms, found, rare = self.forms, [], 0
        count = len(forms.skeleton_offsets) - 1
        by_skeleton = np.argsort(forms.skeleton_of, kind="stable")
        group_ends = np.searchsorted(forms.skeleton_of[by_skeleton], np.arange(count + 1))
        rows = np.argsort(forms.skeleton_of[forms.group], kind="stable")
        row_ends = np.searchsorted(forms.skeleton_of[forms.group][rows], np.arange(count + 1))
        for number in range(count):
            members = by_skeleton[group_ends[number] : group_ends[number + 1]]
            if self._clusters(members) < self.options.min_clusters:
                rare += 1
                continue
            skeleton = self._skeleton(number)
            own = rows[row_ends[number] : row_ends[number + 1]]
            for some, texts in self._by_names(skeleton, members, own):
                if self._clusters(some) < self.options.min_clusters:
                    rare += 1
                else:
                    found.append(self._pool(skeleton, some, texts))
        return found, rare

    def _clusters(self, members: Ints) -> int:
        return len(np.unique(self.groups.clusters[members]))

    def _skeleton(self, number: int) -> Skeleton:
        start, end = self.forms.skeleton_offsets[number : number + 2]
        return Skeleton.read(self.forms.skeletons[start:end].tolist(), self.vocabulary)

    def _by_names(self, skeleton: Skeleton, members: Ints, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield the groups that have the same names in optional parts, with their texts."""
        optional = [unit for unit, kind in enumerate(skeleton.units) if kind == OPTIONAL]
        place = np.searchsorted(members, self.forms.group[rows])
        names = np.stack(
            [self._names(unit, members, rows, place) for unit in optional]
            or [np.zeros(len(members), np.int64)]
        )
        _, which = np.unique(names, axis=1, return_inverse=True)
        which = which.reshape(-1)
        for number in range(int(which.max()) + 1):
            yield members[which == number], rows[which[place] == number]

    def _names(self, unit: int, members: Ints, rows: Ints, place: Ints) -> Ints:
        """Return for each group the code of its one text, if that is a name; -1 elsewhere."""
        is_own = self.forms.unit[rows] == unit
        code, at = self.forms.code[rows[is_own]], place[is_own]
        only = np.flatnonzero(np.bincount(at, minlength=len(members))[at] == 1)
        code, at = code[only], at[only]
        cluster = self.groups.clusters[members]
        known, counts = _in_clusters(code, cluster[at])
        enough = counts * self.options.max_members >= len(np.unique(cluster))
        known = known[enough & (counts >= self.options.min_clusters)]
        names = np.full(len(members), -1, np.int64)
        is_name = np.isin(code, known)
        names[at[is_name]] = code[is_name]
        return names

    def _pool(self, skeleton: Skeleton, members: Ints, rows: Ints) -> Pool:
        unit, forms = self.forms.unit[rows], self._forms(skeleton, members)
        beside = skeleton.beside_changes if self.options.word_runs else ()
        seen = tuple(
            self._seen(forms, rows[unit == number], is_beside=number in beside)
            for number in range(len(skeleton.units))
        )
        return Pool(skeleton, forms, seen, self._clusters(members), int(self.pairs[members].sum()))

    def _forms(self, skeleton: Skeleton, members: Ints) -> tuple[int, ...]:
        """Return which forms have a rule, first the one that is written.

        If the shortest is there, parts that may be missing may be missing in any combination, as published.
        Else only forms that were seen have a rule, and the shortest among the frequent ones is written: a
        combination that was not observed need not be a URL.
        """
        starts, sizes = self.groups.groups[members], self.sizes[members]
        cluster = np.repeat(self.groups.clusters[members], sizes)
        known, counts = _in_clusters(self.forms.row_form[spans(starts, sizes)], cluster)
        frequent = known[counts * 2 >= counts.max()].tolist()
        target = min(frequent, key=lambda form: (skeleton.length(form), form))
        others = range(skeleton.forms) if target == 0 else known.tolist()
        return target, *(form for form in others if form != target)

    def _seen(self, forms_of_rule: tuple[int, ...], rows: Ints, *, is_beside: bool) -> Seen:
        forms = self.forms
        code, form = forms.code[rows], forms.form[rows]
        cluster = self.groups.clusters[forms.group[rows]]
        known, counts = _in_clusters(code, cluster)
        few = len(known) <= self.options.max_members
        # Texts that come back are worth a list, and what a single cluster has.
        comes_back = int(counts.min()) > 1 or len(np.unique(cluster)) == 1
        kinds = [kind for kind, is_of in zip(_CLASSES, forms.is_of, strict=True) if is_of[known].all()]
        kind, around = kinds[0] if kinds else "", ("", "")
        if is_beside and kind in _WIDE:
            common = _around(self._texts(known))
            kind, around = (kind, around) if common is None else ("int", common)
        return Seen(
            self._texts(known) if few and comes_back else None,
            kind,
            around,
            self._constant(code, form == forms_of_rule[0], cluster),
            self._texts_by_form(forms_of_rule, code, form) if few else None,
        )

    def _texts(self, codes: Ints) -> tuple[str, ...]:
        return tuple(self.forms.texts.take(pa.array(codes)).to_pylist())

    def _constant(self, code: Ints, written: NDArray[np.bool_], cluster: Ints) -> str | None:
        if written.any():
            code, cluster = code[written], cluster[written]
        known, counts = _in_clusters(code, cluster)
        best = int(np.argmax(counts))
        if counts[best] <= self.options.constant_share * len(np.unique(cluster)):
            return None
        return self._texts(known[best : best + 1])[0]

    def _texts_by_form(
        self, forms_of_rule: tuple[int, ...], code: Ints, form: Ints
    ) -> tuple[str, ...] | None:
        found = [np.unique(code[form == number]) for number in forms_of_rule]
        if len(found) == 1 or any(len(codes) != 1 for codes in found):
            return None
        return self._texts(np.concatenate(found))


def _around(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the text before and after the one number of each text, if that is the same in all.

    >>> _around(["p7.html", "p12.html"]), _around(["p7", "q12"]), _around(["7-8", "7-9"])
    (('p', '.html'), None, None)

    """
    found = {each and (each[1] or "", each[3] or "") for each in map(_NUMBER.fullmatch, texts)}
    return found.pop() if len(found) == 1 else None


def _in_clusters(values: Ints, clusters: Ints) -> tuple[Ints, Ints]:
    """Return each value once, and in how many clusters it is."""
    wide = int(clusters.max(initial=0)) + 1
    return np.unique(np.unique(values * wide + clusters) // wide, return_counts=True)
