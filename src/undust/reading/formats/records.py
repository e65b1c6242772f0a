"""The records of web archives (WARC by fastwarc, ARC by warcio): each broken one costs itself and no other.

The libraries that read archives give up where a file is broken. Here reading continues at the next
place where a record begins, packed or plain. Before that, the last record that was read is looked at
once more: one whose length is wrong swallows its neighbours, and then they are read and it is not.
"""

from __future__ import annotations

import io
import re
import zlib
from contextlib import redirect_stderr
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from undust.files.streams import packing_of_content
from undust.reading.formats.bodies import (
    MOST_HELD,
    PIECE_BYTES,
    WINDOW_BYTES,
    WINDOW_HEAD_BYTES,
    ForwardStream,
    Readable,
    Window,
)
from undust.reading.formats.values import text_from_bytes
from undust.reading.page import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastwarc.warc import WarcRecord, WarcRecordPayloadReader
    from warcio.recordloader import ArcWarcRecord

    from undust.files.streams import Packing
    from undust.reading.page import Headers

_HEADERS = {name.encode(): name for name in HEADERS}
_HEAD_BYTES = 4096
_LARGEST_HEADER = 1 << 20
"""Of an ARC record and its HTTP message; warcio would gather any, and takes hours for a gigabyte."""
_WITH_GZIP_HEADER = 16 + zlib.MAX_WBITS

_MOST_DIGITS = 18
"""Of a number in a header: what fits into 64 bits. Python refuses to read more than 4,300."""
WRONG_LENGTH = "record whose length is wrong"
CUT_OFF = "record is cut off"
NO_HEADER = "no valid record header"
DAMAGED_PACKING = "packed data is damaged"


class RecordPayload(Readable, Protocol):
    """The payload of a record; when it was read, it knows whether all of it was there."""

    def damage(self) -> str | None:
        """Read to the end; return what is wrong with the record, if anything is."""


class ArchiveRecord(NamedTuple):
    """A record of an archive, whose payload is read before the next record."""

    offset: int
    kind: str
    url: bytes
    time: str | None
    status: int | None
    """None for a record that holds no HTTP message."""
    headers: Headers
    """Those of the HTTP message; of another record, its content type."""
    payload: RecordPayload
    payload_digest: str | None
    is_truncated: bool
    """The crawler did not keep all of the body."""


def warc_length(data: bytes) -> int | None:
    """Return the length of a WARC record by its header; None where there is no header."""
    head, end, _ = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\ncontent-length:[ \t]*(\d{1,18})[ \t\r]*(?:\n|$)", head)
    return len(head) + len(end) + int(length[1]) if end and length else None


def arc_length(data: bytes) -> int | None:
    """Return the length of an ARC record by its line; None if it has none."""
    line, end, _ = data.partition(b"\n")
    length = line.rpartition(b" ")[2].strip()
    is_number = length.isdigit() and len(length) <= _MOST_DIGITS
    return len(line) + 1 + int(length) if end and is_number else None


def warc_records(window: Window) -> Iterator[ArchiveRecord]:
    """Give the records of a WARC file from the place of the window."""
    from fastwarc.warc import ArchiveIterator  # noqa: PLC0415 -- slow to load, and for archives only

    for record in ArchiveIterator(window):
        yield _warc_record(record)


def _warc_record(record: WarcRecord) -> ArchiveRecord:
    fields = record.headers
    is_http = record.is_http_parsed
    headers: dict[str, list[str]] = {}
    if is_http:
        for name, value in record.http_headers.items_bytes():
            if (known := _HEADERS.get(name.lower())) is not None:
                headers.setdefault(known, []).append(text_from_bytes(value))
    else:
        headers["content-type"] = [fields.get("Content-Type", "") or ""]
    return ArchiveRecord(
        offset=record.stream_pos,
        kind=str(record.record_type),
        url=(fields.get_bytes(b"WARC-Target-URI") or b"").strip(b"<> "),
        time=fields.get("WARC-Date"),
        status=record.http_headers.status_code if is_http else None,
        headers=headers,
        payload=_WarcPayload(record.reader, record.content_length),
        payload_digest=fields.get("WARC-Payload-Digest"),
        is_truncated="WARC-Truncated" in fields or "WARC-Segment-Number" in fields,
    )


class _WarcPayload(ForwardStream):
    def __init__(self, reader: WarcRecordPayloadReader, size: int) -> None:
        self._reader, self._size = reader, size
        self._is_damaged = False

    def read(self, size: int = PIECE_BYTES) -> bytes:
        # What decodes a body takes an error for one of the body; this is one of the file.
        try:
            return self._reader.read(size)
        except OSError:
            self._is_damaged = True
            return b""

    def damage(self) -> str | None:
        try:
            self._reader.consume()
        except OSError:
            self._is_damaged = True
        if self._is_damaged:
            return DAMAGED_PACKING
        return CUT_OFF if self._reader.tell() < self._size else None


def arc_records(window: Window) -> Iterator[ArchiveRecord]:
    """Give the records of an ARC file from the place of the window."""
    from warcio.archiveiterator import ArchiveIterator  # noqa: PLC0415 -- slow to load, and for archives only
    from warcio.exceptions import ArchiveLoadFailed  # noqa: PLC0415

    try:
        iterator = ArchiveIterator(_unpacked_if_whole(window))
        header = _BoundedHeader(iterator.reader)
        while record := _quietly(lambda: next(iterator, None)):
            header.begin()
            yield _arc_record(record, iterator.offset)
    except ArchiveLoadFailed as error:
        raise OSError(NO_HEADER) from error
    except (zlib.error, ValueError, IndexError, EOFError) as error:
        raise OSError(str(error)) from error


class _BoundedHeader:
    """Ends a record whose header is too large; headers are what warcio reads line by line."""

    def __init__(self, reader: Any) -> None:  # noqa: ANN401 -- a reader of warcio
        self._readline = reader.readline
        reader.readline = self.readline
        self.begin()

    def begin(self) -> None:
        """Let the next record have a header of full size."""
        self._left = _LARGEST_HEADER

    def readline(self, length: int | None = None) -> bytes:
        """Return the next line, or its first `length` bytes."""
        line: bytes = self._readline(self._left if length is None else min(length, self._left))
        self._left -= len(line)
        if self._left <= 0:
            raise OSError(NO_HEADER)
        return line


def _quietly(function: Callable[[], Any]) -> Any:  # noqa: ANN401 -- whatever it returns
    """Return what warcio returns; what it finds wrong it prints, bytes of strangers and all, and goes on."""
    with redirect_stderr(io.StringIO()) as said:
        returned = function()
    if said.getvalue():
        raise OSError(NO_HEADER if "WARNING" in said.getvalue() else DAMAGED_PACKING)
    return returned


def _unpacked_if_whole(window: Window) -> Readable:
    """Return the window; if it is packed as a whole, and not record by record as warcio wants, unpacked."""
    from fastwarc.stream_io import GzipReader  # noqa: PLC0415 -- slow to load, and for archives only

    head = window.peek(_HEAD_BYTES)
    if not head.startswith(b"\x1f\x8b"):
        return window
    unpacked = zlib.decompressobj(_WITH_GZIP_HEADER).decompress(head, 16 * _HEAD_BYTES)
    length = arc_length(unpacked)
    is_whole = length is not None and len(unpacked) > length + 2
    return GzipReader(window) if is_whole else window


def _arc_record(record: ArcWarcRecord, offset: int) -> ArchiveRecord:
    fields = record.rec_headers
    http = record.http_headers
    headers: dict[str, list[str]] = {}
    for name, value in http.headers if http else [("content-type", record.content_type or "")]:
        headers.setdefault(name.lower(), []).append(text_from_bytes(value.encode("utf-8", "surrogateescape")))
    status = http.get_statuscode() if http else ""
    return ArchiveRecord(
        offset=offset,
        kind="response" if http else record.rec_type,
        url=(fields.get_header("uri") or "").encode("utf-8", "surrogateescape"),
        time=fields.get_header("archive-date"),
        status=int(status) if status and status.isdecimal() and len(status) <= _MOST_DIGITS else None,
        headers=headers,
        payload=_ArcPayload(record.raw_stream),
        payload_digest=None,
        is_truncated=False,
    )


class _ArcPayload(ForwardStream):
    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._is_damaged = False

    def read(self, size: int = PIECE_BYTES) -> bytes:
        try:
            piece: bytes = _quietly(lambda: self._stream.read(size))
        except (OSError, zlib.error):
            self._is_damaged = True
            return b""
        return piece

    def damage(self) -> str | None:
        while self.read():
            pass
        if self._is_damaged:
            return DAMAGED_PACKING
        return CUT_OFF if getattr(self._stream, "limit", 0) > 0 else None


class Damage(NamedTuple):
    """A place where no record could be read."""

    offset: int
    reason: str
    sample: bytes = b""


Row = TypeVar("Row")


class Archive(NamedTuple, Generic[Row]):
    """A kind of archive, and what is made of its records."""

    records: Callable[[Window], Iterator[ArchiveRecord]]
    start: re.Pattern[bytes]
    """How a record begins."""
    length: Callable[[bytes], int | None]
    """From the first bytes of a record to how long it is, without the line ends after it."""
    row_of: Callable[[ArchiveRecord], Row]
    """Reads a record; called once for each, and what it returns is given on if the record is whole."""

    def rows(self, window: Window) -> Iterator[Row | Damage]:
        """Give what is made of each whole record, and each damaged place, in order."""
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
            # In what is packed as a whole, offsets are those of unpacked bytes, which may be further back.
            is_found = is_found and window.find_start(max(begin, started + 1), self.start)
            begin = window.tell()

    def _end(self, window: Window, offset: int) -> int | None:
        """Return where the next record should begin; None if the one at `offset` has a wrong length."""
        window.go_back(offset)
        head = window.peek(WINDOW_HEAD_BYTES)
        packing = packing_of_content(head)
        if packing:
            return self._end_of_member(window, packing, offset)
        if not self.start.match(head):
            # Inside of a member that holds many records; the place is not known.
            return offset
        size = self.length(window.take(WINDOW_BYTES))
        if not size or size > MOST_HELD:
            return None
        window.go_back(offset)
        rest = window.take(size + 4)[size:]
        return None if rest.strip(b"\r\n") else offset + size + 4

    def _end_of_member(self, window: Window, packing: Packing, offset: int) -> int | None:
        unpacker, held = packing.new_unpacker(), bytearray()
        try:
            for block in iter(window.read, b""):
                held += unpacker.decompress(block, WINDOW_BYTES)
                while not (unpacker.eof or unpacker.needs_input or len(held) > MOST_HELD):
                    held += unpacker.decompress(b"", WINDOW_BYTES)
                if unpacker.eof or len(held) > MOST_HELD:
                    break
        except packing.failure():
            return offset
        size = self.length(bytes(held[:WINDOW_BYTES]))
        rest = held[size : size + WINDOW_HEAD_BYTES].lstrip(b"\r\n") if size else b"?"
        is_whole = size and size <= len(held) and (not rest or self.start.match(rest))
        return window.tell() - len(unpacker.unused_data) if is_whole else None


def _damage(window: Window, offset: int, error: OSError) -> Damage:
    window.go_back(offset)
    return Damage(offset, NO_HEADER if "header" in str(error) else DAMAGED_PACKING, window.peek(64))
