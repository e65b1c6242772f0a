"""A legal pattern as a structure, for reasoning about rules: which meet, what a URL of one looks like.

Nothing here decides whether a URL matches: the core does that. So this reads patterns that the core
has already accepted, and need not be strict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

_CAPTURE = re.compile(r"\{([^{}]*)\}")
_PORT = re.compile(r"(.*):([0-9]+)", re.DOTALL)
_LONGEST_STRETCH = 3


@dataclass(frozen=True)
class Capture:
    """`{name}`, `{name**}`, `{*}`, `{**}`, each perhaps with `:` and a class or a form."""

    name: str | None
    is_many: bool
    detail: str | None
    """What follows the colon: a class on the left, a form on the right."""

    def __str__(self) -> str:
        """Return the capture as it is written."""
        name = (self.name or "") + ("**" if self.is_many else "" if self.name else "*")
        return f"{{{name}}}" if self.detail is None else f"{{{name}:{self.detail}}}"


Text = tuple[str | Capture, ...]
"""Literals and captures in sequence: a label, a segment or a value."""

ANY_TEXT: Text = (Capture(None, is_many=False, detail=None),)
ANY_NUMBER: Text = (Capture(None, is_many=True, detail=None),)


@dataclass(frozen=True)
class Parameter:
    """One entry of a query: `name`, `name=value`, or a capture of several parameters."""

    name: str
    value: Text | None = None
    several: Capture | None = None

    def __str__(self) -> str:
        """Return the entry as it is written."""
        if self.several is not None:
            return str(self.several)
        return self.name if self.value is None else f"{self.name}={written(self.value)}"


@dataclass(frozen=True)
class Pattern:
    """A whole pattern, or a condition; None where a condition leaves a part open."""

    scheme: Text | None
    host: tuple[Text, ...] | None
    port: str | None
    path: tuple[Text, ...] | None
    query: tuple[Parameter, ...] | None

    @classmethod
    @lru_cache(1 << 14)
    def parse(cls, text: str, *, is_condition: bool = False) -> Pattern:
        """Return the structure of a pattern; the unwritten parts of a condition stay open."""
        pieces, query = _cut(_pieces(text), "?")
        scheme, rest = _cut(pieces, "://")
        if rest is None:
            scheme, rest = (), pieces
        authority, path = _cut(rest, "/")
        host, port = _host(authority)
        unwritten = cls(None, None, None, None, None) if is_condition else cls(None, None, None, ((),), ())
        return cls(
            scheme or None,
            host,
            port,
            unwritten.path if path is None else tuple(_split(path, "/")),
            unwritten.query if query is None else _query(query),
        )

    def __str__(self) -> str:
        """Return the pattern as it is written."""
        start = f"{written(self.scheme)}://" if self.scheme else ""
        host = ".".join(map(written, self.host or ())) + (f":{self.port}" if self.port else "")
        path = "".join(f"/{written(segment)}" for segment in self.path or ())
        query = "&".join(map(str, self.query or ()))
        return start + host + path + (f"?{query}" if query else "")

    @property
    def is_open(self) -> bool:
        """Whether other parameters than those written may be present."""
        return self.query is None or any(
            entry.several is not None and entry.several.detail is None for entry in self.query
        )


def written(text: Text) -> str:
    """Return literals and captures as they are written."""
    return "".join(map(str, text))


def is_stretch(text: Text) -> bool:
    """Whether a segment or label matches any number of them."""
    return len(text) == 1 and isinstance(text[0], Capture) and text[0].is_many


def meet(first: Pattern, second: Pattern, *, is_condition: bool = False) -> Pattern | None:
    """Return a pattern whose URLs are likely to match both, or None if there can be none.

    It is a guess to be tried on the core, not a proof: captures next to text are not solved. If the
    second is a condition, it does not restrict parameters that it does not name.
    """
    scheme = _meet_text(first.scheme or ANY_TEXT, second.scheme or ANY_TEXT)
    host, port = _meet_hosts(first, second)
    path = _meet_texts(first.path or (ANY_NUMBER,), second.path or (ANY_NUMBER,))
    query = _meet_queries(first, second, is_condition=is_condition)
    if scheme is None or host is None or path is None or query is None:
        return None
    return Pattern(scheme, host, port, path, query)


def _meet_hosts(first: Pattern, second: Pattern) -> tuple[tuple[Text, ...] | None, str | None]:
    if first.port and second.port and first.port != second.port:
        return None, None
    open_host = (ANY_TEXT,)
    hosts = (first.host or open_host, second.host or open_host)
    # A capture alone is the whole host, whatever the number of its labels.
    wide = [(ANY_NUMBER,) if _is_lone_capture(host) else host for host in hosts]
    if all(map(_is_lone_capture, hosts)):
        return hosts[0], first.port or second.port
    return _meet_texts(wide[0], wide[1]), first.port or second.port


def _is_lone_capture(texts: tuple[Text, ...]) -> bool:
    return len(texts) == 1 and len(texts[0]) == 1 and isinstance(texts[0][0], Capture)


def _meet_texts(first: tuple[Text, ...], second: tuple[Text, ...]) -> tuple[Text, ...] | None:
    for left in _stretched(first):
        for right in _stretched(second):
            if len(left) == len(right):
                met = [_meet_text(*pair) for pair in zip(left, right, strict=True)]
                if all(text is not None for text in met):
                    return tuple(text for text in met if text is not None)
    return None


def _stretched(texts: tuple[Text, ...]) -> list[tuple[Text, ...]]:
    place = next((place for place, text in enumerate(texts) if is_stretch(text)), None)
    if place is None:
        return [texts]
    before, after = texts[:place], texts[place + 1 :]
    longest = max(_LONGEST_STRETCH, len(texts))
    return [before + (ANY_TEXT,) * count + after for count in range(longest + 1)]


def _meet_text(first: Text, second: Text) -> Text | None:
    if second in {first, ANY_TEXT}:
        return first
    literals = [all(isinstance(piece, str) for piece in text) for text in (first, second)]
    if all(literals):
        return None
    if literals[0] or (len(second) == 1 and not literals[1] and len(first) > 1):
        return first or None
    return second or None


def _meet_queries(first: Pattern, second: Pattern, *, is_condition: bool) -> tuple[Parameter, ...] | None:
    met: list[Parameter] = []
    for one, other in ((first, second), (second, first)):
        for entry in one.query or ():
            if entry.several is not None:
                met.append(entry)
            elif entry.name not in {known.name for known in met if known.several is None}:
                twin = next((each for each in other.query or () if each.name == entry.name), None)
                merged = _meet_parameters(entry, twin) if twin else entry
                is_open = other.is_open or (is_condition and other is second)
                if merged is None or (twin is None and not is_open):
                    return None
                met.append(merged)
    return tuple(sorted(met, key=lambda entry: entry.several is not None))


def _meet_parameters(first: Parameter, second: Parameter) -> Parameter | None:
    if first.value in {ANY_NUMBER, second.value}:
        return second
    if second.value == ANY_NUMBER:
        return first
    if first.value is None or second.value is None:
        return None
    value = _meet_text(first.value, second.value)
    return None if value is None else replace(first, value=value)


def _pieces(text: str) -> Text:
    pieces: list[str | Capture] = []
    for place, piece in enumerate(_CAPTURE.split(text)):
        if place % 2:
            name, colon, detail = piece.partition(":")
            bare = name.rstrip("*")
            pieces.append(Capture(bare or None, name.endswith("**"), detail if colon else None))
        elif piece:
            pieces.append(piece)
    return tuple(pieces)


def _cut(pieces: Text, mark: str) -> tuple[Text, Text | None]:
    for place, piece in enumerate(pieces):
        if isinstance(piece, str) and mark in piece:
            before, _, after = piece.partition(mark)
            return (
                pieces[:place] + ((before,) if before else ()),
                ((after,) if after else ()) + pieces[place + 1 :],
            )
    return pieces, None


def _split(pieces: Text, mark: str) -> list[Text]:
    parts: list[Text] = []
    rest: Text | None = pieces
    while rest is not None:
        part, rest = _cut(rest, mark)
        parts.append(part)
    return parts


def _host(pieces: Text) -> tuple[tuple[Text, ...] | None, str | None]:
    port = None
    if pieces and isinstance(pieces[-1], str) and (found := _PORT.fullmatch(pieces[-1])):
        port = found[2]
        pieces = pieces[:-1] + ((found[1],) if found[1] else ())
    return (tuple(_split(pieces, ".")) if pieces else None), port


def _query(pieces: Text) -> tuple[Parameter, ...]:
    return tuple(_parameter(entry) for entry in _split(pieces, "&") if entry)


def _parameter(entry: Text) -> Parameter:
    if isinstance(entry[0], Capture):
        return Parameter("", several=entry[0])
    name, value = _cut(entry, "=")
    return Parameter(written(name), value)
