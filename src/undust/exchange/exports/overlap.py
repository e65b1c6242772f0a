"""Whether a URL can match two patterns, or whether what one rule writes can match another.

Answers may be wrong in one direction only: "may" for what cannot. What rests on them is that rules end,
and in which order they may be applied; so "cannot" must be true.

`PathIndex` finds the rules whose hosts, paths and queries may overlap, so that each rule is compared with few
others, not with all: a path with a literal at some place matches no path with another literal there. It gives
some rules that do not overlap too; `may_meet` then decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from string import ascii_letters
from typing import TYPE_CHECKING

from undust.exchange.exports.expressions import (
    LABEL,
    SEGMENT,
    VALUE,
    host_literal,
    path_literal,
    plain_pieces,
    query_literal,
    without_groups,
)
from undust.rules.pattern import ANY_NUMBER, ANY_TEXT, Capture, Parameter, Pattern, Text, is_stretch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.exchange.exports.expressions import UrlPart

EVERYTHING = Pattern.parse("{s}://{h}/{p**}?{rest**}")
_DIGITS = frozenset("0123456789")
_LETTERS: dict[str | None, frozenset[str]] = {
    "int": _DIGITS,
    "alpha": frozenset(ascii_letters),
    "hex": _DIGITS | frozenset("abcdefABCDEF"),
    "word": _DIGITS | frozenset(ascii_letters + "_-"),
    "uuid": _DIGITS | frozenset("abcdefABCDEF-"),
    "date": _DIGITS | frozenset("-"),
}
"""What a run of a class consists of."""
_DISJOINT = ({"int", "alpha"}, {"int", "uuid"}, {"int", "date"}, {"alpha", "date"}, {"alpha", "uuid"})


def captured_as(pattern: Pattern) -> dict[str, tuple[str, Capture]]:
    """Return where each name of a left side was captured, and how: as scheme, host, segment and so on."""
    found: dict[str, tuple[str, Capture]] = {}

    def add(text: Text, kind: str, many: str) -> None:
        for piece in text:
            if isinstance(piece, Capture) and piece.name is not None:
                found[piece.name] = (many if piece.is_many else kind, piece)

    add(pattern.scheme or (), "scheme", "scheme")
    for label in pattern.host or ():
        add(label, "host", "host")
    for segment in pattern.path or ():
        add(segment, "segment", "segments")
    for entry in pattern.query or ():
        add((entry.several,) if entry.several else entry.value or (), "value", "parameters")
    return found


def image(source: Pattern, target: Pattern) -> Pattern:
    """Return a pattern of all that a rule can write."""
    known = captured_as(source)

    def text(pieces: Text) -> Text:
        return tuple(
            piece if isinstance(piece, str) else Capture(None, is_many=False, detail=_class_of(piece, known))
            for piece in pieces
        )

    def segment(pieces: Text) -> Text:
        # A value may bring slashes, and so any number of segments.
        refs = [known[p.name or ""] for p in pieces if isinstance(p, Capture)]
        has_slashes = any(kind in {"value", "segments"} and capture.detail is None for kind, capture in refs)
        return ANY_NUMBER if has_slashes else text(pieces)

    def entry(parameter: Parameter) -> Parameter:
        if parameter.several is not None:
            return Parameter("", several=Capture(None, is_many=True, detail=None))
        return (
            parameter if parameter.value is None else replace(parameter, value=_value(parameter.value, known))
        )

    return Pattern(
        text(target.scheme or ()),
        _host_image(target),
        target.port,
        tuple(map(segment, target.path or ((),))),
        tuple(map(entry, target.query or ())),
    )


def _class_of(ref: Capture, known: dict[str, tuple[str, Capture]]) -> str | None:
    kind, capture = known[ref.name or ""]
    return None if kind == "scheme" or ref.detail is not None else capture.detail


def _value(pieces: Text, known: dict[str, tuple[str, Capture]]) -> Text:
    has_open = any(isinstance(p, Capture) and _class_of(p, known) is None for p in pieces)
    if has_open:
        return ANY_TEXT
    return tuple(
        p if isinstance(p, str) else Capture(None, is_many=False, detail=_class_of(p, known)) for p in pieces
    )


def _host_image(target: Pattern) -> tuple[Text, ...]:
    labels = target.host or ()
    is_literal = all(isinstance(piece, str) for label in labels for piece in label)
    # Anything but a literal host is taken for any host; the labels of a host are few.
    return labels if is_literal else (ANY_TEXT,)


def may_meet(first: Pattern, second: Pattern) -> bool:
    """Whether some URL may match both patterns."""
    return (
        _schemes_meet(first.scheme or ANY_TEXT, second.scheme or ANY_TEXT)
        and _hosts_meet(first, second)
        and _paths_meet(first.path, second.path)
        and _has_all(first, second)
        and _has_all(second, first)
    )


def _schemes_meet(first: Text, second: Text) -> bool:
    return (
        not (isinstance(first[0], str) and isinstance(second[0], str))
        or first[0].lower() == second[0].lower()
    )


def _hosts_meet(first: Pattern, second: Pattern) -> bool:
    one, other = _literal_host(first), _literal_host(second)
    if one is None or other is None:
        for host, pattern in ((one, second), (other, first)):
            if host is not None and not _host_fits(host, pattern):
                return False
        return True
    return one == other


def _literal_host(pattern: Pattern) -> tuple[str, str | None] | None:
    labels = pattern.host
    if not labels or any(isinstance(piece, Capture) for label in labels for piece in label):
        return None
    return host_literal(".".join("".join(map(str, label)) for label in labels)), pattern.port


def _host_fits(host: tuple[str, str | None], pattern: Pattern) -> bool:
    labels = pattern.host
    if not labels or (len(labels) == 1 and len(labels[0]) == 1):
        return True
    expressions = [
        r"[^./:]+(?:\.[^./:]+)*" if is_stretch(label) else without_groups(plain_pieces(label, LABEL, ()))
        for label in labels
    ]
    return re.fullmatch(r"\.".join(expressions), host[0]) is not None and host[1] == pattern.port


def _paths_meet(first: tuple[Text, ...] | None, second: tuple[Text, ...] | None) -> bool:
    if first is None or second is None:
        return True
    (before, has_first, after), (start, has_second, end) = _parts(first), _parts(second)
    if not has_first and not has_second:
        return len(first) == len(second) and all(map(segments_meet, first, second))
    if not has_second:
        return _fits_between(second, before, after)
    if not has_first:
        return _fits_between(first, start, end)
    heads = zip(before, start, strict=False)
    tails = zip(reversed(after), reversed(end), strict=False)
    return all(segments_meet(*pair) for pair in (*heads, *tails))


def _parts(path: tuple[Text, ...]) -> tuple[tuple[Text, ...], bool, tuple[Text, ...]]:
    places = [place for place, segment in enumerate(path) if is_stretch(segment)]
    # An image may have several stretches; the text between them is not compared.
    return (path[: places[0]], True, path[places[-1] + 1 :]) if places else (path, False, ())


def _fits_between(fixed: tuple[Text, ...], before: tuple[Text, ...], after: tuple[Text, ...]) -> bool:
    if len(fixed) < len(before) + len(after):
        # A path that would be empty is `/`, so an image without other segments is never shorter.
        return False
    tail = fixed[len(fixed) - len(after) :]
    return all(map(segments_meet, before, fixed)) and all(map(segments_meet, after, tail))


def segments_meet(first: Text, second: Text) -> bool:
    """Whether some segment may match both."""
    return _texts_meet(first, second, SEGMENT)


@lru_cache(1 << 14)
def _texts_meet(first: Text, second: Text, place: UrlPart) -> bool:
    literals = [_literal(text, place) for text in (first, second)]
    if literals[0] is not None and literals[1] is not None:
        return literals[0] == literals[1]
    for literal, other in ((literals[0], second), (literals[1], first)):
        if literal is not None:
            return re.fullmatch(without_groups(plain_pieces(other, place, ())), literal) is not None
    return _ends_meet(first, second, place) and _classes_meet(first, second)


def _literal(text: Text, place: UrlPart) -> str | None:
    if any(isinstance(piece, Capture) for piece in text):
        return None
    return place.normalize("".join(map(str, text)))


def _ends_meet(first: Text, second: Text, place: UrlPart) -> bool:
    starts = [place.normalize(text[0]) if isinstance(text[0], str) else "" for text in (first, second)]
    ends = [place.normalize(text[-1]) if isinstance(text[-1], str) else "" for text in (first, second)]
    short, long = sorted(starts, key=len)
    tail, whole = sorted(ends, key=len)
    return long.startswith(short) and whole.endswith(tail)


def _classes_meet(first: Text, second: Text) -> bool:
    for one, other in ((first, second), (second, first)):
        letters = _LETTERS.get(one[0].detail) if len(one) == 1 and isinstance(one[0], Capture) else None
        if letters is not None and not all(letters >= set(p) for p in other if isinstance(p, str)):
            return False
    details = [text[0].detail for text in (first, second) if len(text) == 1 and isinstance(text[0], Capture)]
    return set(details) not in _DISJOINT


def _has_all(pattern: Pattern, other: Pattern) -> bool:
    """Whether a query of `other` may hold all that `pattern` asks for."""
    if pattern.query is None or other.query is None:
        return True
    for entry in pattern.query:
        if entry.several is not None:
            names = entry.several.detail
            if names is not None and entry.several.name is None and not _may_have(other, names):
                return False
        elif not _may_hold(other, entry):
            return False
    return True


def _may_have(pattern: Pattern, names: str) -> bool:
    entries = pattern.query or ()
    return any(entry.several is not None or is_listed(entry.name, names) for entry in entries)


def _may_hold(pattern: Pattern, wanted: Parameter) -> bool:
    for entry in pattern.query or ():
        if entry.several is not None:
            if entry.several.detail is None or is_listed(wanted.name, entry.several.detail):
                return True
        elif query_literal(entry.name) == query_literal(wanted.name) and _values_meet(
            entry.value, wanted.value
        ):
            return True
    return False


def is_listed(name: str, names: str) -> bool:
    """Whether a name is in a list of names, in which a trailing `*` makes a prefix."""
    name = query_literal(name)
    return any(
        name.startswith(query_literal(item[:-1])) if item.endswith("*") else name == query_literal(item)
        for item in names.split("|")
    )


def _values_meet(first: Text | None, second: Text | None) -> bool:
    if ANY_NUMBER in {first, second} or first == second:
        return True
    if first is None or second is None:
        return False
    if not first or not second:
        return False  # one is empty, the other is not
    return _texts_meet(first, second, VALUE)


_Features = tuple[str | None, ...]
"""Of a pattern, what must be the same in every pattern that it meets; None if it is open."""
_PLACES = (0, -1, 1, 2, 3, -2)
"""Places in the path whose literals distinguish rules, from the end if negative."""
_FEW = 8
"""Rules that are not distinguished further."""


class PathIndex:
    """Numbers of rules by their host, if it is a literal, and by literals of their paths and queries."""

    def __init__(self) -> None:
        self._by_host: defaultdict[tuple[str, str | None] | None, _Branch] = defaultdict(_Branch)

    def add(self, pattern: Pattern, number: int) -> None:
        """Remember a rule by the pattern of the URLs on which it acts."""
        self._by_host[_literal_host(pattern)].add(_features(pattern), number)

    def candidates(self, pattern: Pattern) -> Iterator[int]:
        """Yield the numbers of all rules that may act on a URL of the pattern, each once."""
        host = _literal_host(pattern)
        for known in self._by_host if host is None else {host, None} & self._by_host.keys():
            yield from self._by_host[known].candidates(_features(pattern))


class _Branch:
    """Numbers of rules; more than a few are parted by the next feature, and those that leave it open."""

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._few: list[tuple[_Features, int]] = []
        self._parts: dict[str | None, _Branch] = {}

    def add(self, features: _Features, number: int) -> None:
        """Remember a rule."""
        if self._parts:
            self._part(features, number)
            return
        self._few.append((features, number))
        if len(self._few) > _FEW and self._depth < len(features):
            for row in self._few:
                self._part(*row)
            self._few.clear()

    def _part(self, features: _Features, number: int) -> None:
        key = features[self._depth]
        if key not in self._parts:
            self._parts[key] = _Branch(self._depth + 1)
        self._parts[key].add(features, number)

    def candidates(self, wanted: _Features) -> Iterator[int]:
        """Yield the numbers of the rules whose features may be those of a pattern."""
        for _, number in self._few:
            yield number
        if not self._parts:
            return
        key = wanted[self._depth]
        for part in self._parts if key is None else (key, None):
            if part in self._parts:
                yield from self._parts[part].candidates(wanted)


@lru_cache(1 << 14)
def _features(pattern: Pattern) -> _Features:
    path = pattern.path or ((),)
    size = None if any(map(is_stretch, path)) else str(len(path))
    literals = (_literal_at(path, place) for place in _PLACES)
    return size, *literals, *_marks(path), *_query_features(pattern)


def _marks(path: tuple[Text, ...]) -> tuple[str | None, str | None]:
    """Return the beginning of the first segment up to a mark, and the end of the last one behind a point."""
    first, last = path[0] or ("",), path[-1] or ("",)
    beginning = re.match(r"[^-._]*[-._]", path_literal(first[0])) if isinstance(first[0], str) else None
    end = path_literal(last[-1]).rpartition(".") if isinstance(last[-1], str) else ("", "", "")
    return beginning and beginning[0], end[2] if end[1] else None


def _query_features(pattern: Pattern) -> tuple[str | None, str | None]:
    """Return the names of a query without others, and the value of the first of them if it is a literal."""
    entries = pattern.query
    if entries is None or any(entry.several is not None for entry in entries):
        return None, None
    values = {query_literal(entry.name): entry.value for entry in entries}
    names = sorted(values)
    is_plain = names and len(values) == len(entries) and values[names[0]]
    return "&".join(names), _literal(values[names[0]] or (), VALUE) if is_plain else None


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
