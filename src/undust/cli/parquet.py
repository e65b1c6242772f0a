"""Parquet in and out, a batch of rows at a time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Self

import click
import pyarrow as pa
import pyarrow.parquet as pq

from undust.cli.tables import ROWS, place_of
from undust.errors import DamagedSource
from undust.streams import STANDARD

if TYPE_CHECKING:
    from types import TracebackType

    from undust.cli.tables import Columns, Work, Write


class ParquetOutput:
    """Writes batches as one Parquet file; if something fails, the end is not written, and it is none."""

    def __init__(self, write: Write, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(_Sink(write), schema, compression="zstd")

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._writer.write_batch(batch)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, error: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if error is None:
            self._writer.close()
        else:
            self._writer.is_open = False


class _Sink(io.RawIOBase):
    """A file object for Arrow, which wants to know where it is."""

    def __init__(self, write: Write) -> None:
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


def map_parquet(path: str, columns: Columns, work: Work, write: Write) -> None:
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
            with ParquetOutput(write, _with_column(schema.empty_table(), columns, []).schema) as output:
                for batch in file.iter_batches(ROWS):
                    results, chosen = work(batch.column(source).to_pylist())
                    table = _with_column(pa.Table.from_batches([batch]), columns, results)
                    for changed in table.filter(pa.array(chosen, pa.bool_())).to_batches():
                        output.write(changed)
    except pa.ArrowInvalid as error:
        message = f"{path}: not a whole Parquet file ({str(error).splitlines()[0]}); fetch it again"
        raise DamagedSource(message) from None


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)
    )


def _with_column(table: pa.Table, columns: Columns, values: list[str | None]) -> pa.Table:
    new = pa.array(values, pa.string())
    if columns.written in table.schema.names:
        return table.set_column(table.schema.names.index(columns.written), columns.written, new)
    return table.append_column(columns.written, new)
