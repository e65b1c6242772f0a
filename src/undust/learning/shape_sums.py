"""What sites say of shapes, and what it counts for: sums by shape, wherever the table of it lies.

A crawl of the web has more sites than one machine can hold. So nothing is asked of this table that an engine
cannot answer by adding up whole numbers, shape by shape: how many shapes of a family hold and fail for each
number of pages, which of them enough sites prove, and only for those what each site says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from undust.learning.generic import BY
from undust.rules import Rule
from undust.rules.language import ANY_SITE
from undust.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.learning.generic import SiteTally
    from undust.learning.requirements import Requirements
    from undust.rules.language import Kind

_QUIET = 1 / 3
"""This share of the URLs that a rule changes must become a form that was observed on the site; where most
are sent to forms that were not observed, they may not exist on the next site."""


class SharedShape(NamedTuple):
    """What sites speak about: a rule without a site, and its family."""

    family: str
    kind: str
    source: str
    target: str

    @property
    def rule(self) -> Rule:
        """The rule for all sites, without evidence."""
        return Rule(ANY_SITE, cast("Kind", self.kind), self.source, self.target, learned_by=BY)


class SiteVote(NamedTuple):
    """What the tally of one site counts for: whole numbers, whose sums no order and no engine changes."""

    holds: int
    """Pages for which it holds there, as far as they count …"""
    fails: int
    """… or for which it fails; divided by `min_support`, the part of a site that it counts as."""
    proves: int
    opposes: int


class ShapeSums(NamedTuple):
    """What all sites say of a shape together."""

    shape: SharedShape
    holds: int
    fails: int
    proved: int
    saves: int
    """On the sites that do not oppose it."""


class ShapeTable(Protocol):
    """What sites say of shapes, wherever it lies; it is asked for shapes, never for all sites."""

    def families(self) -> Mapping[str, Mapping[tuple[int, int], int]]:
        """Return by family how many shapes hold and fail for each number of pages."""

    def proved(self, sites: int) -> Iterable[ShapeSums]:
        """Return the shapes that at least this many sites prove."""

    def tallies(self, shapes: Sequence[SharedShape]) -> Iterator[SiteTally]:
        """Yield what each site says of these shapes, in the order of the shapes and then of the sites."""


class HeldShapes:
    """The table of a few sites, in memory."""

    def __init__(self, shown: Iterable[SiteTally], requirements: Requirements) -> None:
        self._by_shape: dict[SharedShape, list[SiteTally]] = defaultdict(list)
        for each in sorted(shown):
            self._by_shape[shape_of(each)].append(each)
        self._sums = [_sums(shape, sites, requirements) for shape, sites in self._by_shape.items()]

    def families(self) -> Mapping[str, Mapping[tuple[int, int], int]]:
        """Return by family how many shapes hold and fail for each number of pages."""
        found: dict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
        for each in self._sums:
            found[each.shape.family][each.holds, each.fails] += 1
        return found

    def proved(self, sites: int) -> Iterable[ShapeSums]:
        """Return the shapes that at least this many sites prove."""
        return [each for each in self._sums if each.proved >= sites]

    def tallies(self, shapes: Sequence[SharedShape]) -> Iterator[SiteTally]:
        """Yield what each site says of these shapes."""
        return (each for shape in shapes for each in self._by_shape[shape])


def _sums(shape: SharedShape, sites: Iterable[SiteTally], requirements: Requirements) -> ShapeSums:
    votes = [(each, vote_of(each, requirements)) for each in sites]
    holds, fails, proved, _ = (sum(column) for column in zip(*(vote for _, vote in votes), strict=True))
    return ShapeSums(shape, holds, fails, proved, sum(each.saved for each, vote in votes if not vote.opposes))


def shape_of(shown: SiteTally) -> SharedShape:
    """Return what a site speaks about."""
    return SharedShape(shown.family, shown.kind, shown.source, shown.target)


def vote_of(shown: SiteTally, requirements: Requirements) -> SiteVote:
    """Return what one site counts for."""
    holds = fails = 0
    if shown.lost and _at_least(shown.lost, shown.lost + shown.pages) > requirements.max_fpr:
        fails = min(requirements.min_support, shown.lost)
    elif _is_quiet(shown):
        holds = min(requirements.min_support, shown.pages)
    return SiteVote(holds, fails, int(proves(shown, requirements)), int(opposes(shown, requirements)))


def proves(shown: SiteTally, requirements: Requirements) -> bool:
    """Return whether one site proves a shape."""
    return _is_quiet(shown) and shown.pages >= requirements.min_support and not opposes(shown, requirements)


def opposes(shown: SiteTally, requirements: Requirements) -> bool:
    """Return whether a site's own pages contradict a shape there; a little doubt is enough."""
    return _is_above(shown.lost, shown.pages, requirements) or _is_above(
        shown.own_lost, shown.own_pages, requirements
    )


def _is_quiet(shown: SiteTally) -> bool:
    return shown.saved >= _QUIET * shown.moved


def _is_above(lost: int, pages: int, requirements: Requirements) -> bool:
    return lost > requirements.max_fpr * (lost + pages)


@lru_cache(1 << 16)
def _at_least(lost: int, seen: int) -> float:
    return interval(lost, seen)[0]
