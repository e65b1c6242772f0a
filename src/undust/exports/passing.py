"""Rules in an order in which one pass does what the canonicalizer does in many steps.

Some systems apply each expression once, from top to bottom, and never start again. One pass is enough if a
rule stands behind all rules on whose results it may act, and rules that may act on the same URL keep the
order of the file: whatever the canonicalizer would do next then lies ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exports.contract import Refusal
from undust.exports.dialects import shield
from undust.exports.meeting import may_meet
from undust.exports.selection import may_wake, share_sites

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exports.selection import Said

TURNS = 8
"""How often a rule that may act on its own result is written."""
ONCE_EACH = (
    "http(s) URLs in standard form, on which no rule has to act more than eight times; any other spelling is"
    " left alone"
)
_BOTH = "it would have to stand before and behind rule {}, and each rule is applied once"


def in_one_pass(found: Sequence[Said]) -> tuple[list[Said], list[Refusal]]:
    """Return rules in such an order, without those for which there is none."""
    left = list(found)
    refused: list[Refusal] = []
    while True:
        ordered, circle = _sorted([each for each in left if each.image is not None], left)
        if not circle:
            return ordered, refused
        # Of a `replace` the least is known, so that it stands in the way of others most often.
        last = next((each for each in reversed(circle) if each.rule.kind == "replace"), circle[-1])
        left.remove(last)
        other = next(each for each in circle if each is not last)
        refused.append(Refusal(last.numbered.number, last.rule, _BOTH.format(other.numbered.number)))


def _sorted(rules: list[Said], found: Sequence[Said]) -> tuple[list[Said], list[Said]]:
    """Return the rules sorted, or rules that would have to stand before each other."""
    behind = _orders(rules, found)
    ordered: list[int] = []
    waiting = list(range(len(rules)))
    while ready := [place for place in waiting if behind[place] <= set(ordered)][:1]:
        ordered += ready
        waiting.remove(ready[0])
    return [rules[place] for place in ordered], [rules[place] for place in _circle(waiting, behind)]


def _circle(waiting: list[int], behind: list[set[int]]) -> list[int]:
    """Return some of those that wait, each for the next and the last for the first."""
    way: list[int] = []
    place = waiting[0] if waiting else -1
    while waiting and place not in way:
        way.append(place)
        place = min(behind[place] & set(waiting))
    return sorted(way[way.index(place) :]) if way else []


def _orders(rules: list[Said], found: Sequence[Said]) -> list[set[int]]:
    """Return for each rule those that must stand before it."""
    woken = [
        {
            later
            for later, other in enumerate(rules)
            if share_sites(each.rule, other.rule) and may_wake(each, other)
        }
        for each in rules
    ]
    behind: list[set[int]] = [set() for _ in rules]
    for place, awake in enumerate(woken):
        for later in awake - {place}:
            behind[later].add(place)
    keeps = [_keeps_before(each, found) for each in rules]
    for place, each in enumerate(rules):
        for later in range(place + 1, len(rules)):
            other = rules[later]
            if not share_sites(each.rule, other.rule) or not may_meet(each.source, other.source):
                continue
            followers = {later} | _reached(later, woken)
            if any(not _are_apart(rules, keeps, place, follower) for follower in followers):
                behind[later].add(place)
    return behind


def _reached(start: int, woken: list[set[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [start]
    while waiting:
        new = woken[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _are_apart(rules: list[Said], keeps: list[list[Said]], one: int, other: int) -> bool:
    """Whether two rules do the same in either order: neither they nor their keeps look at each other."""
    for first, second in ((one, other), (other, one)):
        touches = rules[first].touches
        watched = [rules[second].watches, *(keep.watches for keep in keeps[second])]
        if any(touches.meet(watches) for watches in watched):
            return False
    return one != other


def _keeps_before(each: Said, found: Sequence[Said]) -> list[Said]:
    before = found[: found.index(each)]
    return [keep for keep in before if keep.image is None and share_sites(keep.rule, each.rule)]


def shields_of(each: Said, found: Sequence[Said]) -> str:
    """Return look aheads that keep a rule away from what the keeps before it keep."""
    return "".join(shield(step) for keep in _keeps_before(each, found) for step in keep.steps)
