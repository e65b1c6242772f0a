"""The records of web archives as the libraries read them: WARC by fastwarc, ARC by warcio."""

from __future__ import annotations

import io
import re
import zlib
from contextlib import redirect_stderr
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from undust.reading.content.page import HEADERS
from undust.reading.formats.bodies import PIECE_BYTES, ForwardStream, Readable
from undust.reading.formats.values import text_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastwarc.warc import WarcRecord, WarcRecordPayloadReader
    from warcio.recordloader import ArcWarcRecord

    from undust.reading.content.page import Headers
    from undust.reading.formats.window import Window

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
    """A record of an archive, whose payload is read before the next record is asked for."""

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
    """Give the records of a WARC file from where the window stands."""
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
    """Give the records of an ARC file from where the window stands."""
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
