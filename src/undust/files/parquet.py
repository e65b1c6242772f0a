"""Parquet in and out, a batch of rows at a time."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undust.errors import DamagedSource
from undust.files.change import text_from_bytes
from undust.files.temporary import parent_of_folders
from undust.files.writing import SPARK_SCHEMA, Extendable, with_spark_column, writing_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.files.change import Choose, Write

_DEFAULT_PACKING = "zstd"
_PACKINGS = {
    "UNCOMPRESSED": "none",
    "SNAPPY": "snappy",
    "GZIP": "gzip",
    "BROTLI": "brotli",
    "LZ4": "lz4",
    "ZSTD": "zstd",
}
"""What a file calls its packing, and how it is asked for."""
ROWS = 1 << 14
"""Rows with their sketches are large, and some of what is made of them is larger."""
LOOKED_AT = 1 << 12
"""Rows by which it is decided how columns are packed."""


@contextmanager
def opened(file: BinaryIO, name: str) -> Iterator[pq.ParquetFile]:
    """Give a Parquet file; one that comes through a pipe is copied to disk, as it is read from its end."""
    with _seekable(file) as seekable:
        try:
            # Read ahead, Arrow would hold what was read until the end of the file.
            parquet = pq.ParquetFile(seekable, pre_buffer=False)
            parquet.schema_arrow.names  # noqa: B018 -- raises if the names are not text
            _packings(parquet)  # likewise
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the system: a disk that is full
            message = f"{name}: no whole Parquet file, for {first_sentence(error)}; get it again"
            raise DamagedSource(message) from error
        with parquet:
            yield parquet


@contextmanager
def _seekable(file: BinaryIO) -> Iterator[BinaryIO]:
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile(dir=parent_of_folders()) as copy:
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        yield copy


def first_sentence(error: Exception) -> str:
    """Return the part of an error of Arrow that a person needs."""
    return re.split(r"[.\n]", str(error), maxsplit=1)[0]


class ColumnChange(NamedTuple):
    """What is done to a Parquet file."""

    name: str
    choose: Choose
    written: str
    work: Callable[[pa.Array], tuple[pa.Array, pa.Array | None]]
    """A column of URLs to the new column, and which rows to write; None: all of them."""
    write: Write
    drops_rows: bool = False
    """Some rows are not written."""


def read_column(file: BinaryIO, name: str, choose: Choose) -> Iterator[pa.Array]:
    """Give the column of the URLs alone, batch by batch."""
    with opened(file, name) as parquet:
        read = parquet.schema_arrow.names[_place(parquet, name, choose)]
        for batch in _batches(parquet, name, [read]):
            yield _texts(batch.column(0))


def _place(parquet: pq.ParquetFile, name: str, choose: Choose) -> int:
    """Return where the column of the URLs is."""
    schema = parquet.schema_arrow
    read: int = schema.names.index(choose(schema.names, _url_like(parquet, name)))
    if not _is_text(schema.field(read).type):
        message = f"{name}: the column '{schema.names[read]}' does not hold texts; name another with --column"
        raise DamagedSource(message)
    return read


def change_parquet(file: BinaryIO, change: ColumnChange) -> None:
    """Write the rows with the results in their column; all other columns stay, byte for byte if possible."""
    with _seekable(file) as seekable, opened(seekable, change.name) as parquet:
        read = _place(parquet, change.name, change.choose)
        if (extendable := _extendable(seekable, parquet, read, change)) is not None:
            _add_column(extendable, parquet, read, change)
            return
        empty = _with_column(parquet.schema_arrow.empty_table(), change.written, pa.array([], pa.string()))
        batches = _changed_batches(parquet, read, change)
        first = next(batches, None)
        packing: dict[str, Any] = {"compression": _compression(parquet, read, change.written)}
        packing |= _helped_columns(first) if first else {}
        with writing_parquet(
            _noted(empty.schema, parquet, change.written), change.write, **packing
        ) as write_batch:
            for batch in chain([first] if first else [], batches):
                write_batch(batch)


def _extendable(
    file: BinaryIO, parquet: pq.ParquetFile, read: int, change: ColumnChange
) -> Extendable | None:
    """Return the file if all of it stays and one column is new; None if its rows have to be written again."""
    names = parquet.schema_arrow.names
    leaves = [path.split(".")[0] for path in (column.path for column in parquet.schema)]
    if change.drops_rows or change.written in names or leaves.count(names[read].split(".")[0]) != 1:
        return None
    try:
        return Extendable(file)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _add_column(extendable: Extendable, parquet: pq.ParquetFile, read: int, change: ColumnChange) -> None:
    packing = _compression(parquet, read, change.written)
    compression = packing if isinstance(packing, str) else packing[change.written]
    groups, left = iter(extendable.rows), 0
    with extendable.adding_texts(change.written, compression, change.write) as write_texts:
        for batch in _batches(parquet, change.name, [parquet.schema_arrow.names[read]]):
            results, _ = change.work(_texts(batch.column(0)))
            while len(results) and (left := left or next(groups, 0)):
                write_texts(results[:left])
                left, results = max(left - len(results), 0), results[left:]
            if len(results):
                break
        else:
            if not left and next(groups, None) is None:
                return
        message = f"{change.name}: it has other numbers of rows than its footer says; get it again"
        raise DamagedSource(message)


def _noted(schema: pa.Schema, parquet: pq.ParquetFile, written: str) -> pa.Schema:
    """Return the schema with a note for Spark that has the new column, if there is a note that lacks it."""
    notes = dict(schema.metadata or {})
    if written in parquet.schema_arrow.names or SPARK_SCHEMA not in notes:
        return schema
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        notes[SPARK_SCHEMA] = with_spark_column(notes[SPARK_SCHEMA], written)
    return schema.with_metadata(notes)


def _changed_batches(parquet: pq.ParquetFile, read: int, change: ColumnChange) -> Iterator[pa.RecordBatch]:
    for batch in _batches(parquet, change.name):
        results, chosen = change.work(_texts(batch.column(read)))
        table = _with_column(pa.Table.from_batches([batch]), change.written, results)
        yield from (table if chosen is None else table.filter(chosen)).to_batches()


def _compression(parquet: pq.ParquetFile, read: int, written: str) -> str | dict[str, str]:
    """Return how each column is packed: as in the file, and the new one like the URLs."""
    packings = _packings(parquet)
    if not packings:
        return _DEFAULT_PACKING
    url = packings.get(parquet.schema_arrow.names[read], _DEFAULT_PACKING)
    return {written: url} | packings


def _packings(parquet: pq.ParquetFile) -> dict[str, str]:
    """Return how each column of the first rows is packed."""
    if not parquet.metadata.num_row_groups:
        return {}
    group = parquet.metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    return {each.path_in_schema: _PACKINGS.get(each.compression, _DEFAULT_PACKING) for each in columns}


def _helped_columns(batch: pa.RecordBatch) -> dict[str, list[str]]:
    """Return the columns whose values repeat, which are worth a dictionary, and those worth statistics.

    The least and the greatest text of some rows help a reader only if the texts are in order.
    Both are looked up in the first rows; of nested columns nothing is known.
    """
    if any(pa.types.is_nested(field.type) for field in batch.schema):
        return {}
    some = batch.slice(0, LOOKED_AT)
    columns = dict(zip(some.schema.names, some.columns, strict=True))
    return {
        "use_dictionary": [name for name, column in columns.items() if _repeats(column)],
        "write_statistics": [
            name for name, column in columns.items() if not _is_text(column.type) or _is_in_order(column)
        ],
    }


def _repeats(column: pa.Array) -> bool:
    if pa.types.is_dictionary(column.type):
        return True
    try:
        return bool(2 * pc.count_distinct(column).as_py() <= len(column))
    except pa.ArrowNotImplementedError:
        return True


def _is_in_order(column: pa.Array) -> bool:
    if not pa.types.is_string(column.type) or column.null_count:
        return bool(column.null_count < len(column))
    return bool(pc.all(pc.less_equal(column[:-1], column[1:])).as_py())


def _batches(
    parquet: pq.ParquetFile, name: str, columns: list[str] | None = None, rows: int = ROWS
) -> Iterator[pa.RecordBatch]:
    batches = parquet.iter_batches(rows, columns=columns)
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            message = f"{name}: no whole Parquet file, for {first_sentence(error)}; get it again"
            raise DamagedSource(message) from error
        if batch is None:
            return
        yield batch


def _url_like(parquet: pq.ParquetFile, name: str) -> list[str]:
    """Return the columns of texts that hold nothing but URLs in the first rows."""
    schema = parquet.schema_arrow
    texts = [field.name for field in schema if _is_text(field.type) and schema.names.count(field.name) == 1]
    if not texts:
        return []
    batch = next(_batches(parquet, name, texts, rows=20), None)
    if batch is None:
        return []
    found = []
    for each in texts:
        column = _texts(batch.column(each))
        is_url = pc.match_substring_regex(column, r"^\s*(?i:https?)://")
        if column.null_count < len(column) and pc.all(is_url).as_py():
            found.append(each)
    return found


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
        *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
    )
    return any(test(value) for test in tests)


def _texts(column: pa.Array) -> pa.Array:
    """Return a column of texts as the core takes it; bytes that are not UTF-8 become percent triplets."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:  # not UTF-8
        values = column.to_pylist()
        return pa.array([None if value is None else text_from_bytes(value) for value in values], pa.string())


def _with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    if name not in table.schema.names:
        return table.append_column(name, values)
    place = table.schema.names.index(name)
    field = table.schema.field(place)
    if _is_text(field.type):
        is_coded = pa.types.is_dictionary(field.type)
        same = (values.dictionary_encode() if is_coded else values).cast(field.type)
        return table.set_column(place, field.with_nullable(True), same)  # noqa: FBT003 -- the property
    return table.set_column(place, name, values)
