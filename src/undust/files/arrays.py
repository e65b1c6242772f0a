"""A JSON array of objects, taken apart object by object, so that one of any length passes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from undust.errors import DamagedSource
from undust.files.objects import JsonPlace, ObjectChanges
from undust.files.streams import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.files.change import TableChange

NOT_JSON = "not a JSON object"
TOO_LONG = f"longer than {LONGEST_LINE:,} bytes"
_CUT_OFF = "cut off in the middle"
OBJECTS_AT_ONCE = 4096
_NEXT_OBJECT = re.compile(rb"[,\[\n]\s*\{")
_BRACE = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}]', re.DOTALL)
_AROUND = b" \t\r\n,[]\xef\xbb\xbf"
"""What may be between objects."""

Damage = Callable[[str, int, bytes], object]
"""Called with what is wrong, the offset, and the bytes there."""


class Piece(NamedTuple):
    """An object, or the text between two."""

    offset: int
    data: bytes
    is_object: bool


def array_pieces(blocks: Iterable[bytes], damage: Damage) -> Iterator[Piece]:
    """Give all objects of an array and the text between them; after damage the next object."""
    held, offset = b"", 0
    is_told = False  # that what comes next is the rest of something too long
    for block in blocks:
        held += block
        at = 0
        while (start := held.find(b"{", at)) >= 0:
            yield from _between(held[at:start], offset + at, None if is_told else damage)
            is_told = False
            end = _object_end(held, start)
            at = start if end < 0 else end
            if end < 0:
                break
            yield Piece(offset + start, held[start:end], is_object=True)
        else:
            yield from _between(held[at:], offset + at, None if is_told else damage)
            at = len(held)
        if len(held) - at > LONGEST_LINE:
            # Either one object is that long, or a quote is missing and hid where it ends.
            damage(TOO_LONG, offset + at, held[at:])
            is_told = True
            resumed = _NEXT_OBJECT.search(held, at + 1)
            at = resumed.end() - 1 if resumed else len(held)
        offset += at
        held = held[at:]
    if b"{" in held:
        damage(_CUT_OFF, offset, held)


def _between(data: bytes, offset: int, damage: Damage | None) -> Iterator[Piece]:
    if damage and data.strip(_AROUND):
        damage(NOT_JSON, offset, data)
    if data:
        yield Piece(offset, data, is_object=False)


def _object_end(data: bytes, start: int) -> int:
    """Return the place after the object that starts at a brace, or -1 if that is not in `data`."""
    depth = 0
    for token in _BRACE.finditer(data, start):
        if token[0] == b"{":
            depth += 1
        elif token[0] == b"}":
            depth -= 1
            if not depth:
                return token.end()
    return -1


def change_json_array(blocks: Iterable[bytes], change: TableChange) -> None:
    """Write the array with the results in a member of each object."""

    def refuse(reason: str, offset: int, _: bytes) -> NoReturn:
        message = f"{change.name}: offset {offset}: {reason}; correct or remove it"
        raise DamagedSource(message)

    changes = ObjectChanges(change)
    is_first = True
    before, places = b"", list[JsonPlace]()
    for piece in array_pieces(blocks, refuse):
        if not piece.is_object:
            before += piece.data.removeprefix(b"\xef\xbb\xbf") if not piece.offset else piece.data
            continue
        places.append(JsonPlace(before, piece.data, b"", piece.offset))
        before = b""
        if len(places) == OBJECTS_AT_ONCE:
            is_first = _written(changes, places, change, is_first=is_first)
            places = []
    is_first = _written(changes, places, change, is_first=is_first)
    if not before.rstrip().endswith(b"]"):
        message = f"{change.name}: the array has no end; get the file again"
        raise DamagedSource(message)
    if change.drops_rows:
        before = b"[]\n" if is_first else b"]\n"
    change.write(before)
    changes.finish()


def _written(changes: ObjectChanges, places: list[JsonPlace], change: TableChange, *, is_first: bool) -> bool:
    """Write some objects; where some are left out, with commas of our own. Return whether none was so far."""
    if not change.drops_rows:
        change.write(b"".join(changes.changed(places)))
        return is_first and not places
    for data in changes.changed([place._replace(before=b"") for place in places]):
        change.write((b"[" if is_first else b",\n") + data)
        is_first = False
    return is_first


def line_of_member(text: str, name: str, number: int, field: str | None) -> int | None:
    r"""Return the line of a field of an object in a list, or where the object starts; the text is JSON.

    >>> line_of_member('{"rules": [\n{},\n{"site":\n"a.test"}]}', "rules", 2, None)
    3
    """
    span = _span_of(text, name, number)
    if span is None:
        return None
    start, end = span
    if field is not None:
        key = field.partition("[")[0]  # a list has the field "when[1]"
        found = text.find(json.dumps(key), start, end)
        start = found if found >= 0 else start
    return text.count("\n", 0, start) + 1


def _span_of(text: str, name: str, number: int) -> tuple[int, int] | None:
    decode = json.JSONDecoder().raw_decode
    at = _after_space(text, 0) + 1
    while text[at : at + 1] != "}":
        key, at = decode(text, _after_space(text, at))
        at = _after_space(text, _after_space(text, at) + 1)
        if key == name and text[at] == "[":
            start = end = at
            for _ in range(number):
                start = _after_space(text, _after_space(text, end) + 1)
                _, end = decode(text, start)
            return start, end
        _, at = decode(text, at)
        at = _after_space(text, at)
        at = _after_space(text, at + 1) if text[at] == "," else at
    return None


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] in {" ", "\n", "\r", "\t", "\ufeff"}:
        at += 1
    return at
