"""Indexes of web archives: CDX with its header of letters or without, CDXJ, and what CDX servers answer.

    (test,shop)/a 20261115002357 http://shop.test/a text/html 200 7FQK… - - 512 1024 crawl.warc.gz
    (test,shop)/a 20261115002357 {"url": "http://shop.test/a", "status": "200", "digest": "7FQK…"}

The digest is the archive's own. The length is that of the packed record, which a revisit, whose body is
elsewhere, does not share with the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import SourceError
from undust.reading.formats.json_lines import NOT_JSON, json_columns
from undust.reading.formats.lines import Lines, head_lines, whole_lines
from undust.reading.formats.rows import Place, batch_of, note_rows, note_where
from undust.reading.formats.values import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from undust.reading.formats.reading import Reading

LETTERS = {"a": "url", "b": "time", "s": "status", "k": "digest", "r": "redirect", "S": "size", "m": "mime"}
"""Our names for the letters of a CDX header; the others are of no use to us."""
_NAMES = {
    "original": "url",
    "url": "url",
    "timestamp": "time",
    "statuscode": "status",
    "status": "status",
    "digest": "digest",
    "redirect": "redirect",
    "length": "size",
    "mimetype": "mime",
    "mime": "mime",
}
"""Our names for those that CDX servers and CDXJ use."""
LAYOUTS = {7: "N b a m s k S", 9: "N b a m s k r V g", 11: "N b a m s k r M S V g"}
"""What lines without a header hold, by their number of fields."""

REVISIT = "warc/revisit"
_PLAIN = re.compile(rb"\S+ \d{4,17} \S+ \S+ (?:\d{3}|-) \S+ ")
_JSON = re.compile(rb"\S+ \d{4,17} \{")


def recognises_cdx(head: bytes, name: str) -> int:  # noqa: ARG001 -- the shelf's contract
    """Return how sure it is that these are the first bytes of a CDX file, from 0 to 100."""
    lines = head_lines(head)
    if not lines:
        return 0
    if _header(lines[0]):
        return 95
    found = sum(_PLAIN.match(line) is not None and line.count(b" ") + 1 in LAYOUTS for line in lines)
    return 85 if found * 2 > len(lines) else 0


def recognises_cdxj(head: bytes, name: str) -> int:  # noqa: ARG001 -- the shelf's contract
    """Return how sure it is that these are the first bytes of a CDXJ file, from 0 to 100."""
    lines = [line for line in head_lines(head) if not line.startswith(b"!")]
    found = sum(_JSON.match(line) is not None for line in lines)
    return 90 if lines and found * 2 > len(lines) else 0


def read_cdx(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the captures of a CDX file."""
    layouts: Mapping[int, Sequence[str]] = {
        count: [LETTERS.get(letter, "") for letter in letters.split()] for count, letters in LAYOUTS.items()
    }
    separator = b" "
    for lines in whole_lines(file, reading):
        column = lines.column()
        start = 0
        if lines.first == 1 and len(column) and (names := _header(column[0].as_py())):
            if "url" not in names:
                message = f"{reading.name}: its header names no field for the URL ('a'); mend the first line"
                raise SourceError(message)
            layouts = {len(names): names}
            separator = b"\t" if b"\t" in column[0].as_py() else b" "
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
        yield _batch(raw, rows.filter(has_count), lines.place, reading)


def _header(line: bytes) -> list[str] | None:
    """Return our names for the fields that a header line lists; None if it is no header."""
    words = line.strip().split(b"\t" if b"\t" in line else b" ")
    if words[0] == b"CDX":
        return [LETTERS.get(word.decode("latin-1"), "") for word in words[1:]]
    names = [_NAMES.get(word.decode("latin-1").lower(), "") for word in words]
    is_header = b"timestamp" in words and (b"original" in words or b"url" in words)
    return names if is_header else None


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
        found = json_columns(pc.list_element(words, 2), _NAMES)
        note_rows(rows.take(found.damaged), reading.skip, NOT_JSON, column, lines.place)
        raw = _renamed(found.columns) | {"time": pc.list_element(words, 1).take(found.rows)}
        yield _batch(raw, rows.take(found.rows), lines.place, reading)


def _renamed(columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Return columns by our names; where two have one name, the first that has a value."""
    raw: dict[str, pa.Array] = {}
    for name, ours in _NAMES.items():
        column = columns[name]
        if ours in raw and column.null_count < len(column):
            raw[ours] = pc.coalesce(texts(raw[ours]), texts(column))
        else:
            raw.setdefault(ours, column)
    return raw


def _batch(raw: dict[str, pa.Array], rows: pa.Array, place: Place, reading: Reading) -> pa.RecordBatch:
    mime = raw.pop("mime", None)
    if mime is not None and "size" in raw:
        is_revisit = pc.fill_null(pc.equal(mime.cast(pa.binary()), REVISIT.encode()), False)  # noqa: FBT003
        size = raw["size"]
        raw["size"] = pc.if_else(is_revisit, pa.scalar(None, size.type), size)
    return batch_of(raw, lambda row: place(rows[row].as_py()), reading)
