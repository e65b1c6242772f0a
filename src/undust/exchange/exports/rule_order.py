"""Which rule may act on what another one wrote, and which rules have to be left out because of others.

A `keep` holds the rules after it back from the URLs that it matches. If a target cannot express it, a rule
that may act on one of those URLs is left out too; a rule that cannot act there stays. In doubt, a rule may
act there. Of rules that might change a URL for ever, some are left out so that the others come to an end.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports import ending
from undust.exchange.exports.expressions import path_literal, query_literal
from undust.exchange.exports.overlap import EVERYTHING, PathIndex, may_meet
from undust.exchange.exports.replacing import texts
from undust.exchange.exports.statements import _HEAD, TAIL
from undust.rules.language import ANY_SITE
from undust.rules.pattern import ANY_NUMBER, Capture, Parameter, Pattern, is_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.statements import ExpressedRule, Parts
    from undust.rules import Rule

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
        """Rules that replace a text wherever it is: all of them are woken by the same."""
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


_REASON = "the keep of rule {} is left out, and this rule would act on what it keeps"
_OTHERS = Parameter("", several=Capture(None, is_many=True, detail=None))


MOST_KEEPS = 50
"""Keeps that are repeated for one rule, where a target has to; or a file would grow with their square."""
_FIRST = 8
"""Keeps that are tried one by one, before an index finds those near a rule."""
MANY_KEEPS = f"more than {MOST_KEEPS} keeps precede it, and here each rule repeats them"


class KeepList:
    """Keeps in the order of the file, and on which of them a rule may act."""

    def __init__(self) -> None:
        self._keeps: list[ExportedRule] = []
        self._by_site: defaultdict[str, PathIndex] = defaultdict(PathIndex)

    def add(self, keep: ExportedRule) -> None:
        """Remember a keep; the rules before it are not its concern."""
        self._by_site[keep.rule.site].add(Pattern.parse(keep.rule.source), len(self._keeps))
        self._keeps.append(keep)

    def before(self, rule: Rule) -> list[int]:
        """Return the places of the keeps on whose URLs a rule may act. Refuses a rule with too many."""
        acted_on = (place for place in self._near(rule) if may_act_on(rule, self._keeps[place].rule))
        found = sorted(islice(acted_on, MOST_KEEPS + 1))
        if len(found) > MOST_KEEPS:
            raise CannotExpress(MANY_KEEPS)
        return found

    def _near(self, rule: Rule) -> Iterator[int]:
        sites = self._by_site if rule.site == ANY_SITE else {rule.site, ANY_SITE} & self._by_site.keys()
        for site in sites:
            yield from self._by_site[site].candidates(_source(rule))


class LostKeeps(KeepList):
    """The keeps that were left out so far."""

    def require_none_for(self, each: ExportedRule) -> None:
        """Refuse a rule that may act on what such a keep keeps; another keep does no harm."""
        if each.rule.kind == "keep":
            return
        for place in self._in_order(each.rule):
            if may_act_on(each.rule, self._keeps[place].rule):
                raise CannotExpress(_REASON.format(self._keeps[place].number))

    def _in_order(self, rule: Rule) -> Iterator[int]:
        # A rule that acts on most of many keeps acts on one of the first, and the others are not looked for.
        yield from range(min(_FIRST, len(self._keeps)))
        yield from sorted(self._near(rule))


def _source(rule: Rule) -> Pattern:
    return EVERYTHING if rule.kind == "replace" else Pattern.parse(rule.source)


def may_act_on(rule: Rule, keep: Rule) -> bool:
    """Whether a rule may act on a URL that a keep keeps."""
    if ANY_SITE not in {rule.site, keep.site} and rule.site != keep.site:
        return False
    if keep.site in rule.except_sites or rule.site in keep.except_sites:
        return False
    kept = Pattern.parse(keep.source)
    if rule.kind == "replace" and not _may_hold(kept, query_literal(rule.source.strip("^$"))):
        return False
    ours = [_source(rule), *map(_condition, rule.when)]
    theirs = [kept, *map(_condition, keep.when)]
    if not all(may_meet(one, other) for one in ours for other in theirs):
        return False
    return not any(_covers(Pattern.parse(text, is_condition=True), kept) for text in rule.unless)


def _condition(text: str) -> Pattern:
    """Return a condition as a pattern: other parameters than those it names may be there."""
    pattern = Pattern.parse(text, is_condition=True)
    return pattern if pattern.query is None else replace(pattern, query=(*pattern.query, _OTHERS))


def _may_hold(kept: Pattern, text: str) -> bool:
    """Whether a text may be in the path or the query of a URL that is kept."""
    segments = kept.path or ((),)
    if kept.query or any(isinstance(piece, Capture) for segment in segments for piece in segment):
        return True
    return text in "".join("/" + path_literal("".join(map(str, segment))) for segment in segments)


def _covers(condition: Pattern, kept: Pattern) -> bool:
    """Whether every URL that is kept meets a condition; only what is plain to see counts."""
    if condition.scheme not in {None, kept.scheme} or condition.host not in {None, kept.host}:
        return False
    return condition.port == kept.port and _covers_path(condition, kept) and _covers_query(condition, kept)


def _covers_path(condition: Pattern, kept: Pattern) -> bool:
    path, own = condition.path, kept.path or ((),)
    if path is None or path == own:
        return True
    start = path[:-1]
    return is_stretch(path[-1]) and not any(map(is_stretch, start)) and own[: len(start)] == start


def _covers_query(condition: Pattern, kept: Pattern) -> bool:
    named = {query_literal(entry.name): entry for entry in kept.query or () if entry.several is None}
    for entry in condition.query or ():
        own = named.get(query_literal(entry.name)) if entry.several is None else None
        if own is None or (entry.value not in {ANY_NUMBER, own.value}):
            return False
    return True


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
