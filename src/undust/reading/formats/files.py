"""Which files a person means, and how one of them is opened, recognised and read."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, tee
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from undust.errors import DamagedSource, SourceError, UnknownFormat
from undust.files.packing import Packing, packing_of_content, unpacked
from undust.files.streams import BLOCK_BYTES, STANDARD, raw_blocks, require_no_promise
from undust.reading.formats import HEAD_BYTES, Format, format_of, named_format

if TYPE_CHECKING:
    import pyarrow as pa

    from undust.reading.formats.reading import Reading, ReadOptions

MOST_PACKINGS = 4
"""How often a file may be packed; what is packed more often was made to harm."""

Watch = Callable[[int], object]
"""Is told how many bytes of a file were read since it was last told."""


class InputFile(NamedTuple):
    """A file to read."""

    path: str
    is_named: bool
    """The person named it; otherwise it lay in a folder or fitted a pattern."""


def find_files(paths: Iterable[str]) -> list[InputFile]:
    """Return the files that paths, folders and patterns mean, each once, sorted.

    A folder means all files in it and below; those whose name starts with a dot are left out.
    """
    found: dict[str, InputFile] = {}
    for path in paths:
        for file in _files_of(path):
            key = file.path if file.path == STANDARD else os.path.realpath(file.path)
            if key not in found or file.is_named:
                found[key] = file
    return sorted(found.values())


def _files_of(path: str) -> Iterator[InputFile]:
    if path == STANDARD or Path(path).is_file():
        yield InputFile(path, is_named=True)
    elif Path(path).is_dir():
        yield from _files_below(path)
    elif glob.has_magic(path) and not Path(path).exists():
        matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 -- also takes absolute patterns
        if not matches:
            message = f"{path}: no file fits this pattern; check it, and that it is not quoted by mistake"
            raise SourceError(message)
        for match in matches:
            yield from _files_below(match) if Path(match).is_dir() else [InputFile(match, is_named=False)]
    else:
        yield InputFile(path, is_named=True)


def _files_below(folder: str) -> Iterator[InputFile]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [Path(place, name) for name in sorted(names) if not name.startswith(".")]
        yield from (InputFile(str(path), is_named=False) for path in paths if path.is_file())


def read_file(
    path: str, reading: Reading, format_name: str | None = None, watch: Watch | None = None
) -> Iterator[pa.RecordBatch]:
    """Give the observations of one file, in order; what could not be read is in `reading`."""
    blocks, looked_at = tee(raw_blocks(path, watch))
    head, packings, damage = _looked_into(looked_at, reading.name)
    # Or what is read would be held until it had been looked at too.
    del looked_at
    if not packings and head:
        require_no_promise(path)
    if not head and format_name is None and damage is None:
        reading.format = "nothing"
        return
    source = _source(head, damage, format_name, reading)
    reading.format = source.name
    for packing in packings[:-1] if source.unpacks_itself else packings:
        blocks = _guarded(unpacked(blocks, packing, reading.name, BLOCK_BYTES), reading)
    with _opened(path, head, blocks, source) as file:
        for batch in source.read(file, reading):
            if batch.num_rows:
                reading.rows += batch.num_rows
                yield batch


def _source(head: bytes, damage: DamagedSource | None, name: str | None, reading: Reading) -> Format:
    if name:
        return named_format(name)
    try:
        return format_of(head, reading.name, reading.options)
    except UnknownFormat:
        if damage and not head:
            raise damage from None
        raise


def is_recognised(path: str, options: ReadOptions) -> bool:
    """Return whether a file is told by its first bytes; one that is not is passed over in a folder."""
    try:
        format_of(_looked_into(raw_blocks(path), path).head, path, options)
    except UnknownFormat:
        return False
    return True


def note_unknown(error: UnknownFormat, reading: Reading) -> None:
    """Count a whole file that lay among others and that nothing here can read."""
    reading.format = "an unknown format"
    reading.skip(str(error).removeprefix(f"{reading.name}: "), "the whole file")


def _opened(path: str, head: bytes, blocks: Iterator[bytes], source: Format) -> BinaryIO:
    """Return a stream of the blocks; Parquet, which is read from its end, gets the file itself if it can."""
    if source.name == "parquet" and path != STANDARD:
        file = Path(path).open("rb")  # noqa: SIM115 -- whoever reads it closes it
        if file.read(len(head)) == head:
            file.seek(0)
            return file
        file.close()
    return cast("BinaryIO", io.BufferedReader(_BlockStream(blocks), BLOCK_BYTES))


class _Look(NamedTuple):
    head: bytes
    """The first bytes of a file, unpacked as often as it was packed."""
    packings: tuple[Packing, ...]
    damage: DamagedSource | None
    """What ended the head early."""


def _looked_into(blocks: Iterator[bytes], name: str) -> _Look:
    packings: tuple[Packing, ...] = ()
    while True:
        head, blocks, damage = _peeked(blocks)
        packing = packing_of_content(head)
        if packing is None:
            return _Look(head, packings, damage)
        if len(packings) > MOST_PACKINGS:
            message = f"{name}: packed more than {MOST_PACKINGS} times over; unpack it before you give it"
            raise UnknownFormat(message)
        packings += (packing,)
        blocks = unpacked(blocks, packing, name, HEAD_BYTES)


def _peeked(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes], DamagedSource | None]:
    held: list[bytes] = []
    size, damage = 0, None
    try:
        while size < HEAD_BYTES and (block := next(blocks, b"")):
            held.append(block)
            size += len(block)
    except DamagedSource as error:
        damage = error
    head = b"".join(held)
    return head[:HEAD_BYTES], chain([head] if head else [], blocks), damage


def _guarded(blocks: Iterator[bytes], reading: Reading) -> Iterator[bytes]:
    """Give blocks; where they cannot be unpacked any further, end, and count that."""
    size = 0
    try:
        for block in blocks:
            size += len(block)
            yield block
    except DamagedSource as error:
        if not size or reading.options.strict:
            raise
        reading.skip(
            "packed data is damaged; the rest of the file is lost", f"offset {size}", str(error).encode()
        )


class _BlockStream(io.RawIOBase):
    """Blocks of bytes as a file that is read from front to end."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
