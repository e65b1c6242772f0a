"""Web archives: WARC and ARC, responses, revisits and redirects, with what their pages contain or link.

A revisit refers to a page that the archive already holds: it has the digest and size of that record if
that was read, in this file or one before, else the archive's own digest of the payload, marked `payload:`
so that it is never mistaken for that of a text.

The links of archived pages are a list of URLs, which shows the forms in which a site links its own pages. A
page is then read for its links alone, up to a bound; each URL that it links is one row of that page.
"""

from __future__ import annotations

import html
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urljoin

import pyarrow as pa

from undust.reading.formats.bodies import UNKNOWN_ENCODING, DecodedBody, Window
from undust.reading.formats.recognising import ARC_START, WARC_START
from undust.reading.formats.records import (
    Archive,
    ArchiveRecord,
    Damage,
    arc_length,
    arc_records,
    warc_length,
    warc_records,
)
from undust.reading.formats.rows import batch_of
from undust.reading.formats.values import BLOCKS, SKETCH, blocks_array, text_from_bytes
from undust.reading.observations import BATCH_ROWS, Statement
from undust.reading.page import (
    FIRST_REDIRECT,
    NOT_MODIFIED,
    Body,
    Content,
    Page,
    PagesSeen,
    clean_param_lines,
    page_of,
)
from undust.reading.text import as_utf8
from undust.urls import Url, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.reading.formats import Reading

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
    seen = _pages_seen(reading)
    archive = Archive(warc_records, re.compile(WARC_START), warc_length, _maker_of_rows(reading, seen))
    return _batches(archive.rows(Window(file)), reading, seen)


def _pages_seen(reading: Reading) -> PagesSeen:
    """Return what the pages of the job taught so far."""
    if reading.seen is not None:
        return reading.seen()
    return PagesSeen(reading.options.shingle_words, reading.options.sketch_size)


def read_arc(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the responses of an ARC file, packed as it is."""
    seen = _pages_seen(reading)
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
    """Return a row without the content of the page."""
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
    """Return what a site declares here about its parameters."""
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


MOST_LINKS, LONGEST_LINK = 2_000, 2_048
"""Links of one page, and characters of one, that are taken."""
_TAG = r"""(?i)<%s\s[^<>]{0,4096}?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
_ANCHOR, _BASE = re.compile(_TAG % "a"), re.compile(_TAG % "base")
_SCHEMES = ("http://", "https://")


class _LinkedPage(NamedTuple):
    """A record with what it links."""

    offset: int
    urls: list[str]


def read_links(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the URLs that the pages of a WARC file link, packed as it is."""
    archive = Archive(warc_records, re.compile(WARC_START), warc_length, _links_of)
    rows = _rows(archive.rows(Window(file)), reading)
    while some := list(islice(rows, BATCH_ROWS)):
        places = [f"offset {offset}" for offset, _ in some]
        urls = pa.array([url for _, url in some], pa.string())
        yield batch_of({"url": urls}, places.__getitem__, reading)


def _rows(pages: Iterator[_LinkedPage | Damage], reading: Reading) -> Iterator[tuple[int, str]]:
    for page in pages:
        if isinstance(page, Damage):
            reading.skip(page.reason, f"offset {page.offset}", page.sample)
        else:
            yield from ((page.offset, url) for url in page.urls)


def _links_of(record: ArchiveRecord) -> _LinkedPage:
    kind = next(iter(record.headers.get("content-type", ())), "")
    if record.kind != "response" or record.status != _OK or "html" not in kind.lower():
        return _LinkedPage(record.offset, [])
    body = Body.of(DecodedBody(record.payload, record.headers))
    text = as_utf8(body.start).decode("utf-8", "replace")
    return _LinkedPage(record.offset, list(links_in(text, text_from_bytes(record.url))))


def links_in(text: str, url: str) -> Iterator[str]:
    """Yield the URLs that a page links, absolute and without fragments, each once.

    They are relative to the first `<base href>` of the page, or to its own URL.

    >>> list(links_in('<a href="/b?x=1&amp;y=2#top">b</a> <A class=c HREF=c>c</A>', "http://a.test/d/e"))
    ['http://a.test/b?x=1&y=2', 'http://a.test/d/c']
    >>> list(links_in('<base href="/f/"><a href="c">c</a>', "http://a.test/d/e"))
    ['http://a.test/f/c']
    """
    seen: set[str] = set()
    declared = _BASE.search(text)
    base = (_target(declared, url) if declared else None) or url
    for found in islice(_ANCHOR.finditer(text), MOST_LINKS):
        target = _target(found, base)
        if target is not None and target not in seen:
            seen.add(target)
            yield target


def _target(found: re.Match[str], base: str) -> str | None:
    """Return the URL of a tag; None if it is not one that can be fetched."""
    href = html.unescape(next(part for part in found.groups() if part is not None)).strip()
    try:
        target = urljoin(base, href).partition("#")[0]
    except ValueError:
        return None
    return target if target.lower().startswith(_SCHEMES) and len(target) <= LONGEST_LINK else None
