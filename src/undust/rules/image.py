"""The compiled rule file, which `undust rules compile` writes: mapped, it is ready at once.

It holds the program of the core, and behind it the rules themselves for those who look at them: pieces of
JSON, packed, of which only the ones that are asked for are read. Processes that map the file share its
memory. It fits the version of undust and the kind of machine that wrote it; the rule file stays the source.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from undust._core import IMAGE_MARK, Program
from undust.errors import InvalidRule, UnknownVersion
from undust.files.streams import STANDARD
from undust.urls.url import suffixes

if TYPE_CHECKING:
    from collections.abc import Mapping

_RULES_IN_PIECE = 1024
_SIZE_BYTES = 8
"""Of the number that precedes the index of the pieces."""
_LEVEL = 3
_AGAIN = "compile the rules again with `undust rules compile`"


class Image(NamedTuple):
    """What a compiled rule file holds."""

    program: Program
    header: dict[str, Any]
    """What the rule file holds beside its rules."""
    rules: PackedRules


class PackedRules(Sequence[dict[str, Any]]):
    """The rules of a compiled file as JSON objects, unpacked when they are asked for."""

    def __init__(self, texts: memoryview, name: str) -> None:
        size = int.from_bytes(texts[:_SIZE_BYTES], "little")
        index = json.loads(bytes(texts[_SIZE_BYTES : _SIZE_BYTES + size]))
        self.header: dict[str, Any] = index["header"]
        self._count: int = index["rules"]
        self._ends: list[int] = index["ends"]
        self._pieces = texts[_SIZE_BYTES + size :]
        self._name = name
        self._unpacked = lru_cache(maxsize=4)(self._unpack)

    def _unpack(self, number: int) -> list[dict[str, Any]]:
        start = self._ends[number - 1] if number else 0
        rules: list[dict[str, Any]] = json.loads(zlib.decompress(self._pieces[start : self._ends[number]]))
        return rules

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(place, slice):
            return list(self)[place]
        number, behind = divmod(range(self._count)[place], _RULES_IN_PIECE)
        return self._unpacked(number)[behind]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for number in range(len(self._ends)):
            yield from self._unpack(number)

    def __reduce__(self) -> tuple[type[list[dict[str, Any]]], tuple[list[dict[str, Any]]]]:
        """Travel to other processes as plain objects; the file may not be there."""
        return list, (list(self),)


def is_image(path: str) -> bool:
    """Return whether a file is a compiled rule file."""
    if path == STANDARD:
        return False
    try:
        with Path(path).open("rb") as file:
            return file.read(len(IMAGE_MARK)) == IMAGE_MARK
    except OSError:
        return False


def mapped(path: str) -> Image:
    """Return what a compiled rule file holds; the file is mapped, not read."""
    with Path(path).open("rb") as file:
        return unpacked(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), path)


def unpacked(data: memoryview, name: str) -> Image:
    """Return the same for bytes; `name` is for messages."""
    try:
        program = Program.mapped(data, suffixes())
    except ValueError as error:
        kind, _, reason = str(error).partition(": ")
        if kind == "version":
            message = f"{name}: {reason}, and it does not fit here; {_AGAIN}"
            raise UnknownVersion(message) from None
        message = f"{name}: the compiled rule file is damaged, as {reason}; {_AGAIN}"
        raise InvalidRule(message) from None
    at, size = program.texts
    rules = PackedRules(data[at : at + size], name)
    return Image(program, rules.header, rules)


def written(program: Program, header: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the bytes of a compiled rule file; the same rules give the same bytes."""
    pieces = [
        zlib.compress(json.dumps(list(rules[at : at + _RULES_IN_PIECE])).encode(), _LEVEL)
        for at in range(0, len(rules), _RULES_IN_PIECE)
    ]
    ends, end = [], 0
    for piece in pieces:
        end += len(piece)
        ends.append(end)
    index = json.dumps({"header": dict(header), "rules": len(rules), "ends": ends}).encode()
    return program.image(b"".join([len(index).to_bytes(_SIZE_BYTES, "little"), index, *pieces]))
