"""Web archives: WARC and ARC, responses, revisits and redirects, with what their pages say.

A revisit stands for a page that the archive already holds: it has the digest and size of that record if
that was read, in this file or one before, else the archive's own digest of the payload, marked `payload:`
so that it is never taken for that of a text.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa

from undust.reading.content.links import clean_param_lines
from undust.reading.content.page import FIRST_REDIRECT, NOT_MODIFIED, Body, Content, Page, page_of
from undust.reading.content.seen import PagesSeen
from undust.reading.content.text import as_utf8
from undust.reading.formats.block_lists import BLOCKS, blocks_array
from undust.reading.formats.bodies import UNKNOWN_ENCODING, DecodedBody
from undust.reading.formats.minima import SKETCH
from undust.reading.formats.recognising import ARC_START, WARC_START
from undust.reading.formats.records import (
    ArchiveRecord,
    arc_length,
    arc_records,
    warc_length,
    warc_records,
)
from undust.reading.formats.resuming import Archive, Damage
from undust.reading.formats.rows import batch_of
from undust.reading.formats.values import text_from_bytes
from undust.reading.formats.window import Window
from undust.reading.observations import BATCH_ROWS, Statement
from undust.urls import Url, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.reading.formats.reading import Reading

_OK, _PARTIAL_CONTENT = 200, 206
READ_KINDS = {"response", "resource", "revisit"}
TYPES = {
    "url": pa.binary(),
    "status": pa.int64(),
    "size": pa.int64(),
    "digest": pa.string(),
    "sketch": SKETCH,
    "canonical": pa.string(),
    "redirect": pa.string(),
    "time": pa.string(),
    "blocks": BLOCKS,
    "page_title": pa.string(),
    "page_language": pa.string(),
}
"""The columns that an archive fills."""

NO_STATUS = "response without an HTTP status"
CUT_BY_CRAWLER = "body that the crawler cut short; it has no digest and no size"
MOST_STATEMENTS = 10_000
TOO_MANY_STATEMENTS = "one more No-Vary-Search than are kept of a file"
EMPTY_PAYLOADS = ("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "da39a3ee5e6b4b0d3255bfef95601890afd80709")
"""SHA-1 of nothing, in the two ways in which it is written."""


def read_warc(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the responses, resources and revisits of a WARC file, packed as it is."""
    seen = reading.seen or PagesSeen(reading.options.shingle_words, reading.options.sketch_size)
    archive = Archive(warc_records, re.compile(WARC_START), warc_length, _maker_of_rows(reading, seen))
    return _batches(archive.rows(Window(file)), reading, seen)


def read_arc(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the responses of an ARC file, packed as it is."""
    seen = reading.seen or PagesSeen(reading.options.shingle_words, reading.options.sketch_size)
    archive = Archive(arc_records, re.compile(ARC_START), arc_length, _maker_of_rows(reading, seen))
    return _batches(archive.rows(Window(file)), reading, seen)


class _ReadRecord(NamedTuple):
    """A record that was read."""

    record: ArchiveRecord
    page: Page | None
    problem: str | None
    statement: Statement | None


def _batches(
    rows: Iterator[_ReadRecord | Damage], reading: Reading, seen: PagesSeen
) -> Iterator[pa.RecordBatch]:
    batch = _Batch(reading, seen)
    for row in rows:
        if isinstance(row, Damage):
            reading.skip(row.reason, f"offset {row.offset}", row.sample)
            continue
        batch.add(row)
        if len(batch) == BATCH_ROWS:
            yield batch.finished()
            batch = _Batch(reading, seen)
    yield batch.finished()


def _maker_of_rows(reading: Reading, seen: PagesSeen) -> Callable[[ArchiveRecord], _ReadRecord]:
    return _bare_row_of if reading.options.only_urls else partial(_row_of, seen)


def _bare_row_of(record: ArchiveRecord) -> _ReadRecord:
    """Return a row without what the page says."""
    is_read = record.kind in READ_KINDS
    page = page_of(text_from_bytes(record.url), record.status, {}, Content()) if is_read else None
    return _ReadRecord(record, page, None, None)


def _row_of(seen: PagesSeen, record: ArchiveRecord) -> _ReadRecord:
    if record.kind not in READ_KINDS:
        return _ReadRecord(record, None, None, None)
    url = text_from_bytes(record.url)
    content, problem, statement = Content(), None, None
    if record.kind == "revisit":
        content = _revisited(seen, record)
    elif record.status not in {_PARTIAL_CONTENT, NOT_MODIFIED}:
        decoding = DecodedBody(record.payload, record.headers)
        body = Body.of(decoding)
        content = seen.content_of(body, next(iter(record.headers.get("content-type", ())), None))
        problem = CUT_BY_CRAWLER if record.is_truncated else decoding.problem
        if problem not in {None, UNKNOWN_ENCODING}:
            content = content._replace(size=None, digest=None)
        if record.payload_digest:
            seen.remember(record.payload_digest, content)
        statement = _statement(url, record, body)
    page = page_of(url, record.status, record.headers, content)
    return _ReadRecord(record, page, problem or content.problem or page.canonical.problem, statement)


def _revisited(seen: PagesSeen, record: ArchiveRecord) -> Content:
    digest = record.payload_digest
    if not digest or record.status == NOT_MODIFIED or digest.rpartition(":")[2] in EMPTY_PAYLOADS:
        return Content()
    known = seen.payload(digest)
    return Content(known.size, known.digest) if known else Content(digest=f"payload:{digest}")


def _statement(url: str, record: ArchiveRecord, body: Body) -> Statement | None:
    """Return what a site says here about its parameters."""
    address = url.partition("?")[0].partition("#")[0]
    if varying := record.headers.get("no-vary-search"):
        return Statement(address, "No-Vary-Search", ", ".join(varying))
    parsed = Url.parse(url) if address.endswith("/robots.txt") and record.status == _OK else None
    if parsed and parsed.path == "/robots.txt":
        lines = clean_param_lines(as_utf8(body.start).decode("utf-8", "replace"))
        return Statement(address, "Clean-param", lines) if lines else None
    return None


class _Batch:
    """Rows that wait until there are enough of them and their sketches are made."""

    def __init__(self, reading: Reading, seen: PagesSeen) -> None:
        self._reading, self._sketcher = reading, seen.sketcher
        self._columns: dict[str, list[Any]] = {name: [] for name in TYPES}
        self._offsets: list[int] = []

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, row: _ReadRecord) -> None:
        """Take a row, or count why it is not one."""
        record, page = row.record, row.page
        place = f"offset {record.offset}"
        if page is None:
            self._reading.pass_over(f"{record.kind} record", place, record.url)
            return
        if record.kind == "response" and record.status is None and record.url[:4].lower() == b"http":
            self._reading.skip(NO_STATUS, place, record.url)
            return
        if row.problem:
            self._reading.doubt(row.problem, place, record.url)
        if row.statement:
            self._keep(row.statement, place)
        self._append(record, page)

    def _keep(self, statement: Statement, place: str) -> None:
        statements = self._reading.statements
        if statement in statements or len(statements) < MOST_STATEMENTS:
            statements[statement] = None
        else:
            self._reading.doubt(TOO_MANY_STATEMENTS, place, statement.url.encode())

    def _append(self, record: ArchiveRecord, page: Page) -> None:
        content = page.content
        sketches = self._columns["sketch"]
        is_shown = content.text and not page.redirect and (record.status or _OK) < FIRST_REDIRECT
        values = (
            *(record.url, record.status, content.size, content.digest, None),
            *(page.canonical.target, page.redirect, record.time),
            *(content.blocks if is_shown else None, content.title, page.language),
        )
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)
        self._offsets.append(record.offset)
        if is_shown and (site := site_of(text_from_bytes(record.url))):
            self._sketcher.add(site, content.text, partial(sketches.__setitem__, len(sketches) - 1))

    def finished(self) -> pa.RecordBatch:
        """Return the rows, their sketches made."""
        self._sketcher.settle()
        blocks = {"blocks": blocks_array(self._columns.pop("blocks"))}
        raw = {name: pa.array(column, TYPES[name]) for name, column in self._columns.items()} | blocks
        return batch_of(raw, lambda row: f"offset {self._offsets[row]}", self._reading)
