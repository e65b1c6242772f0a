"""Lists of URLs and nothing else: one a line, or a sitemap.

A sitemap is cut into its `<url>` elements before anything is parsed, and each is parsed alone: real
ones are cut off, hold raw ampersands and mix encodings, and one broken element must not cost the rest.
"""

from __future__ import annotations

import codecs
import re
from functools import partial
from itertools import chain, islice
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from xml.parsers.expat import ExpatError, ParserCreate  # an element alone has no DTD that could expand

import pyarrow as pa
import pyarrow.compute as pc

from undust.files.streams import LONGEST_LINE
from undust.reading.formats.rows import TOO_LONG, Place, batch_of, blocks_of, note_where, whole_lines
from undust.reading.formats.values import text_from_bytes, urls
from undust.reading.observations import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.reading.formats.reading import Reading

_START = re.compile(rb"<!--|<((?:[\w.-]+:)?)(url|sitemap)(?=[\s>])")
_DECLARED = re.compile(rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_RAW_AMPERSAND = re.compile(r"&(?!(?:#\d+|#x[0-9A-Fa-f]+|amp|lt|gt|quot|apos);)")

_NAMED_SITEMAP = re.compile(r"sitemap[\w.-]*\.txt(\.\w+)?")
"""A list with such a name is a sitemap of plain text, as sitemaps.org describes it."""

INDEXED = "a sitemap that an index names; it is read if you give it too"
COMMENT = "a comment"
SEVERAL = "not a URL: it has a tab or a carriage return inside"
_SEPARATED = r"[\t\r]"
"""By the standard a URL loses these, which would glue the fields of a table, or lines, together."""

_CHILD = 2  # how deep a child of `<url>` is


def read_urls(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the lines of a list as observations that know nothing but their URL, or that it is listed."""
    for lines in whole_lines(file, reading):
        column = pc.ascii_trim_whitespace(urls(lines.column()))
        is_comment = pc.fill_null(pc.starts_with(column, "#"), False)  # noqa: FBT003
        note_where(is_comment, reading.pass_over, COMMENT, column, lines.place)
        is_several = pc.and_not(pc.fill_null(pc.match_substring_regex(column, _SEPARATED), False), is_comment)  # noqa: FBT003
        note_where(is_several, reading.skip, SEVERAL, column, lines.place)
        is_entry = pc.greater(pc.fill_null(pc.binary_length(column), 0), 0)
        is_entry = pc.and_not(is_entry, pc.or_(is_comment, is_several))
        yield _batch(column, pc.indices_nonzero(is_entry), lines.place, reading)


def _batch(column: pa.Array, rows: pa.Array, place: Place, reading: Reading) -> pa.RecordBatch:
    raw = {"url": column.take(rows)}
    if _NAMED_SITEMAP.fullmatch(PurePath(reading.name).name.lower()):
        raw["listed"] = pa.array([True] * len(rows), pa.bool_())
    return batch_of(raw, lambda row: place(rows[row].as_py()), reading)


class _Entry(NamedTuple):
    """What one element of a sitemap says."""

    is_page: bool
    url: str | None
    time: str | None
    offset: int


def read_sitemap(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the pages of a sitemap with `<lastmod>` as their time; those of an index are counted."""
    entries = _entries(_as_utf8(blocks_of(file)), reading)
    while batch := list(islice(entries, BATCH_ROWS)):
        pages = [entry for entry in batch if entry.is_page]
        for entry in batch:
            if not entry.is_page:
                reading.pass_over(INDEXED, f"offset {entry.offset}", (entry.url or "").encode())
        raw = {
            "url": pa.array([page.url for page in pages], pa.string()),
            "time": pa.array([page.time for page in pages], pa.string()),
            "listed": pa.array([True] * len(pages), pa.bool_()),
        }
        yield batch_of(raw, partial(_place_of_entry, pages), reading)


def _place_of_entry(entries: list[_Entry], row: int) -> str:
    return f"offset {entries[row].offset}"


def _as_utf8(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Give text in another encoding, which its first bytes name, as UTF-8."""
    first = next(blocks, b"")
    declared = _DECLARED.search(first)
    encoding = declared[1].decode() if declared else "utf-8"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        is_utf8 = codecs.lookup(encoding).name in {"utf-8", "ascii"}
    except LookupError:
        is_utf8 = True
    if is_utf8:
        yield from chain([first], blocks)
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in chain([first], blocks):
        yield decoder.decode(block).encode()


def _entries(blocks: Iterator[bytes], reading: Reading) -> Iterator[_Entry]:
    """Give the elements of a sitemap one by one, holding no more than the longest that is allowed."""
    held, offset = b"", 0
    for block in blocks:
        if not (offset or held) and block.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in {b"<", b""}:
            reading.skip("does not begin like XML", "offset 0", block)
        held += block
        used = 0
        while start := _START.search(held, used):
            end = held.find(b"-->" if start[0] == b"<!--" else b"</%b%b" % (start[1], start[2]), start.end())
            if end < 0:
                used = start.start()
                break
            if start[0] != b"<!--":
                yield from _entry(held[start.start() : end], start, offset + start.start(), reading)
            used = end + 2
        else:
            # An element whose first letters are here may begin in the last of them.
            used = max(used, len(held) - 64)
        if len(held) - used > LONGEST_LINE:
            reading.skip(TOO_LONG, f"offset {offset + used}", held[used:])
            used = len(held) - 64
        offset += used
        held = held[used:]
    if start := _START.search(held):
        reading.skip("cut off in the middle", f"offset {offset + start.start()}", held[start.start() :])


def _entry(data: bytes, start: re.Match[bytes], offset: int, reading: Reading) -> Iterator[_Entry]:
    """Give what is in an element from its start tag to before its end tag; nothing if it is broken."""
    again = data.rfind(start[0], 1)
    if again > 0:
        reading.skip("broken XML", f"offset {offset}", data[:again])
        data, offset = data[again:], offset + again
    name = start[1] + start[2]
    try:
        texts = _mended_texts(text_from_bytes(data + b"</%b>" % name))
    except ExpatError:
        reading.skip("broken XML", f"offset {offset}", data)
        return
    prefix = start[1].decode()
    yield _Entry(start[2] == b"url", texts.get(f"{prefix}loc"), texts.get(f"{prefix}lastmod"), offset)


def _mended_texts(element: str) -> dict[str, str]:
    """Return the texts of an element's children; an ampersand that should have been `&amp;` is one."""
    try:
        return _child_texts(element)
    except ExpatError:
        return _child_texts(_RAW_AMPERSAND.sub("&amp;", element))


def _child_texts(element: str) -> dict[str, str]:
    """Return the texts of an element's children by their names, prefixes included."""
    texts: dict[str, str] = {}
    open_names: list[str] = []

    def add(text: str) -> None:
        if len(open_names) == _CHILD:
            texts[open_names[-1]] = texts.get(open_names[-1], "") + text

    parser = ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, _: open_names.append(name)
    parser.EndElementHandler = lambda _: open_names.pop()
    parser.CharacterDataHandler = add
    parser.Parse(element, True)  # noqa: FBT003 -- that this is all
    return {name: text.strip() for name, text in texts.items()}
