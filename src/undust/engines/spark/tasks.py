"""What runs on the executors: pure functions, so that a task may be run again, there or elsewhere.

A complaint about a file is a value here and no exception: Spark would run the task three times more, and
report it in a hundred lines. Spark knows fewer types than Arrow: columns are stored in those that both know,
and come back as they were.
"""

from __future__ import annotations

import os
import pickle
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.types as kinds

from undust.engines.contract import File
from undust.errors import UndustError
from undust.files.temporary import temporary_folder
from undust.reading.observations import SITE

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from pyspark.sql.types import DataType, StructType

    from undust.engines.contract import Reader, RowsFunction, SiteFunction, Tell

_NAMES = {
    pa.string(): "string",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.binary(): "binary",
    pa.timestamp("us", "UTC"): "timestamp",
}
"""What Spark calls the types that both know."""


def stored(schema: pa.Schema) -> pa.Schema:
    """Return the schema in types that Spark has too, wide enough for every value."""
    return pa.schema([pa.field(field.name, _stored(field.type)) for field in schema])


def _stored(kind: pa.DataType) -> pa.DataType:
    if kinds.is_list(kind):
        return pa.list_(_stored(kind.value_type))
    if kinds.is_unsigned_integer(kind):
        return pa.int64()
    return pa.string() if kinds.is_large_string(kind) else kind


def in_spark(schema: pa.Schema) -> StructType:
    """Return the Spark type of a stored schema."""
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415 -- loaded when an engine is made

    return StructType([StructField(field.name, _in_spark(field.type)) for field in schema])


def _in_spark(kind: pa.DataType) -> DataType:
    from pyspark.sql.types import ArrayType, DataType  # noqa: PLC0415 -- loaded when an engine is made

    if kinds.is_list(kind):
        return ArrayType(_in_spark(kind.value_type))
    return DataType.fromDDL(_NAMES[kind])


def to_store(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the types in which Spark stores a schema."""
    kept = stored(schema)
    columns = [_seen_as(rows.column(field.name), pa.uint64(), pa.int64()) for field in kept]
    return pa.table(columns, kept.names).cast(kept)


def restored(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows that come from Spark in the types that they had."""
    # Spark gives times in the zone of the session; they are the same times.
    wanted = pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003
    columns = [
        _seen_as(rows.column(field.name), pa.int64(), pa.uint64())
        if field.type == pa.uint64()
        else rows.column(field.name)
        for field in schema
    ]
    return pa.table(columns, wanted.names).cast(wanted)


def _seen_as(column: pa.ChunkedArray, kind: pa.DataType, other: pa.DataType) -> pa.ChunkedArray:
    """Return the same bits as another type: 64 of them fit, whatever they mean."""
    if column.type != kind:
        return column
    return pa.chunked_array([chunk.view(other) for chunk in column.chunks], other)


NOTE = "note"
"""The column of notes; a row has either a note or all else."""
PACKED = pa.schema([pa.field("batch", pa.binary())])
FETCHED = pa.schema([pa.field("path", pa.string()), pa.field("content", pa.binary())])


def with_notes(schema: pa.Schema) -> pa.Schema:
    """Return the stored schema of rows and notes."""
    return stored(schema).append(pa.field(NOTE, pa.binary()))


def read_groups(
    batches: Iterator[pa.RecordBatch], reader: Reader, folder: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of groups of files, which lie below a folder that every executor sees."""
    for batch in batches:
        for paths in batch.column(0).to_pylist():
            files = [File(path, str(Path(folder, path))) for path in paths]
            yield from _noted(partial(reader.read_files, files), schema)


def read_contents(
    batches: Iterator[pa.RecordBatch], reader: Reader, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files that Spark has fetched whole."""
    for batch in batches:
        for path, content in zip(*(batch.column(name) for name in FETCHED.names), strict=True):
            with temporary_folder("undust-", _folder()) as folder:
                place = Path(folder) / "content"
                place.write_bytes(content.as_buffer())
                files = [File(path.as_py(), str(place))]
                yield from _noted(partial(reader.read_files, files), schema)


def _folder() -> str | None:
    """Return where Spark has its own temporary files, which are removed with it, however it ends."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None


def read_rows(
    batches: Iterator[pa.RecordBatch], reader: Reader, name: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a part of a table that Spark itself reads."""
    yield from _noted(partial(reader.read_rows, name, batches), schema)


def _noted(read: Callable[[Tell], Iterator[pa.RecordBatch]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows, then a row for each note; an error is a note too, and ends the task."""
    whole = with_notes(schema)
    notes: list[object] = []
    try:
        for batch in read(notes.append):
            rows = to_store(pa.Table.from_batches([batch]), schema)
            yield from rows.append_column(whole.field(NOTE), pa.nulls(len(rows), pa.binary())).to_batches()
    except (UndustError, OSError) as error:
        notes.append(error)
    if notes:
        packed = pa.array([pickle.dumps(note) for note in notes], pa.binary())
        empty = [pa.nulls(len(notes), field.type) for field in stored(schema)]
        yield pa.record_batch([*empty, packed], schema=whole)


def map_batches(
    batches: Iterator[pa.RecordBatch], function: RowsFunction, schema: pa.Schema, result: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield what a function makes of rows."""
    for batch in batches:
        rows = restored(pa.Table.from_batches([batch]), schema).combine_chunks()
        done = [function(each) for each in rows.to_batches()]
        if done:
            yield from to_store(pa.Table.from_batches(done), result).to_batches()


def map_site(
    key: tuple[pa.Scalar, ...], rows: pa.Table, function: SiteFunction, schema: pa.Schema, result: pa.Schema
) -> pa.Table:
    """Return what a function makes of one site."""
    return to_store(function(key[0].as_py(), restored(rows, schema)), result)


def left_to_do(batches: Iterator[pa.RecordBatch], done: Container[str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of sites that are not done."""
    for batch in batches:
        sites = batch.column(SITE).dictionary_encode()
        is_left = pa.array([site not in done for site in sites.dictionary.to_pylist()], pa.bool_())
        yield batch.filter(is_left.take(sites.indices))


def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield each batch as one value, for the way to the driver."""
    for batch in batches:
        if batch.num_rows:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()], pa.binary())], schema=PACKED)
