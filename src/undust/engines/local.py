"""One machine: Arrow in memory, DuckDB to sort what does not fit, one process per core for the sites.

The largest sites come first, so that the job does not end with one of them.
"""

from __future__ import annotations

import pickle
import shutil
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from undust.engines.contract import File, SetAside, Survey, failing_sites, hashed_facts
from undust.engines.spool import SPOOL_ROWS, Budget, Spool, Spooled, gathered, judged_urls, site_rows
from undust.engines.workers import TaskPart, Workers, packed, unpacked
from undust.errors import UndustError
from undust.files.temporary import give_back_memory
from undust.files.writing import write_batches
from undust.reading.observations import SITE, arrow_table, cut_into_sites, rows_of_sites

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from undust.engines.contract import Excuse, Files, Reader, RowsFunction, SiteFunction, SiteTest, Tell

    Sited = Iterator[tuple[str, pa.Table]]

TASK_ROWS = 100_000
"""Sites are handed to another process together until they have this many rows."""
SLOW_TASK_ROWS = 5_000
"""The same where what comes of a site is waited for: such work takes its time."""
WORTH_PROCESSES = 4
"""Below this many such tasks, starting processes costs more than it brings."""
LOST = "a process that worked on it was killed twice, most likely for want of memory; try fewer --threads"


class LocalEngine:
    """The engine of one machine; used in a `with` block, its files are removed at the end."""

    name = "local"
    spreads_files = False

    def __init__(
        self,
        memory: int | str | None = None,
        threads: int | None = None,
        folder: str | None = None,
        task_rows: int | None = None,
    ) -> None:
        self.budget = Budget.of(memory, threads)
        self.task_rows = task_rows
        self._spool = Spool(self.budget.held_bytes, folder)

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
        self._spool.scratch.close()

    @property
    def folder(self) -> str:
        """Where files go that do not outlive the job."""
        return str(self._spool.scratch.parent)

    @property
    def site_rows(self) -> int:
        """How many rows of one site are looked at together."""
        return site_rows(self.budget.memory)

    @property
    def judged_urls(self) -> int | None:
        """How many URLs of one site are judged together at most."""
        return judged_urls(self.budget.memory)

    def find(self, addresses: Sequence[str]) -> dict[str, bool]:
        """Say that addresses are not for this engine."""
        message = f"{addresses[0]}: the engine 'local' reads files of this machine; add --engine spark"
        raise UndustError(message)

    def read(self, files: Files, reader: Reader, schema: pa.Schema, tell: Tell) -> Spooled:
        """Return the rows of all files as one table."""
        groups = ([File(path, path) for path in group] for group in files.groups)
        batches = (batch for group in groups for batch in reader.read_files(group, tell))
        return self._spool.keep(batches, schema)

    def survey(self, table: Any, most_rows: int) -> Survey:  # noqa: ANN401
        """Return how many sites and rows there are, and which sites have more than `most_rows` rows."""
        if isinstance(table, Spooled) and table.is_parquet:
            return self._survey_of_file(table, most_rows)
        sizes = _sizes(table)
        large = {site: rows for site, rows in sorted(sizes.items()) if rows > most_rows and site}
        return Survey(len(sizes) - ("" in sizes), sizes.total(), large)

    def _survey_of_file(self, table: Spooled, most_rows: int) -> Survey:
        """Return the same for a table that does not fit: the names of its sites may not fit either."""
        with self._sorting() as connection:
            rows = connection.read_parquet(str(table.path))  # noqa: F841 -- DuckDB finds it by its name
            connection.execute(
                "CREATE TEMP TABLE sizes AS SELECT site, count(*) AS n FROM rows GROUP BY site"
            )
            counted = "SELECT count(*) FILTER (site <> ''), coalesce(sum(n), 0) FROM sizes"
            sites, total = connection.sql(counted).fetchall()[0]
            wanted = f"SELECT site, n FROM sizes WHERE n > {int(most_rows)} AND site <> '' ORDER BY site"  # noqa: S608
            return Survey(sites, int(total), dict(connection.sql(wanted).fetchall()))

    def set_aside(self, table: Any, test: SiteTest) -> tuple[Spooled, SetAside]:  # noqa: ANN401
        """Return the rows of the sites that fail a test, and how many sites and rows pass it."""
        spooled = self._spooled(table)
        with self._sorting() as connection:
            if spooled.is_parquet:
                rows = connection.read_parquet(str(spooled.path))
            else:
                connection.register("held", spooled.table())
                rows = connection.table("held")  # noqa: F841 -- DuckDB finds it by its name
            facts = self._spool.new_file("facts")
            facts.mkdir()
            # The groups of a part must fit into memory; all rows of a site are in one part.
            parts = self.budget.parts(spooled.num_rows)
            query = f"SELECT *, s % {parts} AS part FROM ({hashed_facts(test)})"  # noqa: S608
            place = str(facts).replace("'", "''")
            packing = "FORMAT parquet, COMPRESSION lz4, PARTITION_BY (part)"
            connection.execute(f"COPY ({query}) TO '{place}' ({packing})")
            connection.execute("CREATE TEMP TABLE failing (s UBIGINT)")
            passing = [_tested(connection, folder, test) for folder in sorted(facts.glob("part=*"))]
            left = connection.sql("SELECT * FROM rows WHERE hash(site) IN (SELECT s FROM failing)")
            batches = left.to_arrow_reader(SPOOL_ROWS)
            kept = self._spool.keep((batch.cast(spooled.schema) for batch in batches), spooled.schema)
            shutil.rmtree(facts)
        return kept, SetAside(sum(each.sites for each in passing), sum(each.rows for each in passing))

    def map_rows(self, table: Any, function: RowsFunction, schema: pa.Schema) -> Spooled:  # noqa: ANN401
        """Return what the function makes of all rows."""
        return self._spool.keep(map(function, _batches_of(table)), schema)

    def map_sites(self, table: Any, function: SiteFunction, schema: pa.Schema) -> Spooled:  # noqa: ANN401
        """Return what the function makes of each site, in the order of the sites."""
        return self._spool.keep_in_order(self._results(table, function, TASK_ROWS), schema)

    def each_site(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,  # noqa: ARG002 -- the tables have it
        done: Collection[str] = (),
        excuse: Excuse | None = None,
    ) -> Iterator[pa.Table]:
        """Yield what the function makes of the sites, some at a time, as it comes and in any order."""
        yield from (result for _, result in self._results(table, function, SLOW_TASK_ROWS, done, excuse))

    def keep_sites(  # noqa: PLR0913, PLR0917 -- as the contract has it
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        column: str,
        note: Callable[[pa.Table], object],
        done: Collection[str] = (),
        excuse: Excuse | None = None,
    ) -> Spooled:
        """Return the rows that the function makes of the sites, if they have a value in a column."""
        results = (rows for _, rows in self._results(table, function, SLOW_TASK_ROWS, done, excuse))
        return self._spool.keep(gathered(_noted(results, column, note), SPOOL_ROWS), schema)

    def select(self, query: str, tables: Mapping[str, Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield what a query gives."""
        with self._sorting() as connection:
            for name, table in tables.items():
                if isinstance(table, Spooled) and table.is_parquet:
                    connection.read_parquet(str(table.path)).create_view(name)
                else:
                    connection.register(name, self.collect(table))
            found = connection.sql(query.format_map({name: name for name in tables}))
            for batch in found.to_arrow_reader(SPOOL_ROWS):
                yield batch.cast(schema)

    def write(self, table: Any, path: str, format: str | None = None) -> None:  # noqa: A002, ANN401
        """Write a table to a file; its name shows the format unless it is given."""
        write_batches(_schema_of(table), _batches_of(table), path, format)

    def collect(self, table: Any) -> pa.Table:  # noqa: ANN401
        """Return a table as Arrow has it."""
        return table.table() if isinstance(table, Spooled) else arrow_table(table)

    def _results(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        task_rows: int,
        done: Collection[str] = (),
        excuse: Excuse | None = None,
    ) -> Sited:
        spooled = self._spooled(table)
        give_back_memory()
        sites = self._sites(spooled, done)
        workers, task_rows = self.budget.workers, self.task_rows or task_rows
        is_small = spooled.num_rows < WORTH_PROCESSES * task_rows
        if workers == 1 or is_small or not _can_travel(function):
            yield from ((site, function(site, own)) for site, own in sites)
        else:
            yield from self._from_processes(sites, function, task_rows, excuse)

    def _spooled(self, table: Any) -> Spooled:  # noqa: ANN401
        if isinstance(table, Spooled):
            return table
        return self._spool.keep(_batches_of(table), _schema_of(table))

    def _sites(self, table: Spooled, done: Collection[str]) -> Sited:
        """Yield each site that is not done with its rows, the largest first."""
        if not table.is_parquet:
            sizes = {site: rows for site, rows in _sizes(table).items() if site not in done}
            names = sorted(sizes, key=lambda site: (-sizes[site], site))
            yield from rows_of_sites(table.table(), names)
            return
        with self._sorting() as connection:
            connection.register("done", pa.table({SITE: pa.array(list(done), pa.string())}))
            rows = connection.read_parquet(str(table.path))  # noqa: F841 -- DuckDB finds it by its name
            # The names of all sites may not fit into memory; DuckDB puts them on the disk then.
            connection.execute(
                "CREATE TEMP TABLE sizes AS "
                "SELECT site, count(*) AS n FROM rows ANTI JOIN done USING (site) GROUP BY site"
            )
            query = "SELECT rows.* FROM rows JOIN sizes USING (site) ORDER BY sizes.n DESC, site"
            yield from cut_into_sites(connection.sql(query).to_arrow_reader(SPOOL_ROWS), table.schema)

    @contextmanager
    def _sorting(self) -> Iterator[Any]:
        import duckdb  # noqa: PLC0415 -- slow to load, and only needed for what does not fit

        scratch = self._spool.scratch
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(scratch.folder),
            "threads": self.budget.sort_threads,
        }
        if self.budget.sort_bytes is not None:
            settings["memory_limit"] = f"{self.budget.sort_bytes >> 20}MiB"
        give_back_memory()  # what reading is done with: DuckDB does not know of it
        connection = duckdb.connect(config=settings)
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")
        try:
            yield connection
        except duckdb.InvalidInputException as error:
            reason = str(error).splitlines()[0]
            message = f"a temporary file was damaged ({reason}); check its disk and start again"
            raise UndustError(message) from None
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            message = (
                f"sorting by site failed ({reason}); allow more --memory, or make room in {scratch.parent}"
            )
            raise UndustError(message) from None
        finally:
            connection.close()

    def _from_processes(
        self, sites: Sited, function: SiteFunction, task_rows: int, excuse: Excuse | None
    ) -> Sited:
        small: list[tuple[str, pa.Table]] = []
        for site, rows in sites:
            if rows.num_rows <= self.budget.worker_rows:
                small = [(site, rows)]
                break
            yield site, function(site, rows)
        with Workers(self.budget.workers, function, str(self._spool.scratch.folder)) as workers:
            for site, data in workers.results(_tasks(_chained(small, sites), task_rows)):
                if data is not None:
                    yield site, unpacked(data)
                elif excuse is not None:
                    yield site, excuse(site, LOST)
                else:
                    message = f"{site}: {LOST}"
                    raise UndustError(message)


def _tested(connection: DuckDBPyConnection, folder: Path, test: SiteTest) -> SetAside:
    """Add the sites that fail a test to the table of these; return how many sites and rows pass it."""
    files = sorted(map(str, folder.iterdir()))
    connection.read_parquet(files).create_view("facts", replace=True)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE failing_here AS {failing_sites(test)}")
    connection.execute("INSERT INTO failing FROM failing_here")
    # In groups, which may go to the disk; what DISTINCT counts may not.
    passing = "SELECT count(*) AS n FROM facts ANTI JOIN failing_here USING (s) GROUP BY s"
    counted = f"SELECT count(*), coalesce(sum(n), 0) FROM ({passing})"  # noqa: S608
    sites, rows = connection.sql(counted).fetchall()[0]
    return SetAside(int(sites), int(rows))


def _sizes(table: Any) -> Counter[str]:  # noqa: ANN401
    """Return how many rows each site has."""
    sizes: Counter[str] = Counter()
    sited = table.batches([SITE]) if isinstance(table, Spooled) else _batches_of(table)
    for batch in sited:
        values, counts = pc.value_counts(batch.column(SITE).cast(pa.string())).flatten()
        sizes.update(dict(zip(values.to_pylist(), counts.to_pylist(), strict=True)))
    return sizes


def _noted(
    results: Iterable[pa.Table], column: str, note: Callable[[pa.Table], object]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with a value in a column, and hand over the others."""
    for rows in results:
        stays = pc.is_valid(rows.column(column))
        others = rows.filter(pc.invert(stays))
        if len(others):
            note(others)
        if len(others) < len(rows):
            yield from rows.filter(stays).to_batches()


def _chained(first: list[tuple[str, pa.Table]], rest: Sited) -> Sited:
    while first:
        yield first.pop()
    yield from rest


def _tasks(sites: Sited, most: int) -> Iterator[list[TaskPart]]:
    task: list[TaskPart] = []
    rows = 0
    for site, table in sites:
        if task and rows + table.num_rows > most:
            yield task
            task, rows = [], 0
        task.append(TaskPart(site, packed(table)))
        rows += table.num_rows
    if task:
        yield task


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
        yield from arrow_table(table).to_batches(SPOOL_ROWS)


def _schema_of(table: Any) -> pa.Schema:  # noqa: ANN401
    return table.schema if hasattr(table, "schema") else arrow_table(table).schema
