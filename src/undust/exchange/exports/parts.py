"""Which parts of a URL a rule looks at, and which it changes.

A rule that had nothing to do on a URL has nothing to do after a change of parts that it does not look at, and
two rules that do not look at what the other changes may act in either order. A path has two parts: what
precedes a `{p**}` and what follows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.exchange.exports.overlap import segments_meet
from undust.exchange.exports.references import as_ref, as_refs
from undust.rules.pattern import Capture, Pattern, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEAD, TAIL = "head", "tail"
TEXT = frozenset({_HEAD, TAIL, "query"})
"""The parts that a `replace` looks at and changes."""


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
