"""States of a URL that the steps of one rule have, and the rule itself does not.

A run of parameters that is dropped at once, or a value that is made ready to move, leaves out or adds states
between two URLs. No other rule that is tried before may distinguish them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.literals import query_literal
from undust.exchange.exports.overlap import is_listed, may_meet
from undust.rules.pattern import ANY_NUMBER, Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.statements import ExpressedRule
    from undust.rules import Rule

_BETWEEN = "rule {} may act on a URL that is half done"


class Before:
    """The rules that are tried before another one, by the names of the parameters that they look at."""

    def __init__(self) -> None:
        self._all: list[ExpressedRule] = []
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        self._wide: list[int] = []
        """Rules that look at any number of names, or at the text of the query."""

    def add(self, each: ExpressedRule) -> None:
        """Remember a rule."""
        place = len(self._all)
        self._all.append(each)
        names = _names_in(each)
        if names is None:
            self._wide.append(place)
        else:
            for name in names:
                self._named[name].append(place)

    def looking_at(self, names: Sequence[str]) -> list[ExpressedRule]:
        """Return the rules that may look at some of these parameters, in order."""
        if any(name.endswith("*") for name in names):
            return self._all
        places = {place for name in names for place in self._named.get(name, ())}
        return [self._all[place] for place in sorted(places.union(self._wide))]


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
            for each in before.looking_at(names)
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
