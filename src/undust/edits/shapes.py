"""The parts of a URL pattern as values: literals, captures, runs of both, parameters, whole shapes.

A shape is printed in the rule language, and read from the patterns that the core writes. Learners work with
the values, and never with the text of a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

EDIT_ANY = "any"
"""The form of a capture that only the key hides."""


@dataclass(frozen=True)
class ShapeCapture:
    """A stretch of a URL that is left open; without a name it is discarded."""

    name: str = ""
    kind: str = ""
    """The class of its text: `int`, `hex`, a list with bars; empty for any text."""
    is_many: bool = False
    """Whether it stands for any number of segments, labels or parameters."""
    form: str = ""
    """How it is written, on a right side."""

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        name = self.name or ("" if self.is_many else "*")
        said = self.kind or self.form
        return f"{{{name}{'**' * self.is_many}{':' * bool(said)}{said}}}"

    def written(self, form: str = "") -> ShapeCapture:
        """Return the capture as a right side writes it."""
        return ShapeCapture(self.name, form=form)


Piece = str | ShapeCapture
Run = tuple[Piece, ...]
"""A segment, a label or a value: literals and captures side by side."""

_SCHEME, EDIT_HOST, PATH, REST = (
    ShapeCapture("s"),
    ShapeCapture("h"),
    ShapeCapture("p", is_many=True),
    ShapeCapture("rest", is_many=True),
)


@dataclass(frozen=True)
class ShapeParameter:
    """A parameter with its name and what its value is; None for one without `=`."""

    name: str
    value: Run | None = (ShapeCapture(is_many=True),)

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={text_of(self.value)}"


@dataclass(frozen=True)
class Named:
    """All parameters with one of some names; a trailing `*` makes a name a prefix."""

    names: tuple[str, ...]
    capture: str = ""

    def __str__(self) -> str:
        return f"{{{self.capture}**:{'|'.join(self.names)}}}"


QueryPart = ShapeParameter | Named | ShapeCapture


@dataclass(frozen=True)
class Shape:
    """One side of an edit: a URL with open places."""

    scheme: Piece = _SCHEME
    host: tuple[Run, ...] = ((EDIT_HOST,),)
    """Its labels; a capture alone is the whole host."""
    path: tuple[Run, ...] = ((PATH,),)
    query: tuple[QueryPart, ...] = (REST,)

    def __str__(self) -> str:
        host = ".".join(map(text_of, self.host))
        path = "/".join(map(text_of, self.path))
        query = "&".join(map(str, self.query))
        return f"{self.scheme}://{host}/{path}{'?' * bool(query)}{query}"

    def runs(self) -> Iterator[Run]:
        """Yield all stretches of the URL in their order."""
        yield (self.scheme,)
        yield from self.host
        yield from self.path
        for part in self.query:
            if isinstance(part, ShapeParameter):
                yield (part.name,)
                yield part.value or ()
            elif isinstance(part, Named):
                yield part.names
                yield (ShapeCapture(part.capture, is_many=True),)
            else:
                yield (part,)

    def captures(self) -> Iterator[ShapeCapture]:
        """Yield the captures, from left to right."""
        return (piece for run in self.runs() for piece in run if isinstance(piece, ShapeCapture))

    def literals(self) -> Iterator[str]:
        """Yield the words that are written, from left to right."""
        return (piece for run in self.runs() for piece in run if isinstance(piece, str) and piece)

    def names(self) -> Iterator[str]:
        """Yield the names of parameters."""
        for part in self.query:
            if isinstance(part, ShapeParameter):
                yield part.name
            elif isinstance(part, Named):
                yield from part.names

    def written(self) -> Shape:
        """Return the same URL as a right side writes it."""
        return Shape(
            _written(self.scheme),
            tuple(tuple(map(_written, run)) for run in self.host),
            tuple(tuple(map(_written, run)) for run in self.path),
            tuple(map(_written_part, self.query)),
        )

    def masked(self, names: frozenset[str]) -> Shape:
        """Return the same URL as a right side writes it, with some captures that only the key hides."""

        def each(piece: Piece) -> Piece:
            if isinstance(piece, ShapeCapture):
                return piece.written(EDIT_ANY if piece.name in names else "")
            return piece

        return Shape(
            each(self.scheme),
            tuple(tuple(map(each, run)) for run in self.host),
            tuple(tuple(map(each, run)) for run in self.path),
            tuple(_mapped(part, each) for part in self.query),
        )


def _written(piece: Piece) -> Piece:
    return piece.written() if isinstance(piece, ShapeCapture) else piece


def _written_part(part: QueryPart) -> QueryPart:
    return _mapped(part, _written)


def _mapped(part: QueryPart, each: Callable[[Piece], Piece]) -> QueryPart:
    if isinstance(part, ShapeParameter):
        return part if part.value is None else ShapeParameter(part.name, tuple(map(each, part.value)))
    if isinstance(part, Named):
        return ShapeCapture(part.capture)
    found = each(part)
    return part if isinstance(found, str) else found


def text_of(run: Run) -> str:
    """Return a run in the rule language."""
    # Most runs are one literal, or one capture.
    return str(run[0]) if len(run) == 1 else "".join(map(str, run))


@dataclass(frozen=True)
class Guard:
    """Where an edit holds, or where it does not: a host, a path, parameters; what is not said is open."""

    host: tuple[Run, ...] | None = None
    path: tuple[Run, ...] | None = None
    query: tuple[ShapeParameter, ...] = ()

    def __str__(self) -> str:
        host = f"{{s}}://{'.'.join(map(text_of, self.host))}" if self.host is not None else ""
        path = "/" + "/".join(map(text_of, self.path)) if self.path is not None else ""
        query = "&".join(map(str, self.query))
        return f"{host}{path}{'?' * bool(query)}{query}"

    def literals(self) -> Iterator[str]:
        """Yield the words that it names."""
        runs = (*(self.host or ()), *(self.path or ()))
        yield from (piece for run in runs for piece in run if isinstance(piece, str) and piece)
        for part in self.query:
            yield part.name
            yield from (piece for piece in part.value or () if isinstance(piece, str) and piece)


def places_of(shape: Shape) -> dict[str, str]:
    """Return in which part of a URL each named capture stands."""
    host = {piece.name: "host" for run in shape.host for piece in run if isinstance(piece, ShapeCapture)}
    path = {piece.name: "path" for run in shape.path for piece in run if isinstance(piece, ShapeCapture)}
    query = {
        piece.name: f"query {part.name}"
        for part in shape.query
        if isinstance(part, ShapeParameter)
        for piece in part.value or ()
        if isinstance(piece, ShapeCapture)
    }
    return host | path | query


def filled(shape: Shape, captures: dict[str, ShapeCapture]) -> Shape:
    """Return a shape with its captures as they are described elsewhere, by name."""

    def one(piece: str | ShapeCapture) -> str | ShapeCapture:
        return captures.get(piece.name, piece) if isinstance(piece, ShapeCapture) and piece.name else piece

    def part(each: ShapeParameter | Named | ShapeCapture) -> ShapeParameter | Named | ShapeCapture:
        if isinstance(each, ShapeParameter):
            return each if each.value is None else ShapeParameter(each.name, tuple(map(one, each.value)))
        filled = one(each) if isinstance(each, ShapeCapture) else each
        return each if isinstance(filled, str) else filled

    return Shape(
        one(shape.scheme),
        tuple(tuple(map(one, run)) for run in shape.host),
        tuple(tuple(map(one, run)) for run in shape.path),
        tuple(map(part, shape.query)),
    )


def shape_from(text: str) -> Shape:
    """Return the shape that a pattern says.

    >>> str(shape_from("{s}://{h}/{*}?id={a:int}&{rest**}"))
    '{s}://{h}/{*}?id={a:int}&{rest**}'
    """
    scheme, _, rest = text.partition("://")
    host, _, rest = rest.partition("/")
    path, has_query, query = rest.partition("?")
    parts = tuple(map(_parameter, query.split("&"))) if has_query and query else ()
    (first,) = run_from(scheme)
    labels = tuple(map(run_from, host.split("."))) if "{" in host else ((host,),)
    return Shape(first, labels, tuple(map(run_from, path.split("/"))), parts)


def run_from(text: str) -> Run:
    """Return the literals and captures of a stretch.

    >>> run_from("story_{id:int}.html")
    ('story_', ShapeCapture(name='id', kind='int', is_many=False, form=''), '.html')
    """
    return tuple(_pieces(text)) or ("",)


def _pieces(text: str) -> Iterator[Piece]:
    while text:
        literal, brace, rest = text.partition("{")
        if literal:
            yield literal
        if brace:
            said, _, text = rest.partition("}")
            yield _capture(said)
        else:
            text = ""


def _capture(said: str) -> ShapeCapture:
    name, _, kind = said.partition(":")
    is_many = name.endswith("**")
    return ShapeCapture(name.rstrip("*"), kind, is_many)


def _parameter(text: str) -> QueryPart:
    if text.startswith("{"):
        capture = _capture(text[1:-1])
        return Named(tuple(capture.kind.split("|")), capture.name) if capture.kind else capture
    name, equals, value = text.partition("=")
    return ShapeParameter(name, run_from(value) if equals else None)


def is_shorter(source: Shape, target: Shape) -> bool:
    """Return whether the right side has fewer words than the left one."""
    return len(list(target.runs())) < len(list(source.runs())) or len(_flat(target)) < len(_flat(source))


def _flat(shape: Shape) -> list[str | ShapeCapture]:
    return [piece for run in shape.runs() for piece in run]


def labels_of(shape: Shape) -> list[str]:
    """Return what each capture is called: its own name, or that of the parameter around it."""
    labels: list[str] = []
    for run in (*((shape.scheme,),), *shape.host, *shape.path):
        labels += [piece.name or "segment" for piece in run if isinstance(piece, ShapeCapture)]
    for part in shape.query:
        if isinstance(part, ShapeParameter):
            labels += [part.name for piece in part.value or () if isinstance(piece, ShapeCapture)]
        elif isinstance(part, Named):
            labels.append("|".join(part.names))
        else:
            labels.append(part.name or "rest")
    return labels


_HEX = re.compile(r"[0-9a-fA-F]{4,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def narrowest_class(texts: set[str]) -> str:
    """Return the narrowest class that holds some texts; empty for any."""
    if all(text.isdigit() and text.isascii() for text in texts):
        return "int"
    if all(map(_UUID.fullmatch, texts)):
        return "uuid"
    is_hex = all(map(_HEX.fullmatch, texts)) and any(not text.isalpha() for text in texts)
    return "hex" if is_hex else ""


NUMBER_OF_PAGE = ShapeCapture(kind="int")
_NUMBERED = re.compile(r"([A-Za-z]+)([0-9]+)")


def typed_run(tokens: list[str]) -> Run:
    """Return tokens as they stay: words and signs as they are, numbers open."""
    run: list[Piece] = []
    for token in tokens:
        if token.isdigit():
            run.append(NUMBER_OF_PAGE)
        elif numbered := _NUMBERED.fullmatch(token):
            run += [numbered[1], NUMBER_OF_PAGE]
        else:
            run.append(token)
    return joined_run(run)


def joined_run(run: Iterable[Piece]) -> Run:
    """Return pieces with literals that are next to each other as one."""
    joined: list[Piece] = []
    for piece in run:
        if joined and isinstance(piece, str) and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


_CODE = re.compile(r"[0-9a-fA-F]+")


def codes_behind_word(texts: set[str]) -> tuple[str, set[str]]:
    """Return the word with which texts begin that are numbers or codes, and these.

    >>> word, codes = codes_behind_word({"sid7f", "sid12", "sida0"})
    >>> word, sorted(codes)
    ('sid', ['12', '7f', 'a0'])
    """
    first, last = min(texts), max(texts)
    same = next(
        (at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    word = first[:same].rstrip("0123456789")
    rest = {text[len(word) :] for text in texts}
    is_word = word.isalpha() and all(map(_CODE.fullmatch, rest)) and not all(map(_CODE.fullmatch, texts))
    return (word, rest) if is_word else ("", texts)
