"""Bytes in and bytes out, for files of any size and in any state, packed with gzip or Zstandard or not.

Two promises hold throughout: a line of 100 MB, or a small file that unpacks to one, never sits in
memory; and an output file is there whole or not at all, whatever ends the program.

`-` is standard input or output. Input shows by its first bytes how it is packed, output by its name. The file
objects of the libraries take a truncated file for a whole one, or stop at the first of several members, or
unpack a block of any size at once. Here every member is read, output comes in pieces of bounded size, and a
file that is cut off or broken is named with the byte where it happened.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import zlib
from contextlib import contextmanager
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, cast

from undust.display import harmless
from undust.errors import DamagedSource, SourceError, UndustError
from undust.files.replacing import naming, replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader

WITH_GZIP_HEADER = 16 + zlib.MAX_WBITS


class Packer(Protocol):
    """Packs one member."""

    def compress(self, data: bytes, /) -> bytes:
        """Return what is ready."""

    def flush(self) -> bytes:
        """Return the rest, which completes the member."""


class Unpacker(Protocol):
    """Unpacks one member; `bz2` and `compression.zstd` have this interface, `zlib` has not."""

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""

    @property
    def needs_input(self) -> bool:
        """Whether everything that the input held has been returned."""

    @property
    def unused_data(self) -> bytes:
        """What was found after the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` bytes more."""


class Gunzip:
    """The gzip `Unpacker`."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(WITH_GZIP_HEADER)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        """Whether the member is complete."""
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        """What was found after the member."""
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` bytes more."""
        unpacked = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.needs_input = len(unpacked) < max_length and not self._zlib.unconsumed_tail
        return unpacked


def _zstd() -> Any:  # noqa: ANN401 -- a module
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 -- slow to load, and seldom needed
    else:
        from backports import zstd  # noqa: PLC0415
    return zstd


class Packing(NamedTuple):
    """A way to pack bytes into members, one or several to a file."""

    name: str
    suffix: str
    magics: tuple[bytes, ...]
    """The first bytes of a member, one of these."""
    padding: bytes
    """What may be between members; tapes and disk blocks were filled up with zeros."""
    new_packer: Callable[[], Packer]
    new_unpacker: Callable[[], Unpacker]
    failure: Callable[[], type[Exception]]
    """What the unpacker raises; a function, for its module is loaded late."""


GZIP = Packing(
    name="gzip",
    suffix=".gz",
    magics=(b"\x1f\x8b\x08",),
    padding=b"\0",
    new_packer=lambda: zlib.compressobj(wbits=WITH_GZIP_HEADER),
    new_unpacker=Gunzip,
    failure=lambda: zlib.error,
)
ZSTD = Packing(
    name="zstd",
    suffix=".zst",
    # A file may also begin with one of the 16 kinds of skippable frame (RFC 8878, 3.1.2).
    magics=(b"\x28\xb5\x2f\xfd", *(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60))),
    padding=b"",
    new_packer=lambda: _zstd().ZstdCompressor(),
    new_unpacker=lambda: _zstd().ZstdDecompressor(),
    failure=lambda: _zstd().ZstdError,
)
PACKINGS = (GZIP, ZSTD)


def packing_of_name(name: str) -> Packing | None:
    """Return the packing that a file's name promises."""
    return next((packing for packing in PACKINGS if name.endswith(packing.suffix)), None)


def packing_of_content(head: bytes) -> Packing | None:
    """Return the packing that a file's first bytes show."""
    return next((packing for packing in PACKINGS if head.startswith(packing.magics)), None)


def is_undecided(head: bytes) -> bool:
    """Whether more bytes are needed to recognise the packing."""
    return any(len(head) < len(magic) and magic.startswith(head) for p in PACKINGS for magic in p.magics)


def unpacked(blocks: Iterable[bytes], packing: Packing, name: str, max_bytes: int) -> Iterator[bytes]:
    """Give what is packed in `blocks`, in pieces of at most `max_bytes`; errors mention `name`."""
    unpacker: Unpacker | None = None
    position = 0
    for block in blocks:
        data = block
        while data or (unpacker and not unpacker.needs_input):
            if unpacker is None:
                data = data.lstrip(packing.padding)
                if not data:
                    break
                unpacker = packing.new_unpacker()
            try:
                piece = unpacker.decompress(data, max_bytes)
            except packing.failure() as error:
                reason = str(error).rpartition(": ")[2].lower()
                what = f"damaged {packing.name} data after byte {position:,} ({reason})"
                raise _damage(name, packing, what) from error
            if piece:
                yield piece
            data = b""
            if unpacker.eof:
                data, unpacker = unpacker.unused_data, None
        position += len(block)
    if unpacker:
        what = f"ends at byte {position:,} in the middle of its {packing.name} data"
        raise _damage(name, packing, what)


def _damage(name: str, packing: Packing, what: str) -> DamagedSource:
    mend = f"get it again, or keep what '{packing.name} -dc' still reads of it"
    return DamagedSource(f"{name}: {what}; {mend}")


STANDARD = "-"
BLOCK_BYTES = 1 << 20
PACKED_BLOCK_BYTES = 1 << 16
LONGEST_LINE = 1 << 20
"""A line of more bytes than this, its line feed not counted, is too long to be held."""


class Holds(Enum):
    """What a chunk holds."""

    LINES = "whole lines; only the last of a stream may lack its line feed"
    LONG_LINE = "the start of a line that is too long"
    MORE = "the next piece of that line"


class Chunk(NamedTuple):
    """Bytes of a stream, in order."""

    data: bytes
    holds: Holds


def line_chunks(blocks: Iterable[bytes], longest_line: int = LONGEST_LINE) -> Iterator[Chunk]:
    r"""Cut blocks anew at the ends of lines; which line is too long does not depend on the blocks.

    >>> [chunk.data for chunk in line_chunks([b"a\nb\nc", b"d\ne"])]
    [b'a\nb\n', b'cd\n', b'e']
    """
    held = b""
    in_long_line = False
    # No block longer than the longest line: then only the line that a block continues can be too long.
    for block in _at_most(longest_line, blocks):
        is_ended = b"\n" in block
        end = block.index(b"\n") + 1 if is_ended else len(block)
        rest = block
        if in_long_line or len(held) + end - is_ended > longest_line:
            yield Chunk(held + block[:end], Holds.MORE if in_long_line else Holds.LONG_LINE)
            in_long_line = not is_ended
            held, rest = b"", block[end:]
        lines, feed, last = rest.rpartition(b"\n")
        if feed:
            yield Chunk(held + lines + feed, Holds.LINES)
            held = b""
        held += last
    if held:
        yield Chunk(held, Holds.LINES)


def _at_most(size: int, blocks: Iterable[bytes]) -> Iterator[bytes]:
    return (block[at : at + size] for block in blocks for at in range(0, len(block), size))


def require_readable(paths: Iterable[str]) -> None:
    """Raise for the first path that cannot be read, before work is spent on those in front of it."""
    for path in paths:
        if path == STANDARD:
            continue
        if stat.S_ISDIR(Path(path).stat().st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def read_blocks(
    path: str, block_bytes: int = BLOCK_BYTES, watch: Callable[[int], object] | None = None
) -> Iterator[bytes]:
    """Give what a file holds, unpacked, in blocks of at most `block_bytes`.

    A block comes as soon as there is one, so that a pipe is answered while it is still open. `watch` is
    called with how many bytes of the packed file were read since its last call.
    """
    name = "standard input" if path == STANDARD else path
    with naming(name), _opened(path) as file:

        def read1(size: int) -> bytes:
            data = file.read1(size)
            if watch:
                watch(len(data))
            return data

        head = b""
        while is_undecided(head) and (more := read1(1)):
            head += more
        packing = packing_of_content(head)
        if packing:
            packed = chain([head], iter(lambda: read1(PACKED_BLOCK_BYTES), b""))
            yield from unpacked(packed, packing, name, block_bytes)
        else:
            require_no_promise(path)
            yield from chain([head], iter(lambda: read1(block_bytes), b""))


def read_whole(path: str, most_bytes: int) -> bytes:
    """Return all that a file holds, unpacked; raise if that is more than `most_bytes`, before it is held."""
    blocks, size = [], 0
    for block in read_blocks(path):
        size += len(block)
        if size > most_bytes:
            message = f"{path}: it holds more than {most_bytes >> 20} MiB, unpacked; give it in smaller files"
            raise SourceError(message)
        blocks.append(block)
    return b"".join(blocks)


def raw_blocks(path: str, watch: Callable[[int], object] | None = None) -> Iterator[bytes]:
    """Give what a file holds as it is, packed or not, in blocks; `watch` is as for `read_blocks`."""
    with naming("standard input" if path == STANDARD else path), _opened(path) as file:
        data = file.read1(PACKED_BLOCK_BYTES)
        size = PACKED_BLOCK_BYTES if packing_of_content(data) else BLOCK_BYTES
        while data:
            if watch:
                watch(len(data))
            yield data
            data = file.read1(size)


def require_no_promise(path: str) -> None:
    """Raise if the name of a file that is not packed says that it is."""
    if promised := packing_of_name(path):
        message = f"{path}: not {promised.name} data in spite of its name; rename it if it is plain text"
        raise DamagedSource(message)


@contextmanager
def _opened(path: str) -> Iterator[BufferedReader]:
    if path != STANDARD:
        with Path(path).open("rb") as file:
            yield file
    elif sys.stdin is None:
        message = "standard input is closed; name a file to read"
        raise SourceError(message)
    else:
        yield cast("BufferedReader", sys.stdin.buffer)


class Output:
    """What `open_output` gives: takes bytes and hands them on at once, packed if the name asks for it."""

    def __init__(self, file: BinaryIO, packer: Packer | None = None) -> None:
        self._file = file
        self._packer = packer

    def write(self, data: bytes) -> None:
        """Hand on `data`."""
        self._file.write(self._packer.compress(data) if self._packer else data)
        self._file.flush()

    def finish(self) -> None:
        """Hand on what the packer still holds."""
        if self._packer:
            self._file.write(self._packer.flush())
            self._file.flush()


class _Terminal(Output):
    """Standard output where a person looks at it: what would steer the terminal is written out."""

    def write(self, data: bytes) -> None:
        super().write(harmless(data.decode("utf-8", "backslashreplace")).encode())


@contextmanager
def open_output(path: str) -> Iterator[Output]:
    """Give an output; a file gets its name only when the block has ended well, and is removed otherwise."""
    if path == STANDARD:
        if sys.stdout is None:
            message = "standard output is closed; name a file to write with -o"
            raise UndustError(message)
        with naming("standard output"):
            yield _Terminal(sys.stdout.buffer) if sys.stdout.isatty() else Output(sys.stdout.buffer)
        return
    packing = packing_of_name(path)
    with replaced(path) as file:
        output = Output(file, packing.new_packer() if packing else None)
        yield output
        output.finish()
