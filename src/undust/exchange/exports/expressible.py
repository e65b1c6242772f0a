"""Which rules of a set a target with regular expressions can express, and in which order.

A rule is left out if it cannot be said, if it might never come to an end, or if a `keep` before it was left
out. It is left out, too, if its steps have states of a URL that the rule itself does not have, and a rule
that is tried before may distinguish them: a run of parameters that is removed at once, or a value that is
made ready to move, leaves out or adds states between two URLs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports import ending, statements
from undust.exchange.exports.contract import ExportRefusal
from undust.exchange.exports.expressions import query_literal
from undust.exchange.exports.overlap import EVERYTHING, PathIndex, image, is_listed, may_meet
from undust.exchange.exports.replacing import replaced
from undust.exchange.exports.rule_order import Circles, LostKeeps
from undust.exchange.exports.statements import ExpressedRule, Parts, by_site, in_order
from undust.exchange.exports.steps import compiled
from undust.rules.language import ANY_SITE
from undust.rules.pattern import ANY_NUMBER, Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.rules import Rule

_FEW = 20
"""At most this many rules are compared without asking an index."""
_BETWEEN = "rule {} may act on a URL that is half done"


class Before:
    """The rules that are tried before another one, by the names of the parameters that they look at."""

    def __init__(self) -> None:
        self._all: list[ExpressedRule] = []
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        self._wide: list[int] = []
        """Rules that look at any number of names, or at the text of the query."""
        self._index = PathIndex()

    def add(self, each: ExpressedRule) -> None:
        """Remember a rule."""
        place = len(self._all)
        self._all.append(each)
        self._index.add(each.source, place)
        names = _names_in(each)
        if names is None:
            self._wide.append(place)
        else:
            for name in names:
                self._named[name].append(place)

    def looking_at(self, names: Sequence[str], source: Pattern) -> Iterator[ExpressedRule]:
        """Yield the rules that may look at some of these parameters of a URL of a pattern, in order."""
        if any(name.endswith("*") for name in names):
            places: Collection[int] = range(len(self._all))
        else:
            places = {place for name in names for place in self._named.get(name, ())}.union(self._wide)
        if len(places) > _FEW:
            places = set(self._index.candidates(source)).intersection(places)
        return (self._all[place] for place in sorted(places))


def _names_in(each: ExpressedRule) -> set[str] | None:
    """Return the names of parameters that a rule looks at, or None if they cannot be written out."""
    if each.rule.kind == "replace" and _looks_at(each, (), values=False):
        return None
    conditions = (Pattern.parse(text, is_condition=True) for text in (*each.rule.when, *each.rule.unless))
    names: set[str] = set()
    sources = () if each.rule.kind == "replace" else (each.source,)
    for pattern in (*sources, *conditions):
        for entry in pattern.query or ():
            listed = (entry.several.detail or "").split("|") if entry.several else [entry.name]
            if any(name.endswith("*") for name in listed):
                return None
            names.update(query_literal(name) for name in listed if name)
    return names


def without_half_done(found: ExpressedRule, before: Before) -> ExpressedRule:
    """Make sure that no rule before, and no condition of the rule, distinguishes an intermediate URL."""
    made = found.compiled
    if made.dropped is None and made.moved is None:
        return found
    names = made.dropped.names if made.dropped else (query_literal(made.moved or ""),)
    number = next(
        (
            each.numbered.number
            for each in before.looking_at(names, found.source)
            if may_meet(each.source, found.source) and _looks_at(each, names, values=made.dropped is None)
        ),
        None,
    )
    if number is None and not _conditions_look_at(found.rule, names, values=made.dropped is None):
        return found
    if made.one_by_one:
        return replace(found, compiled=replace(made, steps=made.one_by_one, dropped=None))
    raise CannotExpress(_BETWEEN.format(found.numbered.number if number is None else number))


def _looks_at(each: ExpressedRule, names: tuple[str, ...], *, values: bool) -> bool:
    """Whether a rule depends on the presence of such a parameter, or with `values`, on its value."""
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
        touched = Parts(statements.TEXT, (statements.ANY_SEGMENT,))
        return ExpressedRule(
            each, replaced(rule, lean=lean), EVERYTHING, None, EVERYTHING, touched, touched | _asked(rule)
        )
    source = Pattern.parse(rule.source)
    target = None if rule.target is None else Pattern.parse(rule.target)
    written = None if target is None else image(source, target)
    touched = statements.NOTHING if target is None else statements.touched(source, target)
    watched = touched | statements.watched([source]) | _asked(rule)
    result = ExpressedRule(each, compiled(rule, lean=lean), source, target, written, touched, watched)
    return without_half_done(_without_idle_checks(result), before)


def _asked(rule: Rule) -> Parts:
    return statements.watched(Pattern.parse(text, is_condition=True) for text in (*rule.when, *rule.unless))


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
    """Return the rules without those that a target refuses, and those after a `keep` that it refuses."""
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
