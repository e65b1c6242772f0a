"""JSON objects as bytes: one a line, in an array, or after the key and time of a CDXJ line.

An object gets a member more, or one of its values is replaced; every other byte stays as it is. Most
lines are taken apart by the core; other objects by one regular expression, which accepts valid JSON alone;
those that it does not accept (deeply nested, an escaped name, a name twice, damage) go member by member
through `json`.
"""

from __future__ import annotations

import json
import operator
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from undust._core import plain_objects
from undust.errors import DamagedSource
from undust.files.change import numbered_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.files.change import Cell, Numbered, TableChange

MOST_ODD_LINES = 1 << 12
"""Lines that are taken apart here before the core is asked again."""
SNIFFED_OBJECTS = 20
NULL = b"null"
_SPACE = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*+)*+"'
_NAME = rb'"[^"\\\x00-\x1f]*+"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_ATOM = rb"(?:" + _STRING + rb"|" + _NUMBER + rb"|true|false|null)"
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
_URL = re.compile(rb"\s*https?://", re.IGNORECASE)
_CDXJ = re.compile(rb"[^ ]+ [0-9]{4,17} (?=\{)")
_DECODER = json.JSONDecoder()
_JSON_SPACE = re.compile(r"[ \t\r\n]*")


def _nested(inner: bytes) -> bytes:
    """Return the pattern of a value: an atom, or an array or object of `inner`."""
    comma, colon = _SPACE + b"," + _SPACE, _SPACE + b":" + _SPACE
    items = inner + b"(?:" + comma + inner + b")*+"
    member = _STRING + colon + inner
    members = member + b"(?:" + comma + member + b")*+"
    array = rb"\[" + _SPACE + b"(?:" + items + b")?+" + _SPACE + rb"\]"
    return b"(?:" + _ATOM + b"|" + array + rb"|\{" + _SPACE + b"(?:" + members + b")?+" + _SPACE + rb"\})"


_VALUE = _nested(_nested(_ATOM))


Found = tuple[bytes | None, bytes, bytes]
"""The value that is read, None if it is missing; and the text before and after the one written."""


class Finder:
    """Finds the two members of objects."""

    def __init__(self, read: str, written: str) -> None:
        self._read, self._written = read, written
        self._is_same = read == written
        self.names = _dumped(read), _dumped(written)
        """As JSON writes them."""
        self._added = b", " + _dumped(written) + b": "
        self.before = b"" if self._is_same else self._added
        """What precedes a result in an object that has the member that is read."""
        names = b"|".join(re.escape(_dumped(name)) for name in dict.fromkeys((read, written)))
        other = b"(?!(?:" + names + b")" + _SPACE + b":)" + _NAME + _SPACE + b":" + _SPACE + _VALUE
        wanted = re.escape(_dumped(read)) + _SPACE + b":" + _SPACE + b"(" + _STRING + b"|null)"
        before = b"(?:" + _SPACE + other + _SPACE + b",)*+" + _SPACE
        behind = b"(?:" + _SPACE + b"," + _SPACE + other + b")*+"
        self._pattern = re.compile(
            _SPACE + rb"\{" + before + wanted + behind + b"()" + _SPACE + rb"\}" + _SPACE
        )

    def find(self, data: bytes) -> Found | None:
        """Return the requested members of an object; None if this is not an object."""
        match = self._pattern.fullmatch(data)
        if match is None:
            return self._find_slowly(data)
        if self._is_same:
            start, end = match.span(1)
            return match[1], data[:start], data[end:]
        end = match.start(2)
        return match[1], data[:end] + self._added, data[end:].lstrip()

    def _find_slowly(self, data: bytes) -> Found | None:
        text = data.decode("utf-8", "surrogateescape")
        try:
            found, end = _members(text)
        except (ValueError, RecursionError):
            return None
        read, written = found.get(self._read), found.get(self._written)
        token = _encoded(text[slice(*read)]) if read else None
        if written:
            return token, _encoded(text[: written[0]]), _encoded(text[written[1] :])
        added = self._added if found else self._added[2:]
        return token, _encoded(text[:end]) + added, _encoded(text[end:].lstrip(" \t\r\n"))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _dumped(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _members(text: str) -> tuple[dict[str, tuple[int, int]], int]:
    """Return where each member of an object has its value, and the end of the last; raise if it is broken."""
    at = _expected(text, 0, "{")
    found: dict[str, tuple[int, int]] = {}
    end = at
    if text[_skipped(text, at) : _skipped(text, at) + 1] != "}":
        while True:
            name, at = _DECODER.raw_decode(text, _skipped(text, at))
            if not isinstance(name, str):
                raise ValueError(name)  # noqa: TRY004 -- of the text, not of a caller
            start = _skipped(text, _expected(text, at, ":"))
            _, end = _DECODER.raw_decode(text, start)
            found[name] = (start, end)
            at = _skipped(text, end)
            if text[at : at + 1] != ",":
                break
            at += 1
    if _skipped(text, _expected(text, at, "}")) != len(text):
        raise ValueError(text)
    return found, end


def _skipped(text: str, at: int) -> int:
    match = _JSON_SPACE.match(text, at)
    return match.end() if match else at


def _expected(text: str, at: int, char: str) -> int:
    at = _skipped(text, at)
    if text[at : at + 1] != char:
        raise ValueError(char)
    return at + 1


def text_of(token: bytes) -> bytes | None:
    """Return the text that a JSON string is, as bytes; None if the value is not a string.

    What Scrapy's item loaders make of a field by default, a list of one text, is that text.
    """
    value: Any = json.loads(token.decode("utf-8", "surrogateescape"))
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return None
    for errors in ("surrogateescape", "surrogatepass"):
        with suppress(UnicodeEncodeError):
            return value.encode("utf-8", errors)
    return None


def token_of(cell: Cell) -> bytes:
    """Return a text as a JSON string."""
    if cell is None:
        return NULL
    if _PLAIN.fullmatch(cell):
        return b'"%b"' % cell
    return json.dumps(
        cell.decode("utf-8", "surrogatepass" if b"\xed" in cell else "surrogateescape")
    ).encode()


class JsonPlace(NamedTuple):
    """An object with the text before and after it, and where it is, for messages."""

    before: bytes
    data: bytes
    after: bytes
    number: int
    """Of the line, or the offset in an array."""


def change_json_lines(blocks: Iterable[bytes], change: TableChange) -> None:
    """Write each object of JSON lines with the results in their member."""
    ObjectChanges(change).run(numbered_lines(change.name, blocks))


def change_cdxj(blocks: Iterable[bytes], change: TableChange) -> None:
    """Write each line of CDXJ with the results in a member of its object."""
    ObjectChanges(change, _after_time).run(numbered_lines(change.name, blocks))


def _places(data: bytes, number: int) -> list[JsonPlace]:
    """Return the lines that are not blank; `number` is that of the first line."""
    texts = data.removesuffix(b"\n").split(b"\n")
    return [JsonPlace(b"", text, b"\n", line) for line, text in enumerate(texts, number) if text.strip()]


def _after_time(place: JsonPlace) -> JsonPlace | None:
    """Return the object of a CDXJ line; None for a line of another kind, which stays as it is."""
    if place.data.startswith(b"!"):
        return None
    match = _CDXJ.match(place.data)
    end = match.end() if match else 0
    return place._replace(before=place.data[:end], data=place.data[end:])


class ObjectChanges:
    """Changes the objects of one file."""

    def __init__(
        self, change: TableChange, narrow: Callable[[JsonPlace], JsonPlace | None] | None = None
    ) -> None:
        self._change, self._narrow = change, narrow
        self._finder: Finder | None = None
        self._column = ""
        self._is_seen = False
        self._keys: dict[str, None] = {}

    def run(self, blocks: Iterable[Numbered]) -> None:
        """Write the objects of all lines."""
        for lines in blocks:
            pieces = self._changed_lines(lines.data, lines.first)
            if pieces:
                self._change.write(b"".join(pieces))
        self.finish()

    def _changed_lines(self, data: bytes, number: int) -> list[bytes]:
        """Return the lines that are to be written."""
        if self._finder is None and (objects := list(self._narrowed(_places(data, number)))):
            self._begin([each for each in objects if each is not None][:SNIFFED_OBJECTS])
        pieces: list[bytes] = []
        at, odd_lines = 0, 1
        while at < len(data):
            lines, at = self._plain(data, at, number, pieces)
            odd_lines = 1 if lines else min(2 * odd_lines, MOST_ODD_LINES)
            number += lines
            start = at
            for _ in range(odd_lines):
                at = data.find(b"\n", at) + 1 or len(data)
            if start < at:
                pieces += self.changed(_places(data[start:at], number))
            number += odd_lines
        return pieces

    def _plain(self, data: bytes, at: int, number: int, pieces: list[bytes]) -> tuple[int, int]:
        """Change the lines that the core takes apart, from a place on; return their number and end."""
        work, finder = self._change.work_lines, self._finder
        if work is None or finder is None:
            return 0, at
        rows = plain_objects(data, at, *finder.names, self._narrow is not None)
        if len(rows):
            self._is_seen = True
            results = work(rows.cells)
            if results is not None:
                written = rows.write_objects(data, results, finder.before, self._change.only_changed)
                pieces += (
                    self._escaped(_places(data[at : rows.end], number), results)
                    if written is None
                    else [written]
                )
        return len(rows), rows.end

    def _escaped(self, places: list[JsonPlace], results: bytes) -> list[bytes]:
        """Return objects with results of which one cannot be written as it is."""
        objects = [place for place in self._narrowed(places) if place is not None]
        found = [self._find(place) for place in objects]
        cells = [self._text(each[0], place) for each, place in zip(found, objects, strict=True)]
        new = results.removesuffix(b"\n").split(b"\n")
        chosen = list(map(operator.ne, cells, new)) if self._change.only_changed else None
        return [text for text in _written(objects, found, cells, new, chosen) if text is not None]

    def _narrowed(self, places: Sequence[JsonPlace]) -> Sequence[JsonPlace | None]:
        return [self._narrow(place) for place in places] if self._narrow else places

    def finish(self) -> None:
        """Raise if no object had the column."""
        if self._finder is not None and not self._is_seen:
            self._change.choose(list(self._keys), [])
            message = (
                f"{self._change.name}: no row has the column '{self._column}'; name another with --column"
            )
            raise DamagedSource(message)

    def changed(self, places: Sequence[JsonPlace]) -> list[bytes]:
        """Return the objects that are to be written, with what surrounds them."""
        narrowed = self._narrowed(places)
        objects = [place for place in narrowed if place is not None]
        if self._finder is None and objects:
            self._begin(objects[:SNIFFED_OBJECTS])
        found = [self._find(place) for place in objects]
        cells: list[Cell] = [self._text(each[0], place) for each, place in zip(found, objects, strict=True)]
        self._is_seen = self._is_seen or any(each[0] is not None for each in found)
        results, chosen = self._change.work(cells)
        written = _written(objects, found, cells, results, chosen)
        if len(objects) == len(places):
            return [text for text in written if text is not None]
        others = iter(written)
        both = (
            original.data + original.after if place is None else next(others)
            for place, original in zip(narrowed, places, strict=True)
        )
        return [text for text in both if text is not None]

    def _begin(self, places: Sequence[JsonPlace]) -> None:
        """Choose the column by the first objects; each may have others."""
        values: dict[str, list[Any]] = {}
        for place in places:
            with suppress(ValueError, RecursionError):
                value = json.loads(place.data.decode("utf-8", "surrogateescape"))
                for name in value if isinstance(value, dict) else ():
                    values.setdefault(name, []).append(value[name])
        self._keys = dict.fromkeys(values)
        url_like = [name for name, held in values.items() if all(map(_is_url, held))]
        said = self._change.said
        is_named = said is None or said in values
        self._column = self._change.choose(list(values), url_like) if values and is_named else said or "url"
        self._finder = Finder(self._column, self._change.written)

    def _find(self, place: JsonPlace) -> Found:
        found = self._finder.find(place[1]) if self._finder else None
        if found is None:
            mend = "remove it, or give --format lines for a list of URLs"
            message = f"{self._change.name}: {_where(place)} is not a JSON object; {mend}"
            raise DamagedSource(message)
        return found

    def _text(self, token: bytes | None, place: JsonPlace) -> Cell:
        if token is None or token == NULL:
            return None
        if token[:1] == b'"' and b"\\" not in token:
            return token[1:-1]
        text = text_of(token)
        if text is None:
            what = f"'{self._column}' in {_where(place)} is not text"
            message = f"{self._change.name}: {what}; name the column of the URLs with --column"
            raise DamagedSource(message)
        return text


def _written(
    objects: Sequence[JsonPlace],
    found: Sequence[Found],
    cells: Sequence[Cell],
    results: Sequence[Cell],
    chosen: Sequence[bool] | None,
) -> list[bytes | None]:
    """Return objects with their results; None for those that are not written."""
    written: list[bytes | None] = []
    for row, (token, before, after) in enumerate(found):
        result = results[row]
        new = token if token is not None and result == cells[row] else token_of(result)
        place = objects[row]
        is_chosen = chosen is None or chosen[row]
        written.append(place[0] + before + new + after + place[2] if is_chosen else None)
    return written


def _where(place: JsonPlace) -> str:
    return f"row {place.number}" if place.after else f"the object at offset {place.number}"


def _is_url(value: Any) -> bool:  # noqa: ANN401 -- any JSON value
    return value is None or (
        isinstance(value, str) and _URL.match(value.encode("utf-8", "replace")) is not None
    )
