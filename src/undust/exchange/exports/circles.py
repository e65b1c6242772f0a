"""Which rules of a site to leave out so that the others come to an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports import ending
from undust.exchange.exports.replacing import texts
from undust.exchange.exports.rule_order import Following, may_wake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undust.exchange.exports.statements import ExpressedRule

MOST_TRIED = 20
"""Rules of a circle that are tried, one by one, as the one to leave out."""
HUGE = 150
"""Among more rules that wake each other no circle is looked for: those that wake others are left out."""
_LARGE = 40
"""Of a circle of more rules many are left out at once, or the time would grow with its square."""


class Circles:
    """The rules of one site that write."""

    def __init__(self, rules: list[ExpressedRule]) -> None:
        self.rules, self._too_many = _without_too_many(rules)
        self.edges = Following(self.rules).edges()
        self.sides = {place: _sides(each) for place, each in enumerate(self.rules)}

    def broken(self) -> Iterator[tuple[ExpressedRule, list[ExpressedRule]]]:
        """Yield rules to leave out, each with the circle that it is part of."""
        for each in self._too_many:
            yield each, self._too_many
        while circle := self._endless(self.sides):
            members = [self.rules[place] for place in circle]
            for place in self._breaking(circle):
                del self.sides[place]
                yield self.rules[place], members

    def _endless(self, sides: Mapping[int, ending.Sides | ending.TextSides]) -> list[int]:
        return ending.endless(sides, self.edges, self._settled)

    def _breaking(self, circle: list[int]) -> list[int]:
        """Return the rule of a circle without which the fewest rules are left in one."""
        # Of a `replace` the least is known; of others, the last is preferred least.
        likely = sorted(circle, key=lambda place: (self._is_text(place), place), reverse=True)
        if len(circle) > _LARGE:
            return [place for place in likely if self._is_text(place)] or likely[: len(likely) // 2]
        return [min(likely[:MOST_TRIED], key=self._left_without)]

    def _is_text(self, place: int) -> bool:
        return self.rules[place].target is None

    def _left_without(self, place: int) -> int:
        sides = {other: each for other, each in self.sides.items() if other != place}
        return len(self._endless(sides))

    def _settled(self, circle: list[int]) -> list[list[int | None]]:
        """Return what each rule adds to the steps of one that is applied once, if none enables it."""
        rules = [self.rules[place] for place in circle]
        return [
            [-1 if each is rule else None if may_wake(each, rule) else 0 for each in rules]
            for rule in rules
            if rule.settles
        ]


def _sides(found: ExpressedRule) -> ending.Sides | ending.TextSides:
    return ending.TextSides(*texts(found.rule)) if found.target is None else (found.source, found.target)


def _without_too_many(rules: list[ExpressedRule]) -> tuple[list[ExpressedRule], list[ExpressedRule]]:
    """Return the rules without those that wake others in a row of too many to look for circles, and those."""
    gone: list[ExpressedRule] = []
    for is_text in (True, False):
        following = Following(rules)
        rows = [place for block in following.blocks() if len(block) > HUGE for place in block]
        out = {
            place
            for place in rows
            if (rules[place].target is None if is_text else following.wakes_before(place))
        }
        gone += [rules[place] for place in sorted(out)]
        rules = [each for place, each in enumerate(rules) if place not in out]
    return rules, gone
