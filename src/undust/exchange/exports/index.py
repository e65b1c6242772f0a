"""Rules by what their paths can be, so that each rule is compared with few others, not with all.

A path with a literal at its beginning, at its end, or in its second place matches no path with another
literal there. An index gives all rules that a pattern may meet, and some that it does not: those are left to
`meeting.py`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from undust.exchange.exports.literals import path_literal
from undust.rules.pattern import Capture, is_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.rules.pattern import Pattern, Text

_Key = tuple[int, int | None]
"""A place in the path, from the end if it is negative, and the number of segments if that is known."""
_PLACES = (0, -1, 1)


class PathIndex:
    """Numbers of rules by one literal segment of their paths."""

    def __init__(self) -> None:
        self._literal: defaultdict[_Key, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._open: defaultdict[int | None, list[int]] = defaultdict(list)

    def add(self, pattern: Pattern, number: int) -> None:
        """Remember a rule by the pattern of the URLs on which it acts."""
        path = pattern.path or ((),)
        size = _size(path)
        for place in _PLACES:
            literal = _literal_at(path, place)
            if literal is not None:
                self._literal[place, size][literal].append(number)
                return
        self._open[size].append(number)

    def candidates(self, pattern: Pattern) -> Iterator[int]:
        """Yield the numbers of all rules that may act on a URL of the pattern, each once."""
        path = pattern.path or ((),)
        size = _size(path)
        for known, numbers in self._open.items():
            if size is None or known is None or size == known:
                yield from numbers
        for (place, known), literals in self._literal.items():
            if size is not None and known is not None and size != known:
                continue
            wanted = _literal_at(path, place)
            if wanted is not None:
                yield from literals.get(wanted, ())
            else:
                for numbers in literals.values():
                    yield from numbers


def _size(path: tuple[Text, ...]) -> int | None:
    return None if any(map(is_stretch, path)) else len(path)


def _literal_at(path: tuple[Text, ...], place: int) -> str | None:
    """Return the literal segment at a place, if every path of the pattern has it there."""
    stretches = [at for at, segment in enumerate(path) if is_stretch(segment)]
    at = place + len(path) if place < 0 else place
    if not 0 <= at < len(path):
        return None
    if stretches and (at <= stretches[-1] if place < 0 else at >= stretches[0]):
        return None
    if any(isinstance(piece, Capture) for piece in path[at]):
        return None
    return path_literal("".join(map(str, path[at])))
