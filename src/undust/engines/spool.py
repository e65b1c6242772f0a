"""Tables that may outgrow the memory: kept in memory while they are small, in a file from then on.

No run leaves these files behind. Their folder is removed when the work ends, well or not, and when a polite
signal ends the program. A program that is killed outright cannot clean up: its folder is recognised by a lock
that no process holds, and the next run in the same place removes it.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from undust.errors import UndustError
from undust.files.process import give_back_memory
from undust.files.replacing import CLOSED_IN_CHILDREN, is_own, lock
from undust.files.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCRATCH_PREFIX = "undust-scratch-"
LOCK = "lock"
YOUNG = 60.0
"""Seconds in which a folder may be without its lock, for it is just being made."""


class Scratch:
    """The folder, made when it is first asked for."""

    def __init__(self, parent: str | None = None) -> None:
        self.parent = Path(parent or tempfile.gettempdir())
        self._made: TemporaryFolder | None = None

    @property
    def folder(self) -> Path:
        """Where files may go."""
        if self._made is None:
            with self.naming():
                remove_abandoned(self.parent)
                made = TemporaryFolder(self.parent, SCRATCH_PREFIX)
                made.files.append(
                    os.open(made.path / LOCK, os.O_CREAT | os.O_RDWR | CLOSED_IN_CHILDREN, 0o600)
                )
            lock(made.files[0])
            self._made = made
        return self._made.path

    def close(self) -> None:
        """Remove the folder."""
        if self._made is not None:
            self._made.close()
            self._made = None

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Say which folder has no room, or cannot be written to, and what to do."""
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
                message = (
                    f"{self.parent}: there is no room for temporary files; free some, or name another --tmp"
                )
            elif error.errno in {errno.ENOENT, errno.ENOTDIR}:
                message = f"{self.parent}: there is no such folder for temporary files; make it first"
            elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                message = f"{self.parent}: temporary files cannot be written there; name another --tmp"
            else:
                raise
            raise UndustError(message) from None


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of programs that were killed."""
    for folder in sorted(parent.glob(f"{SCRATCH_PREFIX}*")):
        with suppress(OSError):
            if is_own(folder) and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        held = os.open(folder / LOCK, os.O_RDWR | CLOSED_IN_CHILDREN)
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > YOUNG
    try:
        lock(held)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(held)


SPOOL_ROWS = 16_384
Piece = TypeVar("Piece")


class Spool:
    """Tables in memory, or in a folder that is removed with all its files when the program ends."""

    def __init__(self, limit_bytes: int | None, parent: str | None = None) -> None:
        self.limit_bytes = limit_bytes
        self.scratch = Scratch(parent)
        self._files = 0

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

    def new_file(self, ending: str) -> Path:
        """Return the path of a file that does not exist yet."""
        self._files += 1
        return self.scratch.folder / f"{self._files}.{ending}"

    def _to_file(
        self, held: list[pa.RecordBatch], source: Iterator[pa.RecordBatch], schema: pa.Schema
    ) -> Spooled:
        path = self.new_file("parquet")
        rows = 0
        with (
            self.scratch.naming(),
            pq.ParquetWriter(path, schema, compression="zstd", compression_level=1) as writer,
        ):
            for batch in _draining(held, source):
                writer.write_batch(batch, row_group_size=SPOOL_ROWS)
                rows += batch.num_rows
        give_back_memory()
        return Spooled(schema, (), path, rows)

    def keep_in_order(self, pieces: Iterable[tuple[str, pa.Table]], schema: pa.Schema) -> Spooled:
        """Return pieces that come in any order as one table, in the order of their names."""
        held: list[tuple[str, pa.Table]] = []
        size = 0
        source = iter(pieces)
        for name, table in source:
            held.append((name, table))
            size += table.nbytes
            if self.limit_bytes is not None and size > self.limit_bytes:
                return self._to_ordered_file(held, source, schema)
        held.sort(key=lambda piece: piece[0])
        return Spooled(schema, [batch for _, table in held for batch in table.to_batches(SPOOL_ROWS)])

    def _to_ordered_file(
        self,
        held: list[tuple[str, pa.Table]],
        source: Iterator[tuple[str, pa.Table]],
        schema: pa.Schema,
    ) -> Spooled:
        """Write pieces as they come; a file of Arrow's own gives them back in any order."""
        path = self.new_file("arrow")
        places: list[tuple[str, int]] = []
        rows = 0
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with self.scratch.naming(), pa.ipc.new_file(path, schema, options=options) as writer:
            for name, table in _draining(held, source):
                for batch in table.cast(schema).to_batches(SPOOL_ROWS):
                    places.append((name, len(places)))
                    writer.write_batch(batch)
                    rows += batch.num_rows
        give_back_memory()
        return Spooled(schema, (), path, rows, [place for _, place in sorted(places)])


def _draining(held: list[Piece], source: Iterator[Piece]) -> Iterator[Piece]:
    # What was written need not be held any longer.
    held.reverse()
    while held:
        yield held.pop()
    yield from source


def gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of at least N rows, but for the last: a file of many small ones is slow to read."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.concat_batches(held)
            held, count = [], 0
    if held:
        yield pa.concat_batches(held)


class Spooled:
    """A table in memory or in a file, that can be gone through again and again."""

    def __init__(
        self,
        schema: pa.Schema,
        held: Iterable[pa.RecordBatch],
        path: Path | None = None,
        rows: int = 0,
        order: list[int] | None = None,
    ) -> None:
        self.schema = schema
        self.path = path
        self._held = list(held)
        self._order = order
        """Of the batches of a file; as they were written, if it is not set."""
        self.num_rows = rows + sum(batch.num_rows for batch in self._held)

    @property
    def is_parquet(self) -> bool:
        """Whether the rows are in a Parquet file."""
        return self.path is not None and self._order is None

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows, with all columns or with some."""
        if self.path is None:
            yield from (batch.select(columns) if columns else batch for batch in self._held)
            return
        try:
            yield from self._read(self.path, columns)
        except pa.ArrowInvalid as error:
            reason = str(error).partition("\n")[0]
            message = f"{self.path}: a temporary file was damaged ({reason}); check its disk and start again"
            raise UndustError(message) from None

    def _read(self, path: Path, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        if self._order is None:
            with pq.ParquetFile(path, pre_buffer=False) as file:
                yield from file.iter_batches(SPOOL_ROWS, columns=columns)
            return
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
            for place in self._order:
                batch = file.get_batch(place)
                yield batch.select(columns) if columns else batch

    def table(self) -> pa.Table:
        """Return the whole table in memory."""
        return pa.Table.from_batches(self.batches(), self.schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:  # noqa: ANN401 -- a capsule
        return pa.RecordBatchReader.from_batches(self.schema, self.batches()).__arrow_c_stream__(
            requested_schema
        )
