"""Tables that may outgrow the memory: kept in memory while they are small, in a file from then on."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROWS = 16_384


class Spool:
    """A folder for tables that do not fit; it is removed with all its files when the program ends."""

    def __init__(self, limit_bytes: int | None, parent: str | None = None) -> None:
        self.limit_bytes = limit_bytes
        self._parent = parent
        self._folder: TemporaryDirectory[str] | None = None
        self._files = 0

    @property
    def folder(self) -> Path:
        """The folder, made when it is first asked for."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="undust-", dir=self._parent)
        return Path(self._folder.name)

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def keep(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Spooled:
        """Return the batches as a table, in memory or in a file."""
        held: list[pa.RecordBatch] = []
        size = 0
        source = iter(batches)
        for batch in source:
            held.append(batch)
            size += batch.nbytes
            if self.limit_bytes is not None and size > self.limit_bytes:
                return self._to_file(held, source, schema)
        return Spooled(schema, held)

    def _to_file(
        self, held: list[pa.RecordBatch], source: Iterator[pa.RecordBatch], schema: pa.Schema
    ) -> Spooled:
        path = self.folder / f"{self._files}.parquet"
        self._files += 1
        rows = 0
        with pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer:
            for batch in _draining(held, source):
                writer.write_batch(batch, row_group_size=ROWS)
                rows += batch.num_rows
        # Arrow keeps what it has freed for later; somebody else needs it now.
        pa.default_memory_pool().release_unused()
        return Spooled(schema, (), path, rows)


def _draining(held: list[pa.RecordBatch], source: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    # What was written need not be held any longer.
    held.reverse()
    while held:
        yield held.pop()
    yield from source


class Spooled:
    """A table in memory or in a file, that can be gone through again and again."""

    def __init__(
        self, schema: pa.Schema, held: Iterable[pa.RecordBatch], path: Path | None = None, rows: int = 0
    ) -> None:
        self.schema = schema
        self.path = path
        self._held = list(held)
        self.num_rows = rows + sum(batch.num_rows for batch in self._held)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        if self.path is None:
            yield from self._held
            return
        with pq.ParquetFile(self.path) as file:
            yield from file.iter_batches(ROWS)

    def table(self) -> pa.Table:
        """Return the whole table in memory."""
        return pa.Table.from_batches(self.batches(), self.schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:  # noqa: ANN401 -- a capsule
        return pa.RecordBatchReader.from_batches(self.schema, self.batches()).__arrow_c_stream__(
            requested_schema
        )
