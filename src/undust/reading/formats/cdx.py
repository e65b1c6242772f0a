"""Indexes of web archives: CDX with its header of letters or without, CDXJ, and what CDX servers answer.

    (test,shop)/a 20261115002357 http://shop.test/a text/html 200 7FQK… - - 512 1024 crawl.warc.gz
    (test,shop)/a 20261115002357 {"url": "http://shop.test/a", "status": "200", "digest": "7FQK…"}

The digest is the archive's own. The length is that of the packed record, which a revisit, whose body is
elsewhere, does not share with the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import SourceError
from undust.files.arrays import NOT_JSON
from undust.reading.formats.json_lines import json_columns
from undust.reading.formats.naming import LAYOUTS, LETTERS, NAMES, header_names, separator_of
from undust.reading.formats.rows import Lines, Place, batch_of, note_rows, note_where, whole_lines
from undust.reading.formats.values import texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from undust.reading.formats.reading import Reading

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
        yield _batch(raw, rows.filter(has_count), lines.place, reading)


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
        yield _batch(raw, rows.take(found.rows), lines.place, reading)


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


def _batch(raw: dict[str, pa.Array], rows: pa.Array, place: Place, reading: Reading) -> pa.RecordBatch:
    mime = raw.pop("mime", None)
    if mime is not None and "size" in raw:
        is_revisit = pc.fill_null(pc.equal(mime.cast(pa.binary()), REVISIT.encode()), False)  # noqa: FBT003
        size = raw["size"]
        raw["size"] = pc.if_else(is_revisit, pa.scalar(None, size.type), size)
    return batch_of(raw, lambda row: place(rows[row].as_py()), reading)
