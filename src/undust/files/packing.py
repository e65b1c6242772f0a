"""Gzip and Zstandard, pulled through small buffers.

The file objects of the libraries take a truncated file for a whole one, or stop at the first of several
members, or unpack a block of any size at once. Here every member is read, output comes in pieces of
bounded size, and a file that is cut off or broken is named with the byte where it happened.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from undust.errors import DamagedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
