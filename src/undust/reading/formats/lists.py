"""Lists of URLs: one a line, a sitemap, or the index of a web archive (CDX, CDXJ).

A sitemap is cut into its `<url>` elements before anything is parsed, and each is parsed alone: real ones are
cut off, hold raw ampersands and mix encodings, and one broken element must not cost the rest.

An index is CDX, with its header of letters or without, CDXJ, or the answer of a CDX server:

    (test,shop)/a 20261115002357 http://shop.test/a text/html 200 7FQK… - - 512 1024 crawl.warc.gz
    (test,shop)/a 20261115002357 {"url": "http://shop.test/a", "status": "200", "digest": "7FQK…"}

The digest is the archive's own. The length is that of the packed record, which a revisit, whose body is
elsewhere, does not share with the page.
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

from undust.errors import SourceError
from undust.files.arrays import NOT_JSON
from undust.files.streams import LONGEST_LINE
from undust.reading.formats.json_lines import json_columns
from undust.reading.formats.recognising import LAYOUTS, LETTERS, NAMES, header_names, separator_of
from undust.reading.formats.rows import (
    TOO_LONG,
    Lines,
    Place,
    batch_of,
    blocks_of,
    note_rows,
    note_where,
    whole_lines,
)
from undust.reading.formats.values import text_from_bytes, texts, urls
from undust.reading.observations import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from undust.reading.formats import Reading


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
    """Give the lines of a list as observations with a URL only, or marked as listed."""
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
    """The content of one element of a sitemap."""

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


REVISIT = "warc/revisit"


def read_cdx(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the captures of a CDX file."""
    layouts: Mapping[int, Sequence[str]] = {
        count: [LETTERS.get(letter, "") for letter in letters.split()] for count, letters in LAYOUTS.items()
    }
    separator = b" "
    for lines in whole_lines(file, reading):
        column = lines.column()
        start = 0
        if lines.first == 1 and len(column) and (names := header_names(column[0].as_py())):
            if "url" not in names:
                message = f"{reading.name}: its header names no field for the URL ('a'); fix the first line"
                raise SourceError(message)
            layouts = {len(names): names}
            separator = separator_of(column[0].as_py())
            start = 1
        rows = pc.indices_nonzero(pc.greater(pc.binary_length(column), 0))
        rows = rows.filter(pc.greater_equal(rows, start))
        fields = pc.split_pattern(column.take(rows), separator)
        yield from _batches(fields, rows, layouts, lines, reading)


def _batches(
    fields: pa.Array, rows: pa.Array, layouts: Mapping[int, Sequence[str]], lines: Lines, reading: Reading
) -> Iterator[pa.RecordBatch]:
    """Give the lines of each number of fields as a batch."""
    counts = pc.list_value_length(fields)
    is_known = pc.is_in(counts, pa.array(list(layouts), pa.int32()))
    expected = " or ".join(str(count) for count in layouts)
    column = lines.column()
    note_rows(
        rows.filter(pc.invert(is_known)),
        reading.skip,
        f"does not have {expected} fields",
        column,
        lines.place,
    )
    for count, names in layouts.items():
        has_count = pc.equal(counts, count)
        chosen = fields.filter(has_count)
        if not len(chosen):
            continue
        raw = {name: pc.list_element(chosen, at) for at, name in enumerate(names) if name}
        yield _index_batch(raw, rows.filter(has_count), lines.place, reading)


def read_cdxj(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the captures of a CDXJ file."""
    for lines in whole_lines(file, reading):
        column = lines.column()
        is_capture = pc.match_substring_regex(column, r"^[^ ]+ [0-9]{4,17} \{")
        is_other = pc.match_substring_regex(column, r"^(!|\s*$)")
        is_damaged = pc.and_not(pc.invert(is_capture), is_other)
        note_where(is_damaged, reading.skip, "no key, time and JSON object", column, lines.place)
        rows = pc.indices_nonzero(is_capture)
        words = pc.split_pattern(column.take(rows), b" ", max_splits=2)
        found = json_columns(pc.list_element(words, 2), NAMES)
        note_rows(rows.take(found.damaged), reading.skip, NOT_JSON, column, lines.place)
        raw = _renamed(found.columns) | {"time": pc.list_element(words, 1).take(found.rows)}
        yield _index_batch(raw, rows.take(found.rows), lines.place, reading)


def _renamed(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return columns by our names; where two have one name, the first that has a value."""
    raw: dict[str, pa.Array] = {}
    for name, ours in NAMES.items():
        column = columns[name]
        if ours in raw and column.null_count < len(column):
            raw[ours] = pc.coalesce(texts(raw[ours]), texts(column))
        else:
            raw.setdefault(ours, column)
    return raw


def _index_batch(raw: dict[str, pa.Array], rows: pa.Array, place: Place, reading: Reading) -> pa.RecordBatch:
    mime = raw.pop("mime", None)
    if mime is not None and "size" in raw:
        is_revisit = pc.fill_null(pc.equal(mime.cast(pa.binary()), REVISIT.encode()), False)  # noqa: FBT003
        size = raw["size"]
        raw["size"] = pc.if_else(is_revisit, pa.scalar(None, size.type), size)
    return batch_of(raw, lambda row: place(rows[row].as_py()), reading)
