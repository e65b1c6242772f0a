"""How the memory that a person allows is shared out, and files for tables that outgrow their part of it.

No run leaves these files behind. Their folder is removed when the work ends, well or not, and when a polite
signal ends the program. A program that is killed outright cannot clean up: its folder is recognised by a lock
that no process holds, and the next run in the same place removes it.

Of the memory, a part is for tables that are being gathered (what is larger goes to a file), a part for
DuckDB's sort, the rest for the sites in work. From it follows how many rows of one site are looked at
together.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from undust.errors import UndustError
from undust.files.replacing import CLOSED_IN_CHILDREN, is_own, lock
from undust.files.temporary import TemporaryFolder, give_back_memory, parent_of_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


SCRATCH_PREFIX = "undust-scratch-"
LOCK = "lock"
YOUNG = 60.0
"""Seconds in which a folder may be without its lock, for it is just being made."""


class Scratch:
    """The folder, made when it is first asked for."""

    def __init__(self, parent: str | None = None) -> None:
        self.parent = parent_of_folders(parent)
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
GROUP_BYTES = 16 << 20
"""Rows in memory that become one row group of a file: a reader of the file holds a description of each."""
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
            pq.ParquetWriter(
                path, schema, compression="zstd", compression_level=1, write_statistics=False
            ) as writer,
        ):
            for group in _groups(_draining(held, source)):
                writer.write_table(pa.Table.from_batches(group))
                rows += sum(batch.num_rows for batch in group)
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


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Yield batches together that are large enough for a row group; the last ones may be fewer."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size > GROUP_BYTES:
            yield held
            held, size = [], 0
    if held:
        yield held


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


UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LEAST_MEMORY = 384 << 20
PROGRAM_BYTES = 96 << 20
"""What the program itself takes, with the libraries it needs."""
HELD_SHARE, SORT_SHARE = 0.125, 0.375
"""Of the memory that is left."""
SORT_BYTES = 64 << 20
"""What each thread of DuckDB needs to sort; with less it gives up."""
FACT_BYTES = 64
"""What DuckDB takes for each row whose values are compared, and some room."""
WORKER_BYTES = 512 << 20
"""What another process takes with the sites that it works on; there are no more than fit into the rest."""
ROW_BYTES = 1536
"""What a site takes for each of its rows while it is worked on, sketches included."""
JUDGED_URL_BYTES = 3 * ROW_BYTES
"""What it takes for each URL whose rules are judged, which may be fewer."""
SITE_ROWS = 2_000_000
"""Rows of one site that are looked at together where no memory is named."""
LARGE_SITE = 1_000_000
"""A site of more rows is not copied to another process."""


def bytes_of(text: str) -> int:
    """Return a size that a person wrote.

    >>> bytes_of("4GB"), bytes_of("512 MiB")
    (4294967296, 536870912)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if size < LEAST_MEMORY:
        message = f"'{text}' is not a size of at least 384MB; write it like 4GB"
        raise ValueError(message)
    return size


def _room(memory: int) -> int:
    return max(memory - PROGRAM_BYTES, memory // 2)


def _for_sites(memory: int) -> int:
    return int(_room(memory) * (1 - HELD_SHARE - SORT_SHARE))


def site_rows(memory: int | None) -> int:
    """Return how many rows of one site are looked at together; it depends on this number alone.

    So all engines that are given the same memory take the same sample of a larger site.
    """
    return SITE_ROWS if memory is None else _for_sites(memory) // ROW_BYTES


def judged_urls(memory: int | None) -> int | None:
    """Return how many URLs of one site are judged together at most; None if memory does not limit it."""
    return None if memory is None else _for_sites(memory) // JUDGED_URL_BYTES


@dataclass(frozen=True)
class Budget:
    """The memory in bytes, or None for as much as it takes, and the threads."""

    memory: int | None
    threads: int

    @classmethod
    def of(cls, memory: int | str | None, threads: int | None) -> Budget:
        """Return the budget that a person names; all cores by default."""
        return cls(bytes_of(memory) if isinstance(memory, str) else memory, threads or os.cpu_count() or 1)

    @property
    def held_bytes(self) -> int | None:
        """A table of more goes to a file."""
        return None if self.memory is None else int(_room(self.memory) * HELD_SHARE)

    @property
    def sort_bytes(self) -> int | None:
        """What sorting may take."""
        return None if self.memory is None else int(_room(self.memory) * SORT_SHARE)

    @property
    def sort_threads(self) -> int:
        """How many threads may sort."""
        if self.sort_bytes is None:
            return self.threads
        return max(1, min(self.threads, self.sort_bytes // SORT_BYTES))

    def parts(self, rows: int) -> int:
        """Return in how many parts the values of this many rows are compared."""
        return 1 if self.sort_bytes is None else 1 + rows * FACT_BYTES // self.sort_bytes

    @property
    def workers(self) -> int:
        """How many processes work on sites."""
        if self.memory is None:
            return self.threads
        return max(1, min(self.threads, _for_sites(self.memory) // WORKER_BYTES))

    @property
    def worker_rows(self) -> int:
        """A site of more rows is worked on by the first process, before there are others."""
        return LARGE_SITE if self.memory is None else (WORKER_BYTES - 2 * PROGRAM_BYTES) // ROW_BYTES
