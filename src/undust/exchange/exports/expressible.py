"""Which rules of a set a target with regular expressions can say, and in which order.

A rule is left out if it cannot be said, if it might never come to an end, or if a `keep` before it was left
out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports import ending, parts
from undust.exchange.exports.circles import Circles
from undust.exchange.exports.contract import ExportRefusal
from undust.exchange.exports.intermediate_states import Before, without_half_done
from undust.exchange.exports.overlap import EVERYTHING, image, may_meet
from undust.exchange.exports.parts import Parts
from undust.exchange.exports.replacing import replaced
from undust.exchange.exports.shields import LostKeeps
from undust.exchange.exports.statements import ExpressedRule, by_site, in_order
from undust.exchange.exports.steps import compiled
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.rules import Rule

_MOST_NAMED = 20
"""Rules of a circle that a reason names."""
CHANGES_KEY_ONLY = "it changes the key of a URL, not the URL"
_TOO_EARLY = "it is for comparing only, and rules behind it may have to act before it; move it behind them"
_CIRCLE = "it is not certain that {} to an end, and a URL must not go round in circles"


def said(
    rules: Sequence[ExportedRule], *, lean: bool = False
) -> tuple[list[ExpressedRule], list[ExportRefusal]]:
    """Return the rules that can be said, in the order in which they are tried, and the others."""
    refused: list[ExportRefusal] = []
    found: list[ExpressedRule] = []
    lost_keeps = LostKeeps()
    every_site = Before()
    sites: defaultdict[str, Before] = defaultdict(Before)
    for each in in_order(rules):
        try:
            each.require_taken()
            lost_keeps.require_none_for(each)
            before = every_site if each.rule.site == ANY_SITE else sites[each.rule.site]
            found.append(_said(each, before, lean=lean))
            every_site.add(found[-1])
            sites[each.rule.site].add(found[-1])
        except CannotExpress as error:
            refused.append(ExportRefusal(each.number, each.rule, str(error)))
            if each.rule.kind == "keep":
                lost_keeps.add(each)
    return _ending(_fetched_first(found, refused), refused), refused


def _fetched_first(found: list[ExpressedRule], refused: list[ExportRefusal]) -> list[ExpressedRule]:
    """Return the rules without those for comparing only that act before a rule that is fetched.

    A key starts from the canonical URL, and a target starts from the URL. Both give the same if no rule for
    comparing acts on a URL that is not canonical yet.
    """
    gone: set[int] = set()
    for places in by_site(found):
        own = [found[place] for place in places if found[place].image is not None]
        for place, each in enumerate(own):
            later = [other for other in own[place + 1 :] if other.rule.fetch]
            if not each.rule.fetch and any(may_meet(each.source, other.source) for other in later):
                gone.add(each.numbered.number)
    refused += [
        ExportRefusal(each.numbered.number, each.rule, _TOO_EARLY)
        for each in found
        if each.numbered.number in gone
    ]
    return [each for each in found if each.numbered.number not in gone]


def _ending(found: list[ExpressedRule], refused: list[ExportRefusal]) -> list[ExpressedRule]:
    """Return the rules that come to an end, site by site; the others are added to the refused."""
    gone: set[int] = set()
    for places in by_site(found):
        own = [found[place] for place in places if found[place].numbered.number not in gone]
        for last, circle in Circles([each for each in own if each.image is not None]).broken():
            gone.add(last.numbered.number)
            numbers = sorted(each.numbered.number for each in circle)
            refused.append(ExportRefusal(last.numbered.number, last.rule, _CIRCLE.format(_named(numbers))))
    return [each for each in found if each.numbered.number not in gone]


def _named(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"rule {numbers[0]} comes"
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return f"rules {shown}{more} together come"


def _said(each: ExportedRule, before: Before, *, lean: bool) -> ExpressedRule:
    rule = each.rule
    if ":any}" in (rule.target or ""):
        raise CannotExpress(CHANGES_KEY_ONLY)
    if rule.kind == "replace":
        touched = Parts(parts.TEXT, (parts.ANY_SEGMENT,))
        return ExpressedRule(
            each, replaced(rule, lean=lean), EVERYTHING, None, EVERYTHING, touched, touched | _asked(rule)
        )
    source = Pattern.parse(rule.source)
    target = None if rule.target is None else Pattern.parse(rule.target)
    written = None if target is None else image(source, target)
    touched = parts.NOTHING if target is None else parts.touched(source, target)
    watched = touched | parts.watched([source]) | _asked(rule)
    result = ExpressedRule(each, compiled(rule, lean=lean), source, target, written, touched, watched)
    return without_half_done(_without_idle_checks(result), before)


def _asked(rule: Rule) -> Parts:
    return parts.watched(Pattern.parse(text, is_condition=True) for text in (*rule.when, *rule.unless))


def _without_idle_checks(found: ExpressedRule) -> ExpressedRule:
    """Remove the check that a URL changes, where it surely does."""
    if found.target is None:
        return found
    sides = (found.source, found.target)
    shrinks = any(
        (delta := measure(sides)) is not None and delta < 0 for measure in (ending.parameters, ending.length)
    )
    if ending.is_idle_at_root(sides):
        return found
    if found.matches_own_result and not shrinks:
        return found
    steps, single = (
        tuple(replace(step, may_stay=False) for step in some)
        for some in (found.compiled.steps, found.compiled.one_by_one)
    )
    return replace(found, compiled=replace(found.compiled, steps=steps, one_by_one=single))


def without(
    found: Sequence[ExpressedRule], require: Callable[[ExpressedRule], None]
) -> tuple[list[ExpressedRule], list[ExportRefusal]]:
    """Return the rules without those that a target refuses, and those behind a `keep` that it refuses."""
    left: list[ExpressedRule] = []
    refused: list[ExportRefusal] = []
    lost_keeps = LostKeeps()
    for each in found:
        try:
            lost_keeps.require_none_for(each.numbered)
            require(each)
            left.append(each)
        except CannotExpress as error:
            refused.append(ExportRefusal(each.numbered.number, each.rule, str(error)))
            if each.rule.kind == "keep":
                lost_keeps.add(each.numbered)
    return left, refused
