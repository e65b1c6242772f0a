"""A `keep` that a target cannot say, and the rules that are left out with it.

A `keep` holds the rules after it back from the URLs that it matches. If it is left out, a rule that may act
on one of those URLs is left out too; a rule that cannot act there stays. In doubt, a rule may act there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.index import PathIndex
from undust.exchange.exports.literals import path_literal, query_literal
from undust.exchange.exports.overlap import EVERYTHING, may_meet
from undust.rules.language import ANY_SITE
from undust.rules.pattern import ANY_NUMBER, Capture, Parameter, Pattern, is_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.exchange.exports.contract import ExportedRule
    from undust.rules import Rule

_REASON = "the keep of rule {} is left out, and this rule would act on what it keeps"
_OTHERS = Parameter("", several=Capture(None, is_many=True, detail=None))


class LostKeeps:
    """The keeps that were left out so far."""

    def __init__(self) -> None:
        self._keeps: list[ExportedRule] = []
        self._by_site: defaultdict[str, PathIndex] = defaultdict(PathIndex)

    def add(self, keep: ExportedRule) -> None:
        """Remember a keep that was left out; the rules before it are not its concern."""
        self._by_site[keep.rule.site].add(Pattern.parse(keep.rule.source), len(self._keeps))
        self._keeps.append(keep)

    def require_none_for(self, each: ExportedRule) -> None:
        """Refuse a rule that may act on what such a keep keeps; another keep does no harm."""
        if each.rule.kind == "keep":
            return
        for place in sorted(self._near(each.rule)):
            if may_act_on(each.rule, self._keeps[place].rule):
                raise CannotExpress(_REASON.format(self._keeps[place].number))

    def _near(self, rule: Rule) -> Iterator[int]:
        sites = self._by_site if rule.site == ANY_SITE else {rule.site, ANY_SITE} & self._by_site.keys()
        for site in sites:
            yield from self._by_site[site].candidates(_source(rule))


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
