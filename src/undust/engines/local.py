"""One machine: Arrow in memory, DuckDB to sort what does not fit, one process per core for the sites.

The memory that a person allows is shared out: a part for tables that are being gathered (what is
larger goes to a file), a part for DuckDB's sort, the rest for the sites in work. A single
site must fit.
"""

from __future__ import annotations

import os
import pickle
import re
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from undust.engines.contract import SITE, Survey
from undust.engines.spool import ROWS, Spool, Spooled
from undust.engines.writing import write_batches
from undust.errors import UndustError
from undust.observations import arrow_table

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    from undust.engines.contract import Excuse, Reader, RowsFunction, SiteFunction

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LEAST_MEMORY = 384 << 20
PROGRAM_BYTES = 96 << 20
"""What the program itself takes, with the libraries it needs."""
HELD_SHARE, SORT_SHARE = 0.125, 0.375
"""Of the memory that is left."""
SORT_BYTES = 64 << 20
"""What each thread of DuckDB needs to sort; with less it gives up."""
WORKER_BYTES = 512 << 20
"""What another process takes with the sites that it works on; there are no more than fit into the rest."""
TASK_ROWS = 100_000
"""Sites are handed to another process together until they have so many rows."""
WORTH_PROCESSES = 4
"""Below this many such tasks, starting processes costs more than it brings."""
LARGE_SITE = 1_000_000
"""A site of more rows is not copied to another process."""


def bytes_of(text: str) -> int:
    """Return a size that a person wrote.

    >>> bytes_of("4GB"), bytes_of("512 MiB")
    (4294967296, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if size < LEAST_MEMORY:
        message = f"'{text}' is no size of at least 384MB; write it like 4GB"
        raise ValueError(message)
    return size


class LocalEngine:
    """The engine of one machine; used in a `with` block, its files are gone at the end."""

    name = "local"

    def __init__(
        self,
        memory: int | str | None = None,
        threads: int | None = None,
        folder: str | None = None,
        task_rows: int | None = None,
    ) -> None:
        self.task_rows = task_rows or TASK_ROWS
        self.memory = bytes_of(memory) if isinstance(memory, str) else memory
        self.threads = threads or os.cpu_count() or 1
        self._room = None if self.memory is None else max(self.memory - PROGRAM_BYTES, self.memory // 2)
        self._spool = Spool(None if self._room is None else int(self._room * HELD_SHARE), folder)

    @classmethod
    def started(
        cls, *, memory: int | None, threads: int | None, folder: str | None, master: str | None
    ) -> Self:
        """Return the engine as `engine_named` asks for it."""
        if master is not None:
            message = f"the engine 'local' has no master, so '{master}' says nothing; use the engine 'spark'"
            raise UndustError(message)
        return cls(memory, threads, folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def read(self, paths: Sequence[str], reader: Reader, schema: pa.Schema) -> Spooled:
        """Return the rows of all files as one table."""
        return self._spool.keep((batch for path in paths for batch in reader(path)), schema)

    def map_sites(self, table: Any, function: SiteFunction, schema: pa.Schema) -> Spooled:  # noqa: ANN401
        """Return what the function makes of each site, in the order of the sites."""
        results = self._in_order(table, function)
        return self._spool.keep((batch for result in results for batch in result.to_batches(ROWS)), schema)

    def each_site(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,  # noqa: ARG002 -- the tables tell it themselves
        done: Container[str] = (),
        excuse: Excuse | None = None,  # noqa: ARG002
    ) -> Iterator[pa.Table]:
        """Yield what the function makes of the sites, some at a time, as it comes and in any order."""
        yield from self._in_order(table, function, done)

    def survey(self, table: Any, most_rows: int) -> Survey:  # noqa: ANN401
        """Return how many sites and rows there are, and which sites have more than `most_rows` rows."""
        sizes: Counter[str] = Counter()
        for batch in _batches_of(table):
            for each in pc.value_counts(batch.column(SITE)):
                sizes[each["values"].as_py()] += each["counts"].as_py()
        large = {site: rows for site, rows in sorted(sizes.items()) if rows > most_rows}
        return Survey(len(sizes) - ("" in sizes), sizes.total(), large)

    def map_rows(self, table: Any, function: RowsFunction, schema: pa.Schema) -> Spooled:  # noqa: ANN401
        """Return what the function makes of all rows."""
        return self._spool.keep(map(function, _batches_of(table)), schema)

    def _in_order(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        done: Container[str] = (),
    ) -> Iterator[pa.Table]:
        spooled = (
            table if isinstance(table, Spooled) else self._spool.keep(_batches_of(table), _schema_of(table))
        )
        sites = ((site, rows) for site, rows in self.sites(spooled) if site not in done)
        yield from self._results(sites, function, spooled.num_rows)

    def write(self, table: Any, path: str, format: str | None = None) -> None:  # noqa: A002, ANN401
        """Write a table to a file; its name tells the format unless it is given."""
        write_batches(_schema_of(table), _batches_of(table), path, format)

    def collect(self, table: Any) -> pa.Table:  # noqa: ANN401
        """Return a table as Arrow has it."""
        return table.table() if isinstance(table, Spooled) else arrow_table(table)

    def sites(self, table: Spooled) -> Iterator[tuple[str, pa.Table]]:
        """Yield each site with its rows, in the order of the sites."""
        if table.path is None:
            yield from sites_in(table.table())
            return
        with self._sorting() as connection:
            query = connection.read_parquet(str(table.path)).order(SITE)
            yield from _cut(query.to_arrow_reader(ROWS), table.schema)

    @contextmanager
    def _sorting(self) -> Iterator[Any]:
        import duckdb  # noqa: PLC0415 -- slow to load, and only needed for what does not fit

        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(self._spool.folder),
            "threads": self.threads,
        }
        if self._room is not None:
            limit = int(self._room * SORT_SHARE)
            settings["memory_limit"] = f"{limit >> 20}MiB"
            settings["threads"] = max(1, min(self.threads, limit // SORT_BYTES))
        connection = duckdb.connect(config=settings)
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        try:
            yield connection
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            room = self._spool.folder.parent
            message = f"sorting by site failed ({reason}); allow more --memory, or make room in {room}"
            raise UndustError(message) from None
        finally:
            connection.close()

    @property
    def _workers(self) -> int:
        if self._room is None:
            return self.threads
        return max(1, min(self.threads, int(self._room * (1 - HELD_SHARE - SORT_SHARE)) // WORKER_BYTES))

    def _results(
        self, sites: Iterator[tuple[str, pa.Table]], function: SiteFunction, rows: int
    ) -> Iterator[pa.Table]:
        workers = self._workers
        if workers == 1 or rows < WORTH_PROCESSES * self.task_rows or not _can_travel(function):
            yield from (function(site, rows) for site, rows in sites)
            return
        pool = ProcessPoolExecutor(workers, get_context("spawn"))
        try:
            yield from _in_order(pool, _tasks(sites, self.task_rows), function, 2 * workers)
        except BrokenProcessPool:
            message = (
                "a worker process was killed, most likely for want of memory; try again with fewer --threads"
            )
            raise UndustError(message) from None
        finally:
            pool.shutdown(cancel_futures=True)


def sites_in(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield each site of a table in memory with its rows, in the order of the sites."""
    ordered = table.take(pc.sort_indices(table[SITE])) if len(table) else table
    yield from _cut(ordered.to_batches(), table.schema)


def _cut(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[tuple[str, pa.Table]]:
    """Cut rows that are in the order of sites into sites."""
    site: str | None = None
    held: list[pa.RecordBatch] = []
    for batch in batches:
        runs = pc.run_end_encode(batch.column(SITE).cast(pa.string()))
        start = 0
        for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            if site is not None and name != site:
                yield site, pa.Table.from_batches(held).cast(schema)
                held = []
            site = name
            held.append(batch.slice(start, end - start))
            start = end
    if site is not None:
        yield site, pa.Table.from_batches(held).cast(schema)


def _in_order(
    pool: ProcessPoolExecutor,
    tasks: Iterator[list[tuple[str, pa.Table]]],
    function: SiteFunction,
    ahead: int,
) -> Iterator[pa.Table]:
    waiting: deque[Callable[[], pa.Table]] = deque()
    for task in tasks:
        if len(task) == 1 and task[0][1].num_rows > LARGE_SITE:
            while waiting:
                yield waiting.popleft()()
            yield function(*task[0])
            continue
        waiting.append(
            _unpacking(pool.submit(_work, function, [(site, _packed(rows)) for site, rows in task]))
        )
        if len(waiting) >= ahead:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()


def _tasks(sites: Iterator[tuple[str, pa.Table]], most: int) -> Iterator[list[tuple[str, pa.Table]]]:
    task: list[tuple[str, pa.Table]] = []
    rows = 0
    for site, table in sites:
        if task and rows + table.num_rows > most:
            yield task
            task, rows = [], 0
        task.append((site, table))
        rows += table.num_rows
    if task:
        yield task


def _unpacking(future: Any) -> Callable[[], pa.Table]:  # noqa: ANN401 -- a future of bytes
    return lambda: _unpacked(future.result())


def _work(function: SiteFunction, task: list[tuple[str, bytes]]) -> bytes:
    return _packed(pa.concat_tables([function(site, _unpacked(rows)) for site, rows in task]))


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


def _can_travel(function: SiteFunction) -> bool:
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _batches_of(table: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
    if isinstance(table, Spooled):
        yield from table.batches()
    elif isinstance(table, pa.RecordBatchReader):
        yield from table
    else:
        yield from arrow_table(table).to_batches(ROWS)


def _schema_of(table: Any) -> pa.Schema:  # noqa: ANN401
    return table.schema if hasattr(table, "schema") else arrow_table(table).schema
