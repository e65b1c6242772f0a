"""A file of which the last bytes are held, so that reading can continue from a little earlier.

Where an archive is broken, it moves to the next place at which a record begins, packed or plain.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from functools import cache
from typing import TYPE_CHECKING

from undust.reading.formats.bodies import ForwardStream, Readable

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_HELD = 64 << 20
"""Bytes of a file, as it is, that are held to find a record again that another one swallowed."""
WINDOW_BYTES = 1 << 16
WINDOW_HEAD_BYTES = 4096
_WITH_GZIP_HEADER = 16 + zlib.MAX_WBITS
_MAGICS = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


class Window(ForwardStream):
    """A stream that can be read again from a little earlier."""

    def __init__(self, file: Readable) -> None:
        self._file = file
        self._blocks: deque[bytes] = deque()
        # Offsets of the first byte held, of the next to be read, and after the last held.
        self._start = self._at = self._end = 0

    def read(self, size: int = WINDOW_BYTES) -> bytes:
        """Return at most this many bytes; b"" at the end."""
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
        """Return at most this many of the next bytes, without moving."""
        at = self._at
        piece = self.read(size)
        self._at = at
        return piece

    def take(self, size: int) -> bytes:
        """Return this many bytes, or all there are."""
        pieces = []
        while size and (piece := self.read(min(size, WINDOW_BYTES))):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def go_back(self, offset: int) -> None:
        """Let reading go on from an offset, or from the first byte that is still held."""
        self._at = min(max(offset, self._start), self._end)

    def forget(self, before: int) -> None:
        """Release blocks before an offset."""
        while self._blocks and self._start + len(self._blocks[0]) <= before:
            self._start += len(self._blocks.popleft())

    def find_start(self, after: int, start: re.Pattern[bytes]) -> bool:
        """Move to the next place from `after` on where a record begins; False if there is no other."""
        self.go_back(after)
        at, held = self._at, b""
        while True:
            more = self.read()
            held += more
            for place in _candidates(held, start):
                if more and place > len(held) - WINDOW_HEAD_BYTES:
                    break
                if _begins(held[place : place + WINDOW_HEAD_BYTES], start):
                    self.go_back(at + place)
                    return True
            if not more:
                return False
            rest = max(0, len(held) - 2 * WINDOW_HEAD_BYTES)
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
        unpacked = zlib.decompressobj(_WITH_GZIP_HEADER).decompress(data, WINDOW_HEAD_BYTES)
    except zlib.error:
        # Damaged itself, which its reader will find and count.
        return True
    return start.match(unpacked) is not None
