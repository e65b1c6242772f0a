"""A table into a file: Parquet, JSON lines or CSV, a batch of rows at a time."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from undust.errors import UndustError
from undust.files.streams import open_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_FORMATS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
_PACKINGS = (".gz", ".zst")
_ROWS = 16_384
"""In a row group of Parquet."""


def format_of(path: str) -> str:
    """Return the format that a name shows: `clusters.csv.gz` is `csv`."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes if suffix.lower() not in _PACKINGS]
    if suffixes and suffixes[-1] in _FORMATS:
        return _FORMATS[suffixes[-1]]
    message = f"{path}: its name shows no format; end it in .parquet, .jsonl or .csv, or give --output-format"
    raise UndustError(message)


def write_batches(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    path: str,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write all rows; the file is there whole or not at all."""
    chosen = format or format_of(path)
    with open_output(path) as output, _WRITERS[chosen](schema, output.write) as write:
        for batch in even(batches):
            write(batch)


def even(batches: Iterable[pa.RecordBatch], rows: int = _ROWS) -> Iterator[pa.RecordBatch]:
    """Yield batches of this many rows (the last has fewer), so that a file does not depend on its input."""
    held: list[pa.RecordBatch] = []
    room = rows
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, room)
            held.append(part)
            start += part.num_rows
            room -= part.num_rows
            if not room:
                yield _as_one(held)
                held, room = [], rows
    if held:
        yield _as_one(held)


def _as_one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


class _Sink(io.RawIOBase):
    """A file object for Arrow, which asks where it is."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        super().__init__()
        self._write = write
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 -- any buffer
        self._write(bytes(data))
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at


@contextmanager
def writing_parquet(
    schema: pa.Schema,
    write: Callable[[bytes], object],
    **packing: Any,  # noqa: ANN401 -- options of Arrow's writer
) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """Write batches as one Parquet file; if something fails, the file has no end and is not Parquet.

    Args:
        schema: Of the batches.
        write: Takes the bytes.
        packing: How columns are packed, as Arrow's writer takes it.

    """
    writer = pq.ParquetWriter(_Sink(write), schema, **{"compression": "zstd"} | packing)
    try:
        yield writer.write_batch
    except BaseException:
        writer.is_open = False
        raise
    writer.close()


@contextmanager
def _csv(schema: pa.Schema, write: Callable[[bytes], object]) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """Write batches as CSV; a list, which CSV has no word for, is written as JSON."""
    options = pa_csv.WriteOptions(quoting_style="needed")
    lists = [place for place, field in enumerate(schema) if pa.types.is_list(field.type)]
    for place in lists:
        schema = schema.set(place, pa.field(schema.field(place).name, pa.string()))
    with pa_csv.CSVWriter(_Sink(write), schema, write_options=options) as writer:

        def write_batch(batch: pa.RecordBatch) -> None:
            columns = [
                _as_json(column) if place in lists else column for place, column in enumerate(batch.columns)
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema) if lists else batch)

        yield write_batch


def _as_json(column: pa.Array) -> pa.Array:
    return pa.array([None if each is None else json.dumps(each) for each in column.to_pylist()], pa.string())


@contextmanager
def _json_lines(
    _: pa.Schema, write: Callable[[bytes], object]
) -> Iterator[Callable[[pa.RecordBatch], object]]:
    def write_batch(batch: pa.RecordBatch) -> None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
        write("".join(lines).encode(errors="surrogateescape"))

    yield write_batch


_WRITERS = {"parquet": writing_parquet, "csv": _csv, "jsonl": _json_lines}
