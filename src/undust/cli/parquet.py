"""Parquet in and out, a batch of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pyarrow as pa
import pyarrow.parquet as pq

from undust.cli.tables import BLOCK_ROWS, place_of
from undust.errors import DamagedSource
from undust.files.streams import STANDARD
from undust.files.table_writing import writing_parquet

if TYPE_CHECKING:
    from undust.cli.tables import ColumnNames, Work, Write


def map_parquet(path: str, columns: ColumnNames, work: Work, write: Write) -> None:
    """Write each batch of rows with its new column; all other columns keep their types."""
    if path == STANDARD:
        message = "a Parquet file cannot come from stdin, as its end is read first; name the file"
        raise click.UsageError(message)
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            source = place_of(columns.read, schema.names, path)
            if not _is_text(schema.field(source).type):
                message = (
                    f"{path}: the column '{columns.read}' holds no texts; name another one with --column"
                )
                raise DamagedSource(message)
            with writing_parquet(
                _with_column(schema.empty_table(), columns, []).schema, write
            ) as write_batch:
                for batch in file.iter_batches(BLOCK_ROWS):
                    results, chosen = work(batch.column(source).to_pylist())
                    table = _with_column(pa.Table.from_batches([batch]), columns, results)
                    for changed in table.filter(pa.array(chosen, pa.bool_())).to_batches():
                        write_batch(changed)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the system: a file that may not be read, a disk that is full
        message = f"{path}: not a whole Parquet file ({str(error).partition(chr(10))[0]}); fetch it again"
        raise DamagedSource(message) from None


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)
    )


def _with_column(table: pa.Table, columns: ColumnNames, values: list[str | None]) -> pa.Table:
    new = pa.array(values, pa.string())
    if columns.written in table.schema.names:
        return table.set_column(table.schema.names.index(columns.written), columns.written, new)
    return table.append_column(columns.written, new)
