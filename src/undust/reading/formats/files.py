"""Which files a person means; how one is opened, recognised, read, and written with one column changed."""

from __future__ import annotations

import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from undust.errors import DamagedSource, SourceError, UnknownFormat
from undust.files.delimited import Layout, change_delimited, raw_values
from undust.files.streams import (
    BLOCK_BYTES,
    STANDARD,
    ZSTD,
    Packing,
    packing_of_content,
    raw_blocks,
    require_no_promise,
    unpacked,
)
from undust.reading.formats import HEAD_BYTES, Format, format_of, named_format
from undust.reading.formats.recognising import TAB, UTF8_MARK, delimiter_of, header_names, separator_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from undust.files.change import TableChange
    from undust.reading.formats import Format, Reading, ReadOptions


MOST_PACKINGS = 4
"""How often a file may be packed; a file packed more often is an attack."""

Watch = Callable[[int], object]
"""Called with how many bytes of a file were read since its last call."""


class InputFile(NamedTuple):
    """A file to read."""

    path: str
    is_named: bool
    """The person named it; otherwise it lay in a folder or fitted a pattern."""


def find_files(paths: Iterable[str]) -> list[InputFile]:
    """Return the files that paths, folders and patterns mean, each once, sorted.

    A folder means all files in it and below; those whose name starts with a dot are skipped.
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
    elif _has_magic(path) and not Path(path).exists():
        import glob  # noqa: PLC0415 -- for patterns only

        matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 -- also takes absolute patterns
        if not matches:
            message = f"{path}: no file fits this pattern; check it, and that it is not quoted by mistake"
            raise SourceError(message)
        for match in matches:
            yield from _files_below(match) if Path(match).is_dir() else [InputFile(match, is_named=False)]
    else:
        yield InputFile(path, is_named=True)


def _has_magic(path: str) -> bool:
    return any(char in path for char in "*?[")


def _files_below(folder: str) -> Iterator[InputFile]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [Path(place, name) for name in sorted(names) if not name.startswith(".")]
        yield from (InputFile(str(path), is_named=False) for path in paths if path.is_file())


def read_file(
    path: str, reading: Reading, format_name: str | None = None, watch: Watch | None = None
) -> Iterator[pa.RecordBatch]:
    """Give the observations of one file, in order; what could not be read is in `reading`."""
    looked = look_into(path, watch=watch)
    if not looked.head and format_name is None and looked.damage is None:
        reading.format = "nothing"
        return
    source = looked.source(format_name, reading.options)
    yield from records_of(looked, source, reading, is_patient=True)


def records_of(
    looked: LookedInto, source: Format, reading: Reading, *, is_patient: bool = False
) -> Iterator[pa.RecordBatch]:
    """Give the observations of a file; if `is_patient`, packed data that breaks off is only counted."""
    reading.format = source.name
    with looked.opened(source, reading if is_patient else None) as file:
        for batch in source.read(file, reading):
            if batch.num_rows:
                reading.rows += batch.num_rows
                yield batch


class LookedInto(NamedTuple):
    """A file whose first bytes were looked at, before it is read."""

    path: str
    name: str
    """What messages call it."""
    head: bytes
    """Its first bytes, unpacked as often as it was packed."""
    packings: tuple[Packing, ...]
    damage: DamagedSource | None
    """What ended the head early."""
    raw: Iterator[bytes]
    """All that it holds, packed as it is."""

    def source(self, format_name: str | None, options: ReadOptions | None = None) -> Format:
        """Return the format: the one that the person named, or the one that the first bytes show."""
        if format_name:
            return named_format(format_name)
        try:
            return format_of(self.head, self.name, options)
        except UnknownFormat:
            if self.damage:
                raise self.damage from None
            raise

    def blocks(self, reading: Reading | None = None, *, keep_last: bool = False) -> Iterator[bytes]:
        """Give what it holds, unpacked; with `keep_last`, packed once if it was packed.

        Where packed data breaks off, that is raised, or counted if there is a `reading` to count it in.
        """
        blocks = self.raw
        for packing in self.packings[:-1] if keep_last else self.packings:
            blocks = unpacked(blocks, packing, self.name, BLOCK_BYTES)
            if reading is not None:
                blocks = _guarded(blocks, reading)
        return blocks

    def opened(self, source: Format, reading: Reading | None = None) -> BinaryIO:
        """Return a stream; Parquet, which is read from its end, gets the file itself if it can."""
        if source.name == "parquet" and self.path != STANDARD:
            file = Path(self.path).open("rb")  # noqa: SIM115 -- the reader closes it
            if file.read(len(self.head)) == self.head:
                file.seek(0)
                return file
            file.close()
        # warcio reads ARC files that are plain or gzip; fastwarc reads WARC files in both packings.
        is_kept = source.unpacks_itself and not (source.name == "arc" and self.packings[-1:] == (ZSTD,))
        blocks = self.blocks(reading, keep_last=is_kept)
        return cast("BinaryIO", io.BufferedReader(_BlockStream(blocks), BLOCK_BYTES))


def look_into(
    path: str, *, watch: Watch | None = None, enough: Callable[[bytes], bool] | None = None
) -> LookedInto:
    """Return a file with its first bytes; fewer of them if `enough` accepts those so far."""
    name = "standard input" if path == STANDARD else path
    blocks, looked_at = raw_blocks(path, watch), deque[bytes]()
    head, packings, damage = _looked_into(_noted(blocks, looked_at), name, enough)
    if not packings and head:
        require_no_promise(path)
    return LookedInto(path, name, head, packings, damage, chain(_released(looked_at), blocks))


def _noted(blocks: Iterator[bytes], held: deque[bytes]) -> Iterator[bytes]:
    """Give blocks and hold each of them."""
    for block in blocks:
        held.append(block)
        yield block


def _released(held: deque[bytes]) -> Iterator[bytes]:
    """Give the held blocks again, and hold none of them any longer."""
    while held:
        yield held.popleft()


def is_recognised(path: str, options: ReadOptions) -> bool:
    """Return whether a file is recognised by its first bytes; one that is not is passed over in a folder."""
    try:
        format_of(_looked_into(raw_blocks(path), path)[0], path, options)
    except UnknownFormat:
        return False
    return True


def note_unknown(error: UnknownFormat, reading: Reading) -> None:
    """Count a whole file that lay among others and that nothing here can read."""
    reading.format = "an unknown format"
    reading.skip(str(error).removeprefix(f"{reading.name}: "), "the whole file")


def _looked_into(
    blocks: Iterator[bytes], name: str, enough: Callable[[bytes], bool] | None = None
) -> tuple[bytes, tuple[Packing, ...], DamagedSource | None]:
    packings: tuple[Packing, ...] = ()
    while True:
        head, blocks, damage = _peeked(blocks, enough)
        packing = packing_of_content(head)
        if packing is None:
            return head, packings, damage
        if len(packings) > MOST_PACKINGS:
            message = f"{name}: packed more than {MOST_PACKINGS} times over; unpack it before you give it"
            raise UnknownFormat(message)
        packings += (packing,)
        blocks = unpacked(blocks, packing, name, HEAD_BYTES)


def _peeked(
    blocks: Iterator[bytes], enough: Callable[[bytes], bool] | None
) -> tuple[bytes, Iterator[bytes], DamagedSource | None]:
    held: list[bytes] = []
    size, damage = 0, None
    try:
        while size < HEAD_BYTES and (block := next(blocks, b"")):
            held.append(block)
            size += len(block)
            if enough and (packing_of_content(held[0]) or enough(b"".join(held))):
                break
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


CDX_PLACE = 2
"""Where the URL is in a CDX line without a header, in every layout."""
CDX_NAMES = ("a", "url", "original")
"""What the URL of a CDX file without names of its own may be called."""
_CDX_MARK = re.compile(rb"\s*CDX[ \t]")


def change_table(looked: LookedInto, source: Format, change: TableChange) -> None:
    """Write a table that is not Parquet with the results in their column."""
    blocks = looked.blocks()
    if source.name == "csv":
        change_delimited(blocks, change, _table_layout(delimiter_of(_first_line(looked.head)), quotes=True))
    elif source.name == "tsv":
        change_delimited(blocks, change, _table_layout(TAB, quotes=False))
    elif source.name == "cdx":
        cdx = _Cdx(_first_line(looked.head), change)
        change_delimited(blocks, cdx.changed(), cdx.layout())
    elif source.name == "json":
        from undust.files.arrays import change_json_array  # noqa: PLC0415 -- for this format only

        change_json_array(blocks, change)
    else:
        from undust.files.objects import change_cdxj, change_json_lines  # noqa: PLC0415

        (change_cdxj if source.name == "cdxj" else change_json_lines)(blocks, change)


def _first_line(head: bytes) -> bytes:
    return head.removeprefix(UTF8_MARK).lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")


def _table_layout(delimiter: bytes, *, quotes: bool) -> Layout:
    def header(record: bytes) -> tuple[bytes, list[bytes]]:
        return b"", raw_values(record, delimiter) if quotes else record.split(delimiter)

    return Layout(delimiter, quotes, header)


class _Cdx(NamedTuple):
    """A CDX file: its header has letters or names, or it has none."""

    first: bytes
    change: TableChange

    @property
    def has_names(self) -> bool:
        """Whether its first line names the fields, as tables of CDX servers do."""
        return header_names(self.first) is not None and not _CDX_MARK.match(self.first)

    def layout(self) -> Layout:
        return Layout(
            separator_of(self.first) if header_names(self.first) else b" ",
            has_quotes=False,
            header=self._header,
            fixed=CDX_PLACE,
            fixed_names=CDX_NAMES,
            fills=False,
        )

    def _header(self, line: bytes) -> tuple[bytes, list[bytes]] | None:
        if header_names(line) is None:
            self._choose([], [])
            return None
        mark = _CDX_MARK.match(line)
        start = mark.end() if mark else 0
        return line[:start], line[start:].split(separator_of(line))

    def changed(self) -> TableChange:
        if self.has_names:
            return self.change
        is_url = self.change.written in CDX_NAMES
        return self.change._replace(choose=self._choose, written="a" if is_url else self.change.written)

    def _choose(self, header: Sequence[str], _: Sequence[str]) -> str:
        said = self.change.said
        if said is not None and said not in {*CDX_NAMES, *header}:
            self.change.choose(header or [CDX_NAMES[0]], [])  # raises: there is no such column
        if header and "a" not in header:
            message = f"{self.change.name}: its header names no field for the URL ('a'); fix the first line"
            raise SourceError(message)
        return "a" if said is None or said in CDX_NAMES else said
