"""The parts of a rule as regular expressions over a URL in standard form, and its right side as texts.

The literals of a rule are written in standard form, as the core compares them: a rule file may say `%7euser`
or `Bücher.example`; a URL in standard form never does. The right side becomes texts and references to groups.

There are two ways to write expressions. RE2 knows no look around and needs none: it never goes back. Python,
PCRE and Java do, so for them quantifiers are possessive and groups atomic where nothing is to be tried again
(see `runs.py`). A triplet is one character, so a run beside other text takes triplets whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.rules.pattern import Capture
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from undust.rules.pattern import Text

# Around a literal, so that it is neither a dot segment nor the start of a triplet.
_GUARD = "z"
_SPECIAL = frozenset(r".^$*+?{}[]()|\ ")


@lru_cache(4096)
def path_literal(text: str) -> str:
    """Return a piece of a path in standard form."""
    return _between("http://guard.test/", text)


@lru_cache(4096)
def query_literal(text: str) -> str:
    """Return a piece of a query, or a text of a `replace`, in standard form."""
    return _between("http://guard.test/?", text)


def _between(before: str, text: str) -> str:
    url = normalize(f"{before}{_GUARD}{text}{_GUARD}")
    return url[len(before) + len(_GUARD) : -len(_GUARD)]


def host_literal(text: str) -> str:
    """Return a whole host, without its port, in standard form."""
    url = normalize(f"http://{text}/")
    return url.removeprefix("http://").removesuffix("/")


def label_literal(text: str) -> str:
    """Return a piece of a label in standard form."""
    if not text.isascii() or "%" in text:
        message = "a piece of a host label is not ASCII"
        raise CannotExpress(message)
    return text.lower()


def escaped(text: str) -> str:
    """Return the regular expression of a literal, alike in all dialects."""
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in text)


def quoted(text: str) -> str:
    """Return a text between single quotes, as SQL and YAML read it."""
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True)
class Ref:
    """The text of a group, written as it was taken."""

    name: str


Filled = tuple[str | Ref, ...]
"""What a rule writes: literals and references in sequence."""


def as_refs(texts: tuple[Text, ...]) -> tuple[Text, ...]:
    """Return texts of a left side as a right side would write them again: names alone, no class, no stars."""
    return tuple(tuple(as_ref(p) if isinstance(p, Capture) else p for p in text) for text in texts)


def as_ref(capture: Capture) -> Capture:
    """Return a capture as a right side would refer to it."""
    return Capture(capture.name, is_many=False, detail=None)


SCHEME = "https?"
AUTHORITY = r"[^/?#@\[\]]+|\[[0-9a-f:]+\](?::[0-9]+)?"
_TRIPLET = "%(?:[01][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[BCDE]|60|7[BCDF]|[89A-F][0-9A-F])"
"""The triplets that standard form keeps."""
_NAME = "[a-z0-9_.~!$&'()*+,;=-]+"
_PATH = "[A-Za-z0-9._~!$&'()*+,;=:@-]"
_QUERY = "[A-Za-z0-9._~!$&'()*+,;=:@/?-]"

STANDARD_FORM = (
    rf"{SCHEME}://(?:{_NAME}|\[[0-9a-f:]+\])(?::[0-9]+)?"
    rf"(?:/(?:{_PATH}|{_TRIPLET})*)+(?:\?(?:{_QUERY}|{_TRIPLET})*)?"
)
"""Matches a whole URL in standard form, but for dot segments and default ports; for RE2."""
STANDARD_FORM_AT_ONCE = (
    rf"{SCHEME}://(?:{_NAME}+|\[[0-9a-f:]++\])(?::[0-9]++)?+"
    rf"(?:/(?:{_PATH}++|{_TRIPLET})*+)++(?:\?(?:{_QUERY}++|{_TRIPLET})*+)?+"
)
"""The same for engines that go back: each quantifier is possessive."""
NOT_STANDARD = r"http://[^/?]*:80/|https://[^/?]*:443/|https?://[^?]*/\.\.?(?:[/?]|$)"
"""Matches the beginning of a URL with a default port or a dot segment."""

_CLASSES = {
    "int": "[0-9]+",
    "alpha": "[A-Za-z]+",
    "hex": "[0-9A-Fa-f]+",
    "word": "[A-Za-z0-9_-]+",
    "uuid": "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "date": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
}


@dataclass(frozen=True)
class CaptureGroup:
    """A part of an expression whose text is needed again."""

    name: str
    expression: str


Pieces = tuple[str | CaptureGroup, ...]
"""An expression in parts; numbers are given to its groups when it is printed."""


@dataclass(frozen=True)
class UrlPart:
    """A part of a URL with runs in it: what a run may not contain, what ends it, how literals look."""

    stops: str
    end: str
    """Looks ahead to where the part ends."""
    normalize: Callable[[str], str]

    @property
    def run(self) -> str:
        """The expression of one character of a run."""
        return f"[^{''.join(map(in_class, self.stops))}]"


def in_class(character: str) -> str:
    """Return a character as it is written between square brackets."""
    return f"\\{character}" if character in r"\[]^-" else character


LABEL = UrlPart("./:?@&;[]", "(?=[.:/]|$)", label_literal)
SEGMENT = UrlPart("/?&;", "(?=[/?]|$)", path_literal)
VALUE = UrlPart("&;", "(?=&|$)", query_literal)


def is_of_class(detail: str | None) -> bool:
    """Whether a capture is bound to one of the named classes."""
    return detail in _CLASSES


def run_of_class(detail: str) -> str:
    """Return the expression of a named class."""
    return _CLASSES[detail]


def plain_pieces(text: Text, place: UrlPart, used: Collection[str]) -> Pieces:
    """Return a label, a segment or a value for RE2; captures that are `used` become groups."""
    is_alone = len(text) == 1
    pieces: list[str | CaptureGroup] = []
    for piece in text:
        if isinstance(piece, str):
            pieces.append(escaped(place.normalize(piece)))
            continue
        expression = run(piece, place, is_alone=is_alone)
        is_group = piece.name is not None and piece.name in used
        pieces.append(CaptureGroup(piece.name or "", expression) if is_group else expression)
    return tuple(pieces)


def run(capture: Capture, place: UrlPart, *, is_alone: bool) -> str:
    """Return the expression of one capture that is a run of characters."""
    if capture.is_many:
        message = "any number of values beside text"
        raise CannotExpress(message)
    if capture.detail in _CLASSES:
        return _CLASSES[capture.detail]
    if capture.detail is not None:
        # The longest item that lets the rest match is taken.
        items = sorted(map(place.normalize, capture.detail.split("|")), key=len, reverse=True)
        return f"(?:{'|'.join(map(escaped, items))})"
    if is_alone or place is LABEL:
        return f"{place.run}+"
    return f"(?:{place.run[:-1]}%]|%[0-9A-F][0-9A-F])+"


def without_groups(pieces: Pieces) -> str:
    """Return the expression with no group in it."""
    return "".join(piece if isinstance(piece, str) else f"(?:{piece.expression})" for piece in pieces)


def numbered(pieces: Pieces) -> tuple[str, dict[str, int]]:
    """Return the expression, and the number of each group."""
    numbers: dict[str, int] = {}
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
        else:
            numbers[piece.name] = len(numbers) + 1
            text += f"({piece.expression})"
    return text, numbers
