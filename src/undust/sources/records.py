"""The records of web archives, one after the other, with damage costing the record that it hit.

WARC is read by fastwarc and ARC by warcio, as they come: packed, each record a member of its own, or
plain. Both give up where a file is broken. Here reading is taken up again at the next place where a
record begins. A record counts only when the next one begins where it ends: one whose length is wrong
swallows its neighbours, and then they are read and it is not.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from undust.content.page import HEADERS
from undust.sources.bodies import ForwardStream, Readable
from undust.sources.values import text_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fastwarc.warc import WarcRecord, WarcRecordPayloadReader
    from warcio.recordloader import ArcWarcRecord

    from undust.content.page import Headers

MOST_HELD = 64 << 20
"""Bytes of a file, as it is, that are held to find a record again that another one swallowed."""
BLOCK_BYTES = 1 << 16
_HEAD_BYTES = 4096
_WITH_GZIP_HEADER = 16 + zlib.MAX_WBITS

WARC_START = re.compile(rb"WARC/[01]\.\d\d?\r?\n")
ARC_START = re.compile(
    rb"[a-zA-Z][a-zA-Z0-9+.-]{1,20}:[^\s]{1,4000} [^\s]{0,50} ?\d{14} [^\n]{1,4000} \d+\r?\n"
)
_MAGICS = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd")

WRONG_LENGTH = "record whose length is wrong"
CUT_OFF = "record is cut off"
NO_HEADER = "no valid record header"
DAMAGED_PACKING = "packed data is damaged"
PACKED_AS_A_WHOLE = "packed as a whole and not record by record; unpack it with 'gzip -d'"


class Payload(Readable, Protocol):
    """The payload of a record; when it was read, it can tell whether all of it was there."""

    def damage(self) -> str | None:
        """Read to the end; return what is wrong with the record, if anything is."""


class Record(NamedTuple):
    """A record of an archive, whose payload is read before the next record is asked for."""

    offset: int
    kind: str
    url: bytes
    time: str | None
    status: int | None
    """None for a record that holds no HTTP message."""
    headers: Headers
    """Those of the HTTP message; of another record, its content type."""
    payload: Payload
    payload_digest: str | None
    is_truncated: bool
    """The crawler did not keep all of the body."""


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
    plain = (match.start() for match in start.finditer(data))
    packed = (match.start() for match in _MAGICS.finditer(data))
    return sorted({*packed, *(place for place in plain if data[place - 1 : place] == b"\n")})


def _begins(data: bytes, start: re.Pattern[bytes]) -> bool:
    if not data.startswith(b"\x1f\x8b"):
        return True
    try:
        unpacked = zlib.decompressobj(_WITH_GZIP_HEADER).decompress(data, 2 * _HEAD_BYTES)
    except zlib.error:
        return False
    return start.match(unpacked) is not None


Row = TypeVar("Row")


class Archive(NamedTuple, Generic[Row]):
    """A kind of archive, and what is made of its records."""

    records: Callable[[Window], Iterator[Record]]
    start: re.Pattern[bytes]
    """How a record begins."""
    row_of: Callable[[Record], Row]
    """Reads a record; called once for each, and what it returns is given on if the record is whole."""

    def rows(self, window: Window) -> Iterator[Row | Damage]:
        """Give what is made of each whole record, and each place where there is none, in order."""
        pending: tuple[int, Row] | None = None
        begin = failures = 0
        is_found = True
        while is_found:
            is_first = True
            try:
                for record in self.records(window):
                    if pending:
                        # One that is only found behind damage shows that the record before has a wrong end.
                        yield Damage(pending[0], WRONG_LENGTH) if is_first else pending[1]
                    pending, is_first, failures = None, False, 0
                    window.forget(record.offset)
                    row = self.row_of(record)
                    if damage := record.payload.damage():
                        yield Damage(record.offset, damage)
                        begin = record.offset + 1
                        break
                    pending = (record.offset, row)
                else:
                    break
            except OSError as error:
                if pending and not is_first:
                    begin = pending[0] + 1
                else:
                    if pending:
                        yield pending[1]
                        pending = None
                    yield _damage(window, begin, error)
                    # Where nothing but starts without records follow each other, ever larger steps are made.
                    begin += 1 << min(failures, 16)
                    failures += 1
            is_found = window.find_start(begin, self.start)
            begin = window.tell()
        if pending:
            yield pending[1]


def _damage(window: Window, offset: int, error: OSError) -> Damage:
    window.go_back(offset)
    sample = window.read(_HEAD_BYTES)[:64]
    text = str(error)
    if text == PACKED_AS_A_WHOLE:
        return Damage(offset, text)
    return Damage(offset, NO_HEADER if "header" in text else DAMAGED_PACKING, sample)


def warc_records(window: Window) -> Iterator[Record]:
    """Give the records of a WARC file from where the window stands."""
    from fastwarc.warc import ArchiveIterator  # noqa: PLC0415 -- slow to load, and for archives only

    for record in ArchiveIterator(window):
        yield _warc_record(record)


def _warc_record(record: WarcRecord) -> Record:
    fields = record.headers
    is_http = record.is_http_parsed
    headers: Headers
    if is_http:
        found = ((name, record.http_headers.get_bytes_multiple(name.encode())) for name in HEADERS)
        headers = {name: [text_from_bytes(value) for value in values] for name, values in found if values}
    else:
        headers = {"content-type": [fields.get("Content-Type", "") or ""]}
    return Record(
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

    def read(self, size: int = BLOCK_BYTES) -> bytes:
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


def arc_records(window: Window) -> Iterator[Record]:
    """Give the records of an ARC file from where the window stands."""
    from warcio.archiveiterator import ArchiveIterator  # noqa: PLC0415 -- slow to load, and for archives only
    from warcio.exceptions import ArchiveLoadFailed  # noqa: PLC0415

    begin = window.tell()
    try:
        iterator = ArchiveIterator(window)
        for record in iterator:
            yield _arc_record(record, begin + iterator.get_record_offset())
    except ArchiveLoadFailed as error:
        is_whole = "non-chunked" in str(error)
        raise OSError(PACKED_AS_A_WHOLE if is_whole else NO_HEADER) from error
    except (zlib.error, ValueError, IndexError, EOFError) as error:
        raise OSError(str(error)) from error


def _arc_record(record: ArcWarcRecord, offset: int) -> Record:
    fields = record.rec_headers
    http = record.http_headers
    headers: dict[str, list[str]] = {}
    for name, value in http.headers if http else [("content-type", record.content_type or "")]:
        headers.setdefault(name.lower(), []).append(text_from_bytes(value.encode("utf-8", "surrogateescape")))
    status = http.get_statuscode() if http else ""
    return Record(
        offset=offset,
        kind="response" if http else record.rec_type,
        url=(fields.get_header("uri") or "").encode("utf-8", "surrogateescape"),
        time=fields.get_header("archive-date"),
        status=int(status) if status and status.isdecimal() else None,
        headers=headers,
        payload=_ArcPayload(record.raw_stream),
        payload_digest=None,
        is_truncated=False,
    )


class _ArcPayload(ForwardStream):
    def __init__(self, stream: Readable) -> None:
        self._stream = stream

    def read(self, size: int = BLOCK_BYTES) -> bytes:
        return self._stream.read(size)

    def damage(self) -> str | None:
        while self.read():
            pass
        return CUT_OFF if getattr(self._stream, "limit", 0) > 0 else None
