"""Rules in an order in which one pass does what the canonicalizer does in many steps.

Some systems apply each expression once, from top to bottom, and never start again. One pass is enough if a
rule stands behind all rules on whose results it may act, and rules that may act on the same URL keep the
order of the file: whatever the canonicalizer would do next then lies ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports.contract import ExportRefusal
from undust.exchange.exports.dialects import shield
from undust.exchange.exports.overlap import may_meet
from undust.exchange.exports.rule_order import may_wake
from undust.exchange.exports.statements import by_site, share_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.statements import ExpressedRule

TURNS = 8
"""How often a rule that may act on its own result is written."""
ONCE_EACH = (
    "http(s) URLs in standard form, on which no rule has to act more than eight times; any other spelling is"
    " left alone"
)
_BOTH = "it would have to stand before and behind rule {}, and each rule is applied once"


def in_one_pass(found: Sequence[ExpressedRule]) -> tuple[list[ExpressedRule], list[ExportRefusal]]:
    """Return rules in such an order, without those for which there is none."""
    left = list(found)
    refused: list[ExportRefusal] = []
    while True:
        ordered, circle = _sorted([each for each in left if each.image is not None], left)
        if not circle:
            return ordered, refused
        # Of a `replace` the least is known, so that it stands in the way of others most often.
        last = next((each for each in reversed(circle) if each.rule.kind == "replace"), circle[-1])
        left = [each for each in left if each is not last]
        other = next(each for each in circle if each is not last)
        refused.append(ExportRefusal(last.numbered.number, last.rule, _BOTH.format(other.numbered.number)))


def _sorted(
    rules: list[ExpressedRule], found: Sequence[ExpressedRule]
) -> tuple[list[ExpressedRule], list[ExpressedRule]]:
    """Return the rules sorted, or rules that would have to stand before each other."""
    behind = _orders(rules, found)
    waiting = set(range(len(rules)))
    ordered: list[int] = []
    while waiting:
        ready = [place for place in sorted(waiting) if behind[place].isdisjoint(waiting)]
        if not ready:
            break
        ordered += ready
        waiting.difference_update(ready)
    return [rules[place] for place in ordered], [rules[place] for place in _circle(sorted(waiting), behind)]


def _circle(waiting: list[int], behind: list[set[int]]) -> list[int]:
    """Return some of those that wait, each for the next and the last for the first."""
    way: list[int] = []
    place = waiting[0] if waiting else -1
    while waiting and place not in way:
        way.append(place)
        place = min(behind[place] & set(waiting))
    return sorted(way[way.index(place) :]) if way else []


def _orders(rules: list[ExpressedRule], found: Sequence[ExpressedRule]) -> list[set[int]]:
    """Return for each rule those that must stand before it."""
    behind: list[set[int]] = [set() for _ in rules]
    keeps = _keeps_before(found)
    for places in by_site(rules):
        woken = {
            place: {later for later in places if later != place and may_wake(rules[place], rules[later])}
            for place in places
        }
        for place in places:
            for later in woken[place]:
                behind[later].add(place)
        for later in places:
            followers = {later} | _reached(later, woken)
            for place in places:
                if place >= later or place in behind[later]:
                    continue
                if may_meet(rules[place].source, rules[later].source) and any(
                    not _are_apart(rules[place], rules[follower], keeps) for follower in followers
                ):
                    behind[later].add(place)
    return behind


def _reached(start: int, woken: dict[int, set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        new = woken[waiting.pop()] - found
        found |= new
        waiting += new
    return found


Keeps = dict[int, list["ExpressedRule"]]
"""The keeps before each rule, by the number of the rule."""


def _are_apart(one: ExpressedRule, other: ExpressedRule, keeps: Keeps) -> bool:
    """Whether two rules do the same in either order: neither they nor their keeps look at each other."""
    for first, second in ((one, other), (other, one)):
        watched = [second.watches, *(keep.watches for keep in keeps[second.numbered.number])]
        if any(first.touches.meet(watches) for watches in watched):
            return False
    return one is not other


def _keeps_before(found: Sequence[ExpressedRule]) -> Keeps:
    seen: list[ExpressedRule] = []
    keeps: Keeps = {}
    for each in found:
        keeps[each.numbered.number] = [keep for keep in seen if share_sites(keep.rule, each.rule)]
        seen += [each] if each.image is None else []
    return keeps


def shields(found: Sequence[ExpressedRule]) -> dict[int, str]:
    """Return for each rule, by its number, look aheads for what the keeps before it keep."""
    return {
        number: "".join(shield(step) for keep in keeps for step in keep.steps)
        for number, keeps in _keeps_before(found).items()
    }
