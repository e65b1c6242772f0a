"""Reading an archive in spite of its damage: each broken record costs itself and no other.

The libraries that read archives give up where a file is broken. Here reading is taken up again at the next
place where a record begins, packed or plain. Before that, the last record that was read is looked at
once more: one whose length is wrong swallows its neighbours, and then they are read and it is not.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from undust.packing import packing_of_content
from undust.sources.bodies import ForwardStream, Readable
from undust.sources.records import DAMAGED_PACKING, NO_HEADER, WRONG_LENGTH, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.packing import Packing

MOST_HELD = 64 << 20
"""Bytes of a file, as it is, that are held to find a record again that another one swallowed."""
BLOCK_BYTES = 1 << 16
_HEAD_BYTES = 4096
_WITH_GZIP_HEADER = 16 + zlib.MAX_WBITS
_MAGICS = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


class Damage(NamedTuple):
    """A place where no record could be read."""

    offset: int
    reason: str
    sample: bytes = b""


class Window(ForwardStream):
    """A stream that can be taken up again a little earlier."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._blocks: deque[bytes] = deque()
        # Offsets of the first byte held, of the next to be read, and behind the last held.
        self._start = self._at = self._end = 0

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        """Return at most so many bytes; none at the end."""
        if self._at < self._end:
            return self._again(size)
        piece = self._file.read(size)
        self._blocks.append(piece)
        self._end += len(piece)
        self._at = self._end
        self.forget(self._end - MOST_HELD)
        return piece

    def _again(self, size: int) -> bytes:
        start = self._start
        for block in self._blocks:
            if self._at < start + len(block):
                piece = block[self._at - start :][:size]
                self._at += len(piece)
                return piece
            start += len(block)
        return b""

    def tell(self) -> int:
        """Return the offset of the next byte to be read."""
        return self._at

    def peek(self, size: int) -> bytes:
        """Return at most so many of the next bytes, which stay the next."""
        at = self._at
        piece = self.read(size)
        self._at = at
        return piece

    def take(self, size: int) -> bytes:
        """Return so many bytes, or all there are."""
        pieces = []
        while size and (piece := self.read(min(size, BLOCK_BYTES))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def go_back(self, offset: int) -> None:
        """Let reading go on from an offset, or from the first byte that is still held."""
        self._at = min(max(offset, self._start), self._end)

    def forget(self, before: int) -> None:
        """Let go of blocks that stand before an offset."""
        while self._blocks and self._start + len(self._blocks[0]) <= before:
            self._start += len(self._blocks.popleft())

    def find_start(self, after: int, start: re.Pattern[bytes]) -> bool:
        """Move to the next place from `after` on where a record begins; False if there is none."""
        self.go_back(after)
        at, held = self._at, b""
        while True:
            more = self.read()
            held += more
            for place in _candidates(held, start):
                if more and place > len(held) - _HEAD_BYTES:
                    break
                if _begins(held[place : place + _HEAD_BYTES], start):
                    self.go_back(at + place)
                    return True
            if not more:
                return False
            rest = max(0, len(held) - 2 * _HEAD_BYTES)
            at, held = at + rest, held[rest:]
            self.forget(at)


def _candidates(data: bytes, start: re.Pattern[bytes]) -> list[int]:
    plain = {match.end() for match in _line_before(start).finditer(data)}
    return sorted(plain.union(*(_places_of(magic, data) for magic in _MAGICS)))


@cache
def _line_before(start: re.Pattern[bytes]) -> re.Pattern[bytes]:
    # What begins with a plain byte is found quickly.
    return re.compile(rb"\n(?=%b)" % start.pattern)


def _places_of(text: bytes, data: bytes) -> Iterator[int]:
    at = data.find(text)
    while at >= 0:
        yield at
        at = data.find(text, at + 1)


def _begins(data: bytes, start: re.Pattern[bytes]) -> bool:
    if not data.startswith(b"\x1f\x8b"):
        return True
    try:
        unpacked = zlib.decompressobj(_WITH_GZIP_HEADER).decompress(data, _HEAD_BYTES)
    except zlib.error:
        # Damaged itself, which whoever reads it will find and count.
        return True
    return start.match(unpacked) is not None


Row = TypeVar("Row")


class Archive(NamedTuple, Generic[Row]):
    """A kind of archive, and what is made of its records."""

    records: Callable[[Window], Iterator[Record]]
    start: re.Pattern[bytes]
    """How a record begins."""
    length: Callable[[bytes], int | None]
    """From the first bytes of a record to how long it is, without the line ends behind it."""
    row_of: Callable[[Record], Row]
    """Reads a record; called once for each, and what it returns is given on if the record is whole."""

    def rows(self, window: Window) -> Iterator[Row | Damage]:
        """Give what is made of each whole record, and each place where there is none, in order."""
        begin = failures = 0
        is_found = True
        while is_found:
            pending: tuple[int, Row] | None = None
            started = window.tell()
            try:
                for record in self.records(window):
                    if pending:
                        yield pending[1]
                    pending, failures = None, 0
                    begin = record.offset
                    window.forget(begin)
                    row = self.row_of(record)
                    if damage := record.payload.damage():
                        yield Damage(begin, damage)
                        begin += 1
                        break
                    pending = (begin, row)
                else:
                    is_found = False
            except OSError as error:
                end = self._end(window, pending[0]) if pending else None
                if pending and end is None:
                    yield Damage(pending[0], WRONG_LENGTH)
                else:
                    begin = begin if end is None else end
                    yield from [pending[1]] if pending else []
                    yield _damage(window, begin, error)
                # Where starts without records follow each other, ever larger steps are made.
                begin += 1 << min(failures, 16)
                failures += 1
                pending = None
            if pending:
                yield pending[1]
            # In what is packed as a whole, records tell where they are unpacked, which may be further back.
            is_found = is_found and window.find_start(max(begin, started + 1), self.start)
            begin = window.tell()

    def _end(self, window: Window, offset: int) -> int | None:
        """Return where the next record should begin; None if the one at `offset` has a wrong length."""
        window.go_back(offset)
        head = window.peek(_HEAD_BYTES)
        packing = packing_of_content(head)
        if packing:
            return self._end_of_member(window, packing, offset)
        if not self.start.match(head):
            # Inside of a member that holds many records; nobody can tell.
            return offset
        size = self.length(window.take(BLOCK_BYTES))
        if not size or size > MOST_HELD:
            return None
        window.go_back(offset)
        rest = window.take(size + 4)[size:]
        return None if rest.strip(b"\r\n") else offset + size + 4

    def _end_of_member(self, window: Window, packing: Packing, offset: int) -> int | None:
        unpacker, held = packing.new_unpacker(), bytearray()
        try:
            for block in iter(window.read, b""):
                held += unpacker.decompress(block, BLOCK_BYTES)
                while not (unpacker.eof or unpacker.needs_input or len(held) > MOST_HELD):
                    held += unpacker.decompress(b"", BLOCK_BYTES)
                if unpacker.eof or len(held) > MOST_HELD:
                    break
        except packing.failure():
            return offset
        size = self.length(bytes(held[:BLOCK_BYTES]))
        rest = held[size : size + _HEAD_BYTES].lstrip(b"\r\n") if size else b"?"
        is_whole = size and size <= len(held) and (not rest or self.start.match(rest))
        return window.tell() - len(unpacker.unused_data) if is_whole else None


def _damage(window: Window, offset: int, error: OSError) -> Damage:
    window.go_back(offset)
    return Damage(offset, NO_HEADER if "header" in str(error) else DAMAGED_PACKING, window.peek(64))
