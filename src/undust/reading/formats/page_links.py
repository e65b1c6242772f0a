"""The links of archived pages, as a list of URLs: which forms of its own pages a site links.

A page is read for its links alone, up to a bound; each URL that it links is one row of that page.
"""

from __future__ import annotations

import html
import re
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import urljoin

import pyarrow as pa

from undust.reading.content.page import Body
from undust.reading.content.text import as_utf8
from undust.reading.formats.bodies import DecodedBody
from undust.reading.formats.recognising import WARC_START
from undust.reading.formats.records import warc_length, warc_records
from undust.reading.formats.resuming import Archive, Damage
from undust.reading.formats.rows import batch_of
from undust.reading.formats.values import text_from_bytes
from undust.reading.formats.window import Window
from undust.reading.observations import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.reading.formats.reading import Reading
    from undust.reading.formats.records import ArchiveRecord

MOST_LINKS, LONGEST_LINK = 2_000, 2_048
"""Links of one page, and characters of one, that are taken."""
_TAG = r"""(?i)<%s\s[^<>]{0,4096}?href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
_ANCHOR, _BASE = re.compile(_TAG % "a"), re.compile(_TAG % "base")
_SCHEMES = ("http://", "https://")
_OK = 200


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
