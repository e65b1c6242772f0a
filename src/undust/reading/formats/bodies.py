"""The bytes of an archive: where records begin, and bodies out of transfer and content encodings.

Archives keep what came over the wire, and their headers can be misleading: crawlers that store a body
unpacked often leave the header `Content-Encoding: gzip`. So each encoding is undone only where the bytes show
it.

Of a file, the last bytes are held, so that reading can continue from a little earlier. Where an archive is
broken, it moves to the next place at which a record begins, packed or plain.
"""

from __future__ import annotations

import io
import re
import zlib
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


PIECE_BYTES = 1 << 16

DAMAGED = "body is damaged inside its encoding; what can be read of it has no digest"
UNKNOWN_ENCODING = "body in an encoding that is not known; it is taken as it stands"
MOST_ENCODINGS = 5
"""Encodings around one body that are undone; real bodies have one or two, and each costs a reader."""
MANY_ENCODINGS = f"body in more than {MOST_ENCODINGS} encodings, which is not read"

_CHUNK = re.compile(rb"\s*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class Readable(Protocol):
    """Anything from which bytes can be read."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most this many bytes; b"" at the end."""


class ForwardStream:
    """What fastwarc needs of a stream in addition to `read`, for one that is only read forward."""

    def tell(self) -> int:
        """Return a place; the right one is not needed."""
        return 0

    def seek(self, offset: int, whence: int = 0) -> int:  # noqa: ARG002 -- the contract of a stream
        """Refuse."""
        message = "this stream is only read forward"
        raise io.UnsupportedOperation(message)

    def close(self) -> None:
        """Do nothing; the file is closed where it was opened."""


class Prefixed(ForwardStream):
    """A stream with some bytes in front."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self.head = self._rest = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """Return at most this many bytes; b"" at the end."""
        if self._rest:
            if size < 0 or size >= len(self._rest):
                piece, self._rest = self._rest, b""
            else:
                piece, self._rest = self._rest[:size], self._rest[size:]
            return piece
        return self._stream.read(size if size >= 0 else PIECE_BYTES)


class Peeked(Prefixed):
    """A stream whose first bytes are known."""

    def __init__(self, stream: Readable) -> None:
        super().__init__(stream.read(PIECE_BYTES), stream)


class DecodedBody:
    """A body as its author wrote it, in pieces; `problem` then has what was wrong with it."""

    def __init__(self, payload: Readable, headers: Mapping[str, Sequence[str]]) -> None:
        self.problem: str | None = None
        self._payload = payload
        self._encodings = [
            *_names(headers.get("content-encoding", ())),
            *_names(headers.get("transfer-encoding", ())),
        ]

    def __iter__(self) -> Iterator[bytes]:
        if len(self._encodings) > MOST_ENCODINGS:
            self.problem = MANY_ENCODINGS
            return
        try:
            stream: Readable = self._payload
            for name in reversed(self._encodings):
                stream = self._without(name, Peeked(stream))
            while piece := stream.read(PIECE_BYTES):
                yield piece
        except OSError:
            self.problem = DAMAGED

    def _without(self, name: str, stream: Peeked) -> Readable:
        if name not in DECODERS:
            self.problem = UNKNOWN_ENCODING
            return stream
        return DECODERS[name](stream)


def _names(values: Sequence[str]) -> list[str]:
    names = [name.strip().lower() for value in values for name in value.split(",")]
    return [name for name in names if name not in {"", "identity", "none", "utf-8"}]


def _dechunked(stream: Peeked) -> Readable:
    return _Dechunked(stream) if _CHUNK.match(stream.head) else stream


class _Dechunked(ForwardStream):
    """Chunks put together, with what servers really send: extensions, spaces, bare line feeds, no end."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._held = b""
        self._left = 0
        self._is_over = False

    def read(self, size: int = PIECE_BYTES) -> bytes:
        if not self._left and not self._is_over:
            self._start_chunk()
        if self._is_over:
            return b""
        if not self._held:
            self._held = self._stream.read(PIECE_BYTES)
            if not self._held:
                message = "cut off in a chunk"
                raise OSError(message)
        piece = self._held[: min(size if size >= 0 else self._left, self._left)]
        self._held = self._held[len(piece) :]
        self._left -= len(piece)
        return piece

    def _start_chunk(self) -> None:
        while not (header := _CHUNK.match(self._held)):
            more = self._stream.read(PIECE_BYTES)
            if not more and not self._held.strip():
                self._is_over = True
                return
            if not more or len(self._held) > PIECE_BYTES:
                message = "no chunk header"
                raise OSError(message)
            self._held += more
        self._left = int(header[1], 16)
        self._held = self._held[header.end() :]
        self._is_over = not self._left


def _gunzipped(stream: Peeked) -> Readable:
    return _Inflated(stream, 16 + zlib.MAX_WBITS) if stream.head.startswith(_GZIP) else stream


def _unzstd(stream: Peeked) -> Readable:
    from fastwarc.stream_io import ZstdReader  # noqa: PLC0415 -- slow to load, and for archives only

    return ZstdReader(stream) if stream.head.startswith(_ZSTD) else stream


def _unbrotli(stream: Peeked) -> Readable:
    from fastwarc.stream_io import BrotliReader  # noqa: PLC0415

    # Brotli has no mark of its own: what does not unpack is not Brotli.
    try:
        BrotliReader(io.BytesIO(stream.head)).read(1)
    except OSError:
        return stream
    return BrotliReader(stream)


def _inflated(stream: Peeked) -> Readable:
    """Undo `deflate`, which should be zlib's format and often is the bare one."""
    for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            if zlib.decompressobj(bits).decompress(stream.head, 1):
                return _Inflated(stream, bits)
        except zlib.error:
            continue
    return stream


class _Inflated(ForwardStream):
    """A stream unpacked by zlib; unlike others' readers, this one notices where it is cut off."""

    def __init__(self, stream: Readable, bits: int) -> None:
        self._stream, self._bits = stream, bits
        self._zlib = zlib.decompressobj(bits)

    def read(self, size: int = PIECE_BYTES) -> bytes:
        while not self._is_over():
            packed = self._zlib.unconsumed_tail or self._stream.read(PIECE_BYTES)
            try:
                piece = self._zlib.decompress(packed, size if size > 0 else PIECE_BYTES)
            except zlib.error as error:
                raise OSError(str(error)) from error
            if piece:
                return piece
            if not packed:
                message = "cut off"
                raise OSError(message)
        return b""

    def _is_over(self) -> bool:
        if not self._zlib.eof:
            return False
        rest = self._zlib.unused_data
        if not rest.startswith(_GZIP):
            return True
        # One more member of a body that was packed in pieces.
        self._stream = Prefixed(rest, self._stream)
        self._zlib = zlib.decompressobj(self._bits)
        return False


DECODERS: dict[str, Callable[[Peeked], Readable]] = {
    "br": _unbrotli,
    "chunked": _dechunked,
    "deflate": _inflated,
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "zstd": _unzstd,
}


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
