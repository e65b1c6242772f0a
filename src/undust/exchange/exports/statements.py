"""A rule that a target can express: its steps, what it matches and writes, which parts of a URL it looks at.

A rule that had nothing to do on a URL has nothing to do after a change of parts that it does not look at, and
two rules that do not look at what the other changes may act in either order. A path has two parts: what
precedes a `{p**}` and what follows it.

Some rules leave their own result alone, though they match it again:

    rewrite {s}://{h}/p/{*}/{id} → {s}://{h}/p/x/{id}
    rewrite {s}://{h}/{p**}?sid={*}&{rest**} → {s}://{h}/{p}?sid=0&{rest}

Where a part that does not matter cannot be removed, a rule writes one value for it: at the same place, with
all else as it was. Done again, it writes the same.

The steps of a rule are printed in the dialect of a target: expressions with look ahead, and texts that are
written.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports import ending
from undust.exchange.exports.expressions import Ref, as_ref, as_refs, escaped, numbered
from undust.exchange.exports.overlap import is_listed, may_meet, segments_meet
from undust.rules.language import ANY_SITE
from undust.rules.pattern import Capture, Pattern, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.expressions import Filled
    from undust.exchange.exports.steps import Compiled, ExpressionStep
    from undust.rules import Rule


_HEAD, TAIL = "head", "tail"
TEXT = frozenset({_HEAD, TAIL, "query"})
"""The parts that a `replace` looks at and changes."""
_MOST_DIGITS = 9
"""Groups that one digit can name."""


@dataclass(frozen=True)
class Parts:
    """Names of parts, and the segments of the path among them."""

    names: frozenset[str]
    segments: tuple[Text, ...] = ()

    def meet(self, others: Parts) -> bool:
        """Whether a change of these parts can be seen by who looks at the others."""
        if self.names & others.names:
            return True
        paths = [each.names & {_HEAD, TAIL} for each in (self, others)]
        if not all(paths):
            return False
        # In a short path, the segments before and after are the same ones.
        return any(segments_meet(one, other) for one in self.segments for other in others.segments)

    def __or__(self, others: Parts) -> Parts:
        """Return the parts of both."""
        return Parts(self.names | others.names, (*self.segments, *others.segments))


ANY_SEGMENT: Text = (Capture(None, is_many=False, detail=None),)
NOTHING = Parts(frozenset())


def watched(patterns: Iterable[Pattern]) -> Parts:
    """Return the parts that patterns do not take as they come."""
    found = NOTHING
    for pattern in patterns:
        found |= _watched(pattern)
    return found


def _watched(pattern: Pattern) -> Parts:
    names = set()
    if pattern.scheme and isinstance(pattern.scheme[0], str):
        names.add("scheme")
    if pattern.host is not None and not _is_any_host(pattern):
        names.add("host")
    if pattern.query is not None and not _is_any_query(pattern):
        names.add("query")
    if pattern.path is None:
        return Parts(frozenset(names))
    before, stretch, behind = _split(pattern.path)
    names |= {_HEAD, TAIL} if stretch is None else {_HEAD} if before else set()
    names |= {TAIL} if behind else set()
    return Parts(frozenset(names), (*before, *behind))


def touched(source: Pattern, target: Pattern) -> Parts:
    """Return the parts that are not written as they were found."""
    names = set()
    if as_refs((source.scheme or (),)) != (target.scheme or (),):
        names.add("scheme")
    if (as_refs(source.host or ()), source.port) != (target.host or (), target.port):
        names.add("host")
    if not (_is_any_query(source) and _is_any_query(target)):
        names.add("query")
    paths = (as_refs(source.path or ()), target.path or ())
    if paths[0] == paths[1]:
        return Parts(frozenset(names))
    before, stretch, behind = _split(source.path or ())
    ref = () if stretch is None else as_refs((stretch,))[0]
    places = [place for place, segment in enumerate(target.path or ()) if segment == ref]
    if stretch is None or len(places) != 1:
        return Parts(frozenset({*names, _HEAD, TAIL}), tuple(s for path in paths for s in path))
    start, end = (target.path or ())[: places[0]], (target.path or ())[places[0] + 1 :]
    names |= {_HEAD} if as_refs(before) != start else set()
    names |= {TAIL} if as_refs(behind) != end else set()
    return Parts(frozenset(names), (*before, *behind, *map(_opened, (*start, *end))))


def _opened(segment: Text) -> Text:
    """Return a segment of a right side as a pattern; what it refers to may be anything."""
    return tuple(as_ref(piece) if isinstance(piece, Capture) else piece for piece in segment)


def _split(path: tuple[Text, ...]) -> tuple[tuple[Text, ...], Text | None, tuple[Text, ...]]:
    for place, segment in enumerate(path):
        if len(segment) == 1 and isinstance(segment[0], Capture) and segment[0].is_many:
            return path[:place], segment, path[place + 1 :]
    return path, None, ()


def _is_any_host(pattern: Pattern) -> bool:
    host = pattern.host or ()
    is_alone = len(host) == 1 and len(host[0]) == 1 and pattern.port is None
    return is_alone and isinstance(host[0][0], Capture) and host[0][0] == as_ref(host[0][0])


def _is_any_query(pattern: Pattern) -> bool:
    entries = pattern.query or ()
    return len(entries) == 1 and entries[0].several is not None and entries[0].several.detail is None


def settles(source: Pattern, target: Pattern) -> bool:
    """Whether a rule only writes constants, each at the place of what it replaces."""
    return (
        _is_same_or_literal((source.scheme or (),), (target.scheme or (),))
        and (_is_same_or_literal(source.host or (), target.host or ()) or _is_literal(target.host or ()))
        and source.port == target.port
        and _is_same_or_literal(source.path or ((),), target.path or ((),))
        and _query_settles(source, target)
    )


def _is_same_or_literal(before: tuple[Text, ...], after: tuple[Text, ...]) -> bool:
    pairs = zip(as_refs(before), after, strict=False)
    return len(before) == len(after) and all(one == other or _is_literal((other,)) for one, other in pairs)


def _is_literal(texts: tuple[Text, ...]) -> bool:
    return not any(isinstance(piece, Capture) for text in texts for piece in text)


def _query_settles(source: Pattern, target: Pattern) -> bool:
    """Whether named parameters come first, in one order, and then the others as they were."""
    before, after = source.query or (), target.query or ()
    if any(entry.several and entry.several.detail for entry in (*before, *after)):
        return False
    names = [[entry.name for entry in side if entry.several is None] for side in (before, after)]
    if names[0] != names[1] or len(set(names[0])) < len(names[0]):
        return False
    lists = [[entry.several.name for entry in side if entry.several is not None] for side in (before, after)]
    places = [place for place, entry in enumerate(after) if entry.several is not None]
    is_last = not places or places == [len(after) - 1]
    values = [[entry.value or () for entry in side if entry.several is None] for side in (before, after)]
    return lists[0] == lists[1] and is_last and _is_same_or_literal(tuple(values[0]), tuple(values[1]))


@dataclass(frozen=True)
class ExpressedRule:
    """A rule that the target can express: its steps, and which rules may act on its result."""

    numbered: ExportedRule
    compiled: Compiled
    source: Pattern
    target: Pattern | None
    """Its right side, if it is a rewrite."""
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
    def steps(self) -> tuple[ExpressionStep, ...]:
        """All steps, in the order in which they are tried."""
        return (*self.compiled.escaping, *self.compiled.steps)

    @cached_property
    def matches_own_result(self) -> bool:
        """Whether the rule may match what it wrote."""
        return self.image is not None and may_meet(self.image, self.source)

    @cached_property
    def acts_on_own_result(self) -> bool:
        """Whether the rule may have to act again on what it wrote."""
        return self.matches_own_result and not self.settles

    @cached_property
    def settles(self) -> bool:
        """Whether it leaves its own result alone."""
        return self.target is not None and settles(self.source, self.target)

    @cached_property
    def only_takes_parameters(self) -> bool:
        """Whether it adds no parameter to a query."""
        return self.target is not None and all(entry.several for entry in self.target.query or ())

    @cached_property
    def needs_parameters(self) -> bool:
        """Whether it acts because of parameters that are there, and never because others are not."""
        conditions = [Pattern.parse(text, is_condition=True) for text in self.rule.unless]
        if self.target is None or any(pattern.query for pattern in conditions):
            return False
        takes_some = (ending.parameters((self.source, self.target)) or 0) < 0
        return self.source.is_open and (takes_some or self.settles)

    def takes_none_of(self, other: ExpressedRule) -> bool:
        """Whether it takes no parameter away that the other rule names."""
        names = [entry.name for entry in other.source.query or () if entry.several is None]
        for entry in self.source.query or ():
            taken = entry.name if entry.several is None else entry.several.detail
            if taken and any(is_listed(name, taken) for name in names):
                return False
        return True


def in_order(rules: Iterable[ExportedRule]) -> list[ExportedRule]:
    """Return rules as they are tried: those of sites first, each in the order of the file."""
    return sorted(rules, key=lambda each: each.rule.site == ANY_SITE)


def by_site(found: Sequence[ExpressedRule]) -> Iterator[list[int]]:
    """Yield for each site the places of its rules and of those of all sites, in order."""
    shared = [place for place, each in enumerate(found) if each.rule.site == ANY_SITE]
    sites: dict[str, list[int]] = {}
    for place, each in enumerate(found):
        if each.rule.site != ANY_SITE:
            sites.setdefault(each.rule.site, []).append(place)
    for own in sites.values():
        yield sorted([*own, *shared])
    if shared and not sites:
        yield shared


def expression(step: ExpressionStep, shields: str = "") -> str:
    """Return one expression that matches exactly where the step acts; `shields` come first."""
    body, numbers = numbered(step.pieces)
    guards = shields + guard(step)
    if step.filled is None or not step.may_stay:
        return f"^{guards}{body}$"
    same = written(step.filled, numbers, lambda number: rf"(?:\{number})", escaped)
    return f"^{guards}(?={body}$)(?!{same}$).*$"


def guard(step: ExpressionStep) -> str:
    """Return look aheads for what a URL must and must not begin with."""
    needs = "".join(f"(?={need})" for need in step.needs)
    return needs + "".join(f"(?!{_all_of(texts)})" for texts in step.forbids)


def _all_of(texts: tuple[str, ...]) -> str:
    return texts[0] if len(texts) == 1 else "".join(f"(?={text})" for text in texts)


def shield(step: ExpressionStep) -> str:
    """Return a look ahead that keeps away from the URLs that a `keep` keeps."""
    body, _ = numbered(step.pieces)
    return f"(?!{guard(step)}{body}$)"


def replacement(step: ExpressionStep, reference: Callable[[int], str], literal: Callable[[str], str]) -> str:
    """Return what a step writes, in the words of a dialect."""
    _, numbers = numbered(step.pieces)
    return written(step.filled or (), numbers, reference, literal)


def written(
    filled: Filled, numbers: dict[str, int], reference: Callable[[int], str], literal: Callable[[str], str]
) -> str:
    """Return literals and references in the words of a dialect."""
    return "".join(
        reference(numbers[part.name]) if isinstance(part, Ref) else literal(part) for part in filled
    )


def require_single_digits(step: ExpressionStep) -> None:
    """Refuse a step with more groups than one digit can name."""
    if len(numbered(step.pieces)[1]) > _MOST_DIGITS:
        message = f"it writes more than {_MOST_DIGITS} pieces again"
        raise CannotExpress(message)


def as_is(text: str) -> str:
    """Return a literal that needs no escaping."""
    return text
