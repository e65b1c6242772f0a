"""A table into a file: a new one, a batch of rows at a time, or a given one with one column more.

A command reads a column of a table and writes another one; the rest stays as it is. Of a list of URLs and
what became of them it makes a new table of two columns.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from undust.errors import DamagedSource, UndustError
from undust.files.streams import Holds, line_chunks, open_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Names = tuple[str, str]
    WriteRows = Callable[[list[str], list[str]], None]


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


LONGEST_ROW = 1 << 26
"""A row of more bytes than this is too long to be held."""
UTF8_MARK = b"\xef\xbb\xbf"

Cell = bytes | None
Write = Callable[[bytes], object]
Work = Callable[[Sequence[Cell]], tuple[Sequence[Cell], Sequence[bool] | None]]
"""A block of URLs to what becomes of them, and which rows to write; None: all of them."""
WorkLines = Callable[[bytes], bytes | None]
"""The same for URLs as lines, to as many lines; None: nothing of their rows is written."""
Choose = Callable[[Sequence[str], Sequence[str]], str]
"""From the names of the columns, and of those that hold nothing but URLs, to the column of the URLs."""


class TableChange(NamedTuple):
    """What is done to one table."""

    name: str
    """What an error calls the file."""
    choose: Choose
    said: str | None
    """The column that the person named, if any."""
    written: str
    """The column that gets the results."""
    work: Work
    write: Write
    drops_rows: bool = False
    """Some rows are not written."""
    only_changed: bool = False
    """Only rows are written whose URL changes."""
    work_lines: WorkLines | None = None
    """What is done to URLs that hold no line break; without it they are cells like all others."""


class Numbered(NamedTuple):
    """Whole lines, and the number of the first of them."""

    data: bytes
    first: int


def numbered_lines(name: str, blocks: Iterable[bytes]) -> Iterator[Numbered]:
    """Give whole lines, without the mark that begins some UTF-8 files; raise at one too long to be held."""
    number = 1
    for chunk in line_chunks(blocks, LONGEST_ROW):
        if chunk.holds is not Holds.LINES:
            message = f"{name}:{number}: longer than {LONGEST_ROW >> 20} MiB, which no row may be; remove it"
            raise DamagedSource(message)
        yield Numbered(chunk.data.removeprefix(UTF8_MARK) if number == 1 else chunk.data, number)
        number += chunk.data.count(b"\n")


def text_from_bytes(data: bytes) -> str:
    r"""Return a URL; bytes that are not UTF-8 become percent triplets.

    >>> text_from_bytes(b"http://a.test/caf\xe9")
    'http://a.test/caf%E9'
    """
    text = data.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)


@contextmanager
def new_table(kind: str, columns: Names, write: Write) -> Iterator[WriteRows]:
    """Give a function that writes rows: the URLs, and the results beside them."""
    if kind == "jsonl":
        yield lambda urls, results: _write_json_lines(urls, results, columns, write)
    elif kind == "csv":
        write(csv_text([list(columns)]))
        yield lambda urls, results: _write_csv(urls, results, write)
    else:
        with _parquet(columns, write) as write_rows:
            yield write_rows


def _write_json_lines(urls: list[str], results: list[str], columns: Names, write: Write) -> None:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(urls, results, strict=True))
    write("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode())


def _write_csv(urls: list[str], results: list[str], write: Write) -> None:
    write(csv_text(map(list, zip(urls, results, strict=True))))


@contextmanager
def _parquet(columns: Names, write: Write) -> Iterator[WriteRows]:
    import pyarrow as pa  # noqa: PLC0415 -- slow to load, and seldom needed

    schema = pa.schema([(name, pa.string()) for name in columns])
    with writing_parquet(schema, write) as write_batch:

        def write_rows(urls: list[str], results: list[str]) -> None:
            if urls:
                write_batch(pa.record_batch([pa.array(urls), pa.array(results)], schema=schema))

        yield write_rows


def csv_text(rows: Iterable[list[str]]) -> bytes:
    """Return rows as lines of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")
