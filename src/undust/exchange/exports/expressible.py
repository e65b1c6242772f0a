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
from undust.exchange.exports.contract import ExportRefusal
from undust.exchange.exports.intermediate_states import without_half_done
from undust.exchange.exports.overlap import EVERYTHING, image, may_meet
from undust.exchange.exports.parts import Parts
from undust.exchange.exports.replacing import replaced, texts
from undust.exchange.exports.rule_order import edges_between, may_wake
from undust.exchange.exports.statements import ExpressedRule, by_site, in_order, share_sites
from undust.exchange.exports.steps import compiled
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.rules import Rule

MOST_TRIED = 20
"""Rules of a circle that are tried, one by one, as the one to leave out."""
CHANGES_KEY_ONLY = "it changes the key of a URL, not the URL"
_SHIELD = "the keep of rule {} is left out, and this rule would act on what it keeps"
_CIRCLE = "it is not certain that {} to an end, and a URL must not go round in circles"


def said(
    rules: Sequence[ExportedRule], *, lean: bool = False
) -> tuple[list[ExpressedRule], list[ExportRefusal]]:
    """Return the rules that can be said, in the order in which they are tried, and the others."""
    refused: list[ExportRefusal] = []
    found: list[ExpressedRule] = []
    lost_keeps: list[ExportedRule] = []
    sites: defaultdict[str, list[ExpressedRule]] = defaultdict(list)
    for each in in_order(rules):
        try:
            require_shield(each, lost_keeps)
            before = found if each.rule.site == ANY_SITE else sites[each.rule.site]
            found.append(_said(each, before, lean=lean))
            sites[each.rule.site].append(found[-1])
        except CannotExpress as error:
            refused.append(ExportRefusal(each.number, each.rule, str(error)))
            lost_keeps += [each] if each.rule.kind == "keep" else []
    return _ending(found, refused), refused


def _ending(found: list[ExpressedRule], refused: list[ExportRefusal]) -> list[ExpressedRule]:
    """Return the rules that come to an end, site by site; the others are added to the refused."""
    gone: set[int] = set()
    for places in by_site(found):
        own = [found[place] for place in places if found[place].numbered.number not in gone]
        while circle := _endless(own):
            last = _breaking(circle, own)
            own = [each for each in own if each is not last]
            gone.add(last.numbered.number)
            numbers = sorted(each.numbered.number for each in circle)
            if len(numbers) == 1:
                what = f"rule {numbers[0]} comes"
            else:
                what = f"rules {', '.join(map(str, numbers))} together come"
            refused.append(ExportRefusal(last.numbered.number, last.rule, _CIRCLE.format(what)))
    return [each for each in found if each.numbered.number not in gone]


def _breaking(circle: list[ExpressedRule], own: list[ExpressedRule]) -> ExpressedRule:
    """Return the rule of a circle without which the fewest rules are left in one."""
    # Of a `replace` the least is known; of others, the last is preferred least.
    likely = sorted(
        circle, key=lambda each: (each.rule.kind == "replace", each.numbered.number), reverse=True
    )
    return min(
        likely[:MOST_TRIED], key=lambda each: len(_endless([other for other in own if other is not each]))
    )


def _said(each: ExportedRule, before: Sequence[ExpressedRule], *, lean: bool) -> ExpressedRule:
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
    """Take away the check that a URL changes, where it surely does."""
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


def _endless(found: Sequence[ExpressedRule]) -> list[ExpressedRule]:
    writing = [each for each in found if each.image is not None]
    sides = [_sides(each) for each in writing]
    known = [_settled(each, writing) for each in writing if each.settles]
    return [writing[place] for place in ending.endless(sides, edges_between(writing), known)]


def _settled(rule: ExpressedRule, found: Sequence[ExpressedRule]) -> list[int | None]:
    """Return what each rule adds to the turns of one that is done after its turn, if none wakes it."""
    return [-1 if each is rule else None if may_wake(each, rule) else 0 for each in found]


def _sides(found: ExpressedRule) -> ending.Sides | ending.TextSides:
    return ending.TextSides(*texts(found.rule)) if found.target is None else (found.source, found.target)


def without(
    found: Sequence[ExpressedRule], require: Callable[[ExpressedRule], None]
) -> tuple[list[ExpressedRule], list[ExportRefusal]]:
    """Return the rules without those that a target refuses, and those behind a `keep` that it refuses."""
    left: list[ExpressedRule] = []
    refused: list[ExportRefusal] = []
    lost_keeps: list[ExportedRule] = []
    for each in found:
        try:
            require_shield(each.numbered, lost_keeps)
            require(each)
            left.append(each)
        except CannotExpress as error:
            refused.append(ExportRefusal(each.numbered.number, each.rule, str(error)))
            lost_keeps += [each.numbered] if each.rule.kind == "keep" else []
    return left, refused


def require_shield(each: ExportedRule, lost_keeps: Sequence[ExportedRule]) -> None:
    """Refuse a rule that stands behind a `keep` which was left out."""
    source = EVERYTHING if each.rule.kind == "replace" else Pattern.parse(each.rule.source)
    for keep in lost_keeps:
        if share_sites(keep.rule, each.rule) and may_meet(Pattern.parse(keep.rule.source), source):
            raise CannotExpress(_SHIELD.format(keep.number))
