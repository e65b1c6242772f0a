"""The glue test: whether a group of URLs is one page, or only an error or login page.

"Nothing found", "please log in" and "everything redirects home" put unrelated URLs into one group. Such
a group is recognised by what it holds: many values of a part of the URL that elsewhere on the site
decides which page one gets. Two observations still support a group: the value is known not to
matter in just this corner of the site, or the page is at least as large as those that the value
usually leads to (the fifty posts of a thread all show the thread, which is long; an error page is short).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from undust.pages.clustering.shapes import differences, share_without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from undust.pages.clustering.shapes import Differences, Membership, Shapes

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

VALUES = 25
"""A group with this many values of a part that matters is suspicious."""
MATTERS = 0.5
"""A value matters if at least this share of the pairs that differ in it alone show different content."""
COMPARED = 5.0
"""... of at least this many URLs outside the group; fewer are not enough."""
SITE_SHARE = 0.05
"""A group this large that spans the site is not a page."""
_MOST = 0.5
SKELETONS, FEW_SKELETONS = 10, 3
MINORITY = 10
"""A group with less than one in this many of the URLs of a skeleton does not change what is usual there."""


@dataclass(frozen=True, slots=True)
class Glue:
    """Why a group is not a page."""

    group: int
    key: str
    """The part of the URL that should have distinguished its members, as `KeyValueView` names it."""
    values: int
    share: float | None
    """Pairs elsewhere that differ in it and in content; None where the group's extent betrayed it."""
    extent: float
    """The group's share of the site's URLs."""


def find_glue(  # noqa: PLR0913 -- what is known of a site
    groups: Membership,
    shapes: Shapes,
    page: Ints,
    *,
    observed: Bools,
    size: Floats,
    values: int = VALUES,
    is_stated: bool = False,
) -> Iterator[Glue]:
    """Yield the groups that are glue; `page` and `size` are of the content, -1 and NaN where unknown.

    A group is stated if redirects or canonicals hold it together, and not what its members show.
    """
    found = differences(shapes, page, groups)
    order = np.argsort(groups.group, kind="stable")
    members = np.split(groups.node[order], np.cumsum(np.bincount(groups.group, minlength=groups.count))[:-1])
    rows = np.split(np.arange(len(found.group)), np.searchsorted(found.group, np.arange(1, groups.count)))
    total, skeletons = int(observed.sum()), len(np.unique(shapes.skeleton[observed]))
    test = _Test(found, shapes, page, size, values, skeletons, is_stated)
    for group in range(groups.count):
        extent = len(members[group]) / max(total, 1)
        betrayed = test.by_values(rows[group], members[group])
        if not betrayed and extent >= SITE_SHARE:
            betrayed = test.by_extent(rows[group], members[group], is_most=extent >= _MOST)
        if betrayed:
            key, held, share = betrayed
            yield Glue(group, shapes.name(key), held, share, extent)


@dataclass(frozen=True, eq=False)
class _Test:
    found: Differences
    shapes: Shapes
    page: Ints
    size: Floats
    values: int
    skeletons: int
    """How many the site has."""
    is_stated: bool
    usual_sizes: dict[int, float] = field(default_factory=dict)
    """Of skeletons; a group that is a small part of one does not change it."""

    def by_values(self, rows: Ints, members: Ints) -> tuple[int, int, float | None] | None:
        """Return key, values and share of a part that matters and has too many values in the group."""
        rows = rows[self.found.key_values[rows] >= self.values]
        shares = self._shares(rows)
        rows, shares = rows[shares >= MATTERS], shares[shares >= MATTERS]
        keys = self.shapes.key_of_scope[self.found.scope[rows]]
        for key in np.unique(keys).tolist():
            held = self._values_held(rows[keys == key], members, may_be_long=True)
            if held >= self.values:
                return key, held, float(shares[keys == key].mean())
        return None

    def by_extent(self, rows: Ints, members: Ints, *, is_most: bool) -> tuple[int, int, None] | None:
        """Return key and values of a group that spans the addresses of the site."""
        found = self.found
        is_harmless = (found.alone.weight[rows] >= COMPARED) & (found.alone.share[rows] < MATTERS)
        rows = rows[~is_harmless & (found.key_values[rows] >= self.values)]
        keys = self.shapes.key_of_scope[found.scope[rows]]
        spanned = len(np.unique(self.shapes.skeleton_of_scope[found.scope[rows]]))
        spans = spanned >= max(FEW_SKELETONS, min(SKELETONS, self.skeletons // 2))
        for key in np.unique(keys).tolist():
            # Different paths are different addresses; the values of one parameter need not be.
            if spans or not self.shapes.is_named[key]:
                held = self._values_held(rows[keys == key], members, may_be_long=not is_most)
                if held >= self.values:
                    return key, held, None
        return None

    def _values_held(self, rows: Ints, members: Ints, *, may_be_long: bool) -> int:
        """Return how many values the group holds; none if an observation supports it."""
        scopes = [_Scope(self.shapes, int(scope), members) for scope in self.found.scope[rows]]
        if _held(scopes) < self.values or (may_be_long and self._is_long(scopes, members)):
            return 0
        return _held([scope for scope in scopes if not scope.is_harmless(self.page)])

    def _shares(self, rows: Ints) -> Floats:
        # What other URLs of the same skeleton say counts; without such URLs, what the parameter's name
        # does elsewhere. Numbers and titles that always change together have no pair that differs in
        # one alone: there the skeleton as a whole speaks, if the group holds many values of all that varies.
        found = self.found
        named = np.where(found.named.weight[rows] >= COMPARED, found.named.share[rows], 0.0)
        is_whole = (found.whole.weight[rows] >= COMPARED) & (found.least_values[rows] >= self.values)
        whole = np.where(is_whole, found.whole.share[rows], 0.0)
        return np.where(
            found.alone.weight[rows] >= COMPARED, found.alone.share[rows], np.maximum(named, whole)
        )

    def _is_long(self, scopes: list[_Scope], members: Ints) -> bool:
        # A front page that many addresses point to is long, and yet not what they were made for.
        if self.is_stated and self.shapes.is_root[members].any():
            return False
        own, others = self.size[members], np.array([self._usual_size(scope) for scope in scopes])
        own, others = own[~np.isnan(own)], others[~np.isnan(others)]
        return bool(len(own) and len(others) and np.median(own) >= np.median(others))

    def _usual_size(self, scope: _Scope) -> float:
        """Return the median size of the URLs of a skeleton that are not in the group."""
        if len(scope.members) * MINORITY > len(scope.rows):
            return _median(self.size[np.setdiff1d(scope.rows, scope.members)])
        if scope.skeleton not in self.usual_sizes:
            self.usual_sizes[scope.skeleton] = _median(self.size[scope.rows])
        return self.usual_sizes[scope.skeleton]


class _Scope:
    """The URLs of one skeleton with one of its keys in view, and which of them are in a group."""

    def __init__(self, shapes: Shapes, scope: int, members: Ints) -> None:
        self._shapes = shapes
        self.skeleton = int(shapes.skeleton_of_scope[scope])
        self._key = int(shapes.key_of_scope[scope])
        self.rows = shapes.urls_of(self.skeleton)
        self.members = members[shapes.skeleton[members] == self.skeleton]

    @property
    def values(self) -> Ints:
        """Of the key, in the group."""
        keys, entries = self._shapes.entries_of(self.members)
        return self._shapes.value[entries[:, np.searchsorted(keys, self._key)]]

    def is_harmless(self, page: Ints) -> bool:
        """Whether the value is known not to matter where URLs share one more constant with the group."""
        keys, entries = self._shapes.table(self.skeleton)
        context = self._shapes.context[entries[:, np.searchsorted(keys, self._key)]]
        is_member = np.isin(self.rows, self.members)
        shown = page[self.rows]
        for column in np.flatnonzero(keys != self._key).tolist():
            values = self._shapes.value[entries[:, column]]
            constants = values[is_member]
            if (constants != constants[0]).any():
                continue
            near = (shown >= 0) & (values == constants[0])
            together = np.unique(context[near], return_inverse=True)[1]
            share, weight = share_without(together, shown[near], is_member[near])
            if weight >= COMPARED and share < MATTERS:
                return True
        return False


def _held(scopes: list[_Scope]) -> int:
    return len(np.unique(np.concatenate([scope.values for scope in scopes]))) if scopes else 0


def _median(sizes: Floats) -> float:
    sizes = sizes[~np.isnan(sizes)]
    return float(np.median(sizes)) if len(sizes) else float("nan")
