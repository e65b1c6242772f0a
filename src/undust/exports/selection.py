"""Which rules of a set a target with regular expressions can say, and in which order.

A rule is left out if it cannot be said, if it might never come to an end, or if a `keep` before it was left
out. What steps do between two states of a URL must not wake another rule: a run of parameters that is
dropped at once, or a value that is made ready to move, is a state that the rules themselves do not have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exports import ending, parts
from undust.exports.contract import Numbered, Refusal
from undust.exports.literals import query_literal
from undust.exports.meeting import EVERYTHING, image, is_listed, may_meet
from undust.exports.parts import Parts
from undust.exports.replacing import replaced, texts
from undust.exports.steps import Compiled, compiled
from undust.rules.language import ANY_SITE
from undust.rules.pattern import ANY_NUMBER, Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.exports.steps import Step
    from undust.rules import Rule

MASK = "it changes the key of a URL, not the URL"
_SHIELD = "the keep of rule {} is left out, and this rule would act on what it keeps"
_CIRCLE = "it is not certain that {} come to an end, and a URL must not go round in circles"
_BETWEEN = "rule {} may act on a URL that is half done"


@dataclass(frozen=True)
class Said:
    """A rule that the target can say: its steps, and which rules may act on its result."""

    numbered: Numbered
    compiled: Compiled
    source: Pattern
    image: Pattern | None
    """What it can write; None for a `keep`."""
    touches: Parts
    """The parts of a URL that it may change."""
    watches: Parts
    """The parts of a URL that decide whether it acts, keeps aside."""

    @property
    def rule(self) -> Rule:
        """The rule itself."""
        return self.numbered.rule

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in the order in which they are tried."""
        return (*self.compiled.escaping, *self.compiled.steps)

    @property
    def acts_on_own_result(self) -> bool:
        """Whether the rule may have to act again on what it wrote."""
        return self.image is not None and may_meet(self.image, self.source)


def in_order(rules: Iterable[Numbered]) -> list[Numbered]:
    """Return rules as they are tried: those of sites first, each in the order of the file."""
    return sorted(rules, key=lambda each: each.rule.site == ANY_SITE)


def share_sites(first: Rule, second: Rule) -> bool:
    """Whether some URL is of concern to both rules."""
    return ANY_SITE in {first.site, second.site} or first.site == second.site


def said(rules: Sequence[Numbered], *, lean: bool = False) -> tuple[list[Said], list[Refusal]]:
    """Return the rules that can be said, in the order in which they are tried, and the others."""
    refused: list[Refusal] = []
    found: list[Said] = []
    lost_keeps: list[Numbered] = []
    for each in in_order(rules):
        try:
            require_shield(each, lost_keeps)
            found.append(_said(each, found, lean=lean))
        except CannotExpress as error:
            refused.append(Refusal(each.number, each.rule, str(error)))
            lost_keeps += [each] if each.rule.kind == "keep" else []
    while endless := _endless(found):
        last = endless[-1]
        found.remove(last)
        numbers = sorted(each.numbered.number for each in endless)
        names = (
            f"rule {numbers[0]}" if len(numbers) == 1 else f"rules {', '.join(map(str, numbers))} together"
        )
        reason = _CIRCLE.format(names).replace("come", "comes" if len(numbers) == 1 else "come")
        refused.append(Refusal(last.numbered.number, last.rule, reason))
    return found, refused


def _said(each: Numbered, before: Sequence[Said], *, lean: bool) -> Said:
    rule = each.rule
    if ":any}" in (rule.target or ""):
        raise CannotExpress(MASK)
    if rule.kind == "replace":
        touched = Parts(parts.TEXT, (parts.ANY_SEGMENT,))
        return Said(each, replaced(rule, lean=lean), EVERYTHING, EVERYTHING, touched, touched | _asked(rule))
    source = Pattern.parse(rule.source)
    target = None if rule.target is None else Pattern.parse(rule.target)
    written = None if target is None else image(source, target)
    touched = parts.NOTHING if target is None else parts.touched(source, target)
    watched = touched | parts.watched([source]) | _asked(rule)
    result = Said(each, compiled(rule, lean=lean), source, written, touched, watched)
    return _without_half_done(_without_idle_checks(result), before)


def _asked(rule: Rule) -> Parts:
    return parts.watched(Pattern.parse(text, is_condition=True) for text in (*rule.when, *rule.unless))


def _without_idle_checks(found: Said) -> Said:
    """Take away the check that a URL changes, where it surely does."""
    if found.image is None:
        return found
    sides = (found.source, Pattern.parse(found.rule.target or ""))
    shrinks = any(
        (delta := measure(sides)) is not None and delta < 0 for measure in (ending.parameters, ending.length)
    )
    if ending.is_idle_at_root(sides):
        return found
    if found.acts_on_own_result and not shrinks:
        return found
    steps, single = (
        tuple(replace(step, may_stay=False) for step in some)
        for some in (found.compiled.steps, found.compiled.one_by_one)
    )
    return replace(found, compiled=replace(found.compiled, steps=steps, one_by_one=single))


def _without_half_done(found: Said, before: Sequence[Said]) -> Said:
    """Make sure that no rule before, nor the rule's own conditions, can tell a half done URL from another."""
    made = found.compiled
    if made.dropped is None and made.moved is None:
        return found
    earlier = [each for each in before if share_sites(each.rule, found.rule)]
    names = made.dropped.names if made.dropped else (query_literal(made.moved or ""),)
    number = next(
        (
            each.numbered.number
            for each in earlier
            if may_meet(each.source, found.source) and _looks_at(each, names, values=made.dropped is None)
        ),
        None,
    )
    if number is None and not _conditions_look_at(found.rule, names, values=made.dropped is None):
        return found
    if made.one_by_one:
        return replace(found, compiled=replace(made, steps=made.one_by_one, dropped=None))
    raise CannotExpress(_BETWEEN.format(found.numbered.number if number is None else number))


def _looks_at(each: Said, names: tuple[str, ...], *, values: bool) -> bool:
    """Whether a rule can tell if such a parameter is there, or with `values`, what its value is."""
    if each.rule.kind == "replace":
        # Neither a dropped parameter nor a triplet in a value can make such a text appear.
        return not frozenset("&?+%=").isdisjoint(each.rule.source)
    return _names(each.source, names, values=values) or _conditions_look_at(each.rule, names, values=values)


def _conditions_look_at(rule: Rule, names: tuple[str, ...], *, values: bool) -> bool:
    patterns = (Pattern.parse(text, is_condition=True) for text in (*rule.when, *rule.unless))
    return any(_names(pattern, names, values=values) for pattern in patterns)


def _names(pattern: Pattern, names: tuple[str, ...], *, values: bool) -> bool:
    for entry in pattern.query or ():
        if entry.several is None:
            is_blind = values and entry.value == ANY_NUMBER
            if not is_blind and is_listed(entry.name, "|".join(names)):
                return True
            continue
        others = () if values else (entry.several.detail or "").split("|")
        if any(_lists_meet(name, other) for name in names for other in others if other):
            return True
    return False


def _lists_meet(first: str, second: str) -> bool:
    one, other = first.removesuffix("*"), query_literal(second.removesuffix("*"))
    if first.endswith("*"):
        return other.startswith(one) or (second.endswith("*") and one.startswith(other))
    return is_listed(one, second)


def edges_between(found: Sequence[Said]) -> list[frozenset[int]]:
    """Return for each rule the rules that may act on its result, itself included."""
    return [
        frozenset(
            later for later, other in enumerate(found) if _may_follow(each, other, is_before=later < place)
        )
        for place, each in enumerate(found)
    ]


def _may_follow(each: Said, other: Said, *, is_before: bool) -> bool:
    """Whether `other` may act on the result of `each`.

    If it is tried before, it had nothing to do until then; and no `keep` before both kept it from acting.
    """
    if each.image is None or not share_sites(each.rule, other.rule):
        return False
    return may_wake(each, other) if is_before else may_meet(each.image, other.source)


def may_wake(each: Said, other: Said) -> bool:
    """Whether `other` may act on the result of `each`, and had nothing to do before."""
    if each.image is None or not each.touches.meet(_without_safe(each, other)):
        return False
    return may_meet(each.image, other.source)


def _without_safe(each: Said, other: Said) -> Parts:
    """Return what `other` watches; not the query, if it needs parameters and `each` only takes some away."""
    if each.rule.kind != "rewrite" or other.rule.kind != "rewrite":
        return other.watches
    takes_away = all(entry.several is not None for entry in Pattern.parse(each.rule.target or "").query or ())
    conditions = [Pattern.parse(text, is_condition=True) for text in other.rule.unless]
    needs_more = other.source.is_open and all(not pattern.query for pattern in conditions)
    shrinks = (ending.parameters((other.source, Pattern.parse(other.rule.target or ""))) or 0) < 0
    if takes_away and needs_more and shrinks:
        return replace(other.watches, names=other.watches.names - {"query"})
    return other.watches


def _endless(found: Sequence[Said]) -> list[Said]:
    writing = [each for each in found if each.image is not None]
    sides = [_sides(each) for each in writing]
    return [writing[place] for place in ending.endless(sides, edges_between(writing))]


def _sides(found: Said) -> ending.Sides | ending.TextSides:
    if found.rule.kind == "replace":
        return ending.TextSides(*texts(found.rule))
    return found.source, Pattern.parse(found.rule.target or "")


def without(found: Sequence[Said], require: Callable[[Said], None]) -> tuple[list[Said], list[Refusal]]:
    """Return the rules without those that a target refuses, and those behind a `keep` that it refuses."""
    left: list[Said] = []
    refused: list[Refusal] = []
    lost_keeps: list[Numbered] = []
    for each in found:
        try:
            require_shield(each.numbered, lost_keeps)
            require(each)
            left.append(each)
        except CannotExpress as error:
            refused.append(Refusal(each.numbered.number, each.rule, str(error)))
            lost_keeps += [each.numbered] if each.rule.kind == "keep" else []
    return left, refused


def require_shield(each: Numbered, lost_keeps: Sequence[Numbered]) -> None:
    """Refuse a rule that stands behind a `keep` which was left out."""
    source = EVERYTHING if each.rule.kind == "replace" else Pattern.parse(each.rule.source)
    for keep in lost_keeps:
        if share_sites(keep.rule, each.rule) and may_meet(Pattern.parse(keep.rule.source), source):
            raise CannotExpress(_SHIELD.format(keep.number))
