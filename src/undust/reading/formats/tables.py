"""Tables that say themselves how they are built: JSON lines, JSON arrays and Parquet.

Scrapy's feed exports are among them. A JSON array is read object by object, so that one of any length
passes; in one that is damaged, reading goes on at the next object.
"""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from undust.files.arrays import NOT_JSON, OBJECTS_AT_ONCE, array_pieces
from undust.files.parquet import ROWS, first_sentence, opened
from undust.reading.formats.columns import candidates, chosen
from undust.reading.formats.json_lines import json_columns
from undust.reading.formats.lines import blocks_of, whole_lines
from undust.reading.formats.rows import Place, batch_of, note_rows
from undust.reading.formats.values import texts, urls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow.parquet as pq

    from undust.reading.formats.reading import Reading

URLS = {"url", "canonical", "redirect"}
_URL = re.compile(r"\s*https?://", re.IGNORECASE)


def read_jsonl(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the objects of JSON lines."""
    names: dict[str, tuple[str, ...]] | None = None
    seen: set[str] = set()
    for lines in whole_lines(file, reading):
        column = lines.column()
        rows = pc.indices_nonzero(pc.invert(pc.match_substring_regex(column, r"^\s*$")))
        texts_of_rows = column.take(rows)
        if names is None and len(rows):
            names = _names([_object(line) for line in texts_of_rows[:20].to_pylist()], reading)
        if names is None:
            continue
        found = json_columns(texts_of_rows, [name for group in names.values() for name in group])
        note_rows(rows.take(found.damaged), reading.skip, NOT_JSON, column, lines.place)
        seen |= _filled(found.columns)
        yield _batch(found.columns, names, _places(rows.take(found.rows), lines.place), reading)
    _note_unseen(seen, reading)


def read_json(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the objects of a JSON array."""
    objects = _objects(blocks_of(file), reading)
    names: dict[str, tuple[str, ...]] | None = None
    seen: set[str] = set()
    while some := list(islice(objects, OBJECTS_AT_ONCE)):
        # Line breaks between the parts of an object mean nothing, and Arrow wants one a line.
        column = pa.array([data.replace(b"\n", b" ") for _, data in some], pa.binary())
        offsets = pa.array([offset for offset, _ in some], pa.int64())
        names = names or _names([_object(line) for line in column[:20].to_pylist()], reading)
        found = json_columns(column, [name for group in names.values() for name in group])
        note_rows(found.damaged, reading.skip, NOT_JSON, column, _offsets(offsets))
        seen |= _filled(found.columns)
        yield _batch(found.columns, names, _offsets(offsets.take(found.rows)), reading)
    _note_unseen(seen, reading)


def _offsets(offsets: pa.Array) -> Place:
    return lambda row: f"offset {offsets[row].as_py()}"


def _places(rows: pa.Array, place: Place) -> Place:
    return lambda row: place(rows[row].as_py())


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _names(objects: list[Mapping[str, Any]], reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return the names that each of our columns may have; every line of JSON may use others."""
    header = list(dict.fromkeys(name for value in objects for name in value))
    names = candidates(reading)
    if not header or set(names["url"]) & set(header):
        return names
    held = {name: [value[name] for value in objects if value.get(name) is not None] for name in header}
    url_like = [
        name
        for name, values in held.items()
        if all(isinstance(value, str) and _URL.match(value) for value in values)
    ]
    return names | {"url": (chosen(header, reading, url_like)["url"],)}


def _note_unseen(seen: set[str], reading: Reading) -> None:
    """Say which columns that the person named are in no record at all."""
    for theirs in sorted(set(reading.options.columns.values()) - seen):
        reading.lose(f"no record has the column '{theirs}'", "the whole file")


def _filled(columns: Mapping[str, pa.Array]) -> set[str]:
    return {name for name, column in columns.items() if column.null_count < len(column)}


def _batch(
    columns: Mapping[str, pa.Array], names: Mapping[str, tuple[str, ...]], place: Place, reading: Reading
) -> pa.RecordBatch:
    raw = {}
    for ours, theirs in names.items():
        filled = [columns[name] for name in theirs if columns[name].null_count < len(columns[name])]
        if len(filled) == 1:
            raw[ours] = filled[0]
        elif filled:
            raw[ours] = pc.coalesce(*map(urls if ours in URLS else texts, filled))
    some = next(iter(columns.values()))
    raw.setdefault("url", pa.nulls(len(some), pa.string()))
    return batch_of(raw, place, reading)


def _objects(blocks: Iterator[bytes], reading: Reading) -> Iterator[tuple[int, bytes]]:
    """Give the bytes of each object of an array, with the offset at which it begins."""

    def skip(reason: str, offset: int, data: bytes) -> None:
        reading.skip(reason, f"offset {offset}", data)

    return ((piece.offset, piece.data) for piece in array_pieces(blocks, skip) if piece.is_object)


def read_parquet(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the rows of a Parquet file."""
    with opened(file, reading.name) as parquet:
        columns = chosen(parquet.schema_arrow.names, reading)
        yield from _parquet_batches(parquet, columns, reading)


def _parquet_batches(
    parquet: pq.ParquetFile, columns: Mapping[str, str], reading: Reading
) -> Iterator[pa.RecordBatch]:
    first = 1
    try:
        for batch in parquet.iter_batches(ROWS, columns=sorted(set(columns.values()))):
            raw = {ours: batch.column(theirs) for ours, theirs in columns.items()}
            yield batch_of(raw, partial(_place_of_row, first), reading)
            first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        left = parquet.metadata.num_rows - first + 1
        reading.skip("cannot be unpacked", f"row {first}", first_sentence(error).encode(), max(left, 1))


def _place_of_row(first: int, row: int) -> str:
    return f"row {first + row}"
