"""Which rule may act on what another one wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.exchange.exports.index import PathIndex
from undust.exchange.exports.overlap import may_meet
from undust.exchange.exports.parts import _HEAD, TAIL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.exchange.exports.parts import Parts
    from undust.exchange.exports.statements import ExpressedRule

_PATH = frozenset({_HEAD, TAIL})
_MANY = 150
"""If an index returns this many rules, all of them count as enabled, without a check of each."""


class Following:
    """The rules of one site that write, in order, and which may act on what another one wrote.

    A URL can only go round in circles if some rule wakes one that is tried before it. So all else that may
    follow is found only for rules between two such, and every rule is compared with what an index gives.
    """

    def __init__(self, rules: Sequence[ExpressedRule]) -> None:
        self.rules = rules
        self._texts = [place for place, each in enumerate(rules) if each.target is None]
        self._alike = frozenset(
            place for place in self._texts if not rules[place].rule.when and not rules[place].rule.unless
        )
        """Rules that replace a text wherever it stands: all of them are woken by the same."""
        self._buckets: dict[tuple[frozenset[str], bool, bool], PathIndex] = {}
        for place, each in enumerate(rules):
            if each.target is not None:
                kind = (each.watches.names, each.needs_parameters, each.settles)
                self._buckets.setdefault(kind, PathIndex()).add(each.source, place)
        self._woken_by_text: frozenset[int] | None = None
        self.woken = [self._woken(place) for place in range(len(rules))]
        """For each rule those that it may wake, itself aside."""

    def _woken(self, place: int) -> frozenset[int]:
        each = self.rules[place]
        if each.target is None:
            # All such rules may write anything, so they wake the same.
            if self._woken_by_text is None:
                self._woken_by_text = frozenset(
                    later for later, other in enumerate(self.rules) if may_wake(each, other)
                )
            return self._woken_by_text - {place}
        alike = next(iter(self._alike), None)
        texts = self._alike if alike is not None and may_wake(each, self.rules[alike]) else frozenset()
        found = [*(other for other in self._texts if other not in self._alike), *self._may_be_woken(each)]
        if len(found) > _MANY:
            return texts.union(found) - {place}
        return texts | {other for other in found if other != place and may_wake(each, self.rules[other])}

    def _may_be_woken(self, each: ExpressedRule) -> Iterator[int]:
        if each.image is None:
            return
        for (names, needs_parameters, settles), index in self._buckets.items():
            is_safe = each.only_takes_parameters and needs_parameters and not settles
            watched = names - {"query"} if is_safe else names
            if each.touches.names & watched or (each.touches.names & _PATH and watched & _PATH):
                yield from index.candidates(each.image)

    def wakes_before(self, place: int) -> bool:
        """Whether a rule may wake one that is tried before it."""
        return min(self.woken[place], default=place) < place

    def blocks(self) -> list[range]:
        """Return the stretches of rules in which some rule wakes one that is tried before it."""
        found: list[range] = []
        for place, woken in enumerate(self.woken):
            first = min(woken, default=place)
            if first >= place:
                continue
            while found and found[-1].stop > first:
                first = min(first, found.pop().start)
            found.append(range(first, place + 1))
        return found

    def edges(self) -> list[frozenset[int]]:
        """Return for each rule those that may act on its result, as far as circles depend on it."""
        edges = [
            frozenset({place} if each.acts_on_own_result else ()) for place, each in enumerate(self.rules)
        ]
        for block in self.blocks():
            for place in block:
                edges[place] |= self._following(place, block)
        return edges

    def _following(self, place: int, block: range) -> frozenset[int]:
        each = self.rules[place]
        before = {other for other in self.woken[place] if block.start <= other < place}
        behind = range(place + 1, block.stop)
        if each.target is None:
            return frozenset({*before, *behind})
        image = each.image or each.source
        found = [other for index in self._buckets.values() for other in index.candidates(image)]
        return frozenset(
            {
                *before,
                *(other for other in self._texts if other in behind),
                *(other for other in found if other in behind and may_meet(image, self.rules[other].source)),
            }
        )


def may_wake(each: ExpressedRule, other: ExpressedRule) -> bool:
    """Whether `other` may act on the result of `each`, and had nothing to do before."""
    if each.image is None or not each.touches.meet(_without_safe(each, other)):
        return False
    return may_meet(each.image, other.source)


def _without_safe(each: ExpressedRule, other: ExpressedRule) -> Parts:
    """Return what `other` watches; not the query, if it needs parameters and `each` only takes some away."""
    # If `other` moves a parameter to the front, taking that one away lets another take its place.
    is_safe = each.only_takes_parameters and other.needs_parameters
    if is_safe and (not other.settles or each.takes_none_of(other)):
        return replace(other.watches, names=other.watches.names - {"query"})
    return other.watches
