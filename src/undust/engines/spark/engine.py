"""The verbs of an engine, on Spark.

Rows are read once and kept by the executors until the engine is closed. Learning shuffles them once, by
site. What all sites gave comes to the driver a few partitions at a time, so that it can be noted as it comes.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from undust.engines.contract import SetAside, Survey
from undust.engines.spark import tasks
from undust.engines.spark.session import found, literal, one_sentence, require_small, require_spark, started
from undust.engines.spark.tasks import in_spark, restored, stored, to_store
from undust.engines.spool import Budget, judged_urls, site_rows
from undust.errors import UndustError
from undust.files.writing import write_batches
from undust.reading.observations import SITE, arrow_table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from undust.engines.contract import Excuse, Files, Reader, RowsFunction, SiteFunction, SiteTest, Tell

AT_A_TIME = 4
"""Partitions per core whose results come together."""
SPARK_PATIENCE = 30.0
"""Seconds that Java has to stop what it does when this process ends in the middle."""
WRITERS = {"parquet": "parquet", "jsonl": "json", "csv": "csv"}
"""How Spark calls our formats."""


class SparkTable:
    """Rows that lie on the executors, with the types that they have outside of Spark."""

    def __init__(self, frame: DataFrame, schema: pa.Schema) -> None:
        self.frame = frame
        self.schema = schema
        self._rows: int | None = None

    @property
    def num_rows(self) -> int:
        """How many rows there are; counted when it is first asked."""
        if self._rows is None:
            with one_sentence():
                self._rows = self.frame.count()
        return self._rows

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, partition by partition, in their order."""
        for rows in _brought(self.frame):
            yield from restored(rows, self.schema).to_batches()

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:  # noqa: ANN401 -- a capsule
        schema = pa.schema([field.with_nullable(True) for field in self.schema])  # noqa: FBT003
        return pa.RecordBatchReader.from_batches(schema, self.batches()).__arrow_c_stream__(requested_schema)


class SparkEngine:
    """The engine of many machines; used in a `with` block, the executors release its rows at the end.

    Args:
        spark: A session of Spark 4.1 or newer, which stays the caller's.
        memory: Bytes that a site may take, or a size such as `4GB`: of a larger one, a sample is learned
            from and all of it proved. The local engine takes the same sample for the same size.

    """

    name = "spark"
    spreads_files = True

    def __init__(self, spark: SparkSession, memory: int | str | None = None) -> None:
        require_spark()
        self.spark = spark
        self.budget = Budget.of(memory, None)
        self._kept: list[DataFrame] = []
        self._owns_session = False
        self.folder: str | None = None

    @classmethod
    def started(
        cls, *, memory: int | None, threads: int | None, folder: str | None, master: str | None
    ) -> Self:
        """Return the engine as `engine_named` asks for it, with the session that runs, or one of its own."""
        session = started(master, memory, threads, folder)
        engine = cls(session.spark, memory)
        engine._owns_session = session.is_new
        engine.folder = folder
        return engine

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if raised[0] is None:
            self._leave()
        else:
            # A signal ends a call to Java in the middle, and on that connection, which is this thread's,
            # nothing is heard before its answer; the first error is the one reported.
            leaving = Thread(target=self._leave_quietly, daemon=True)
            leaving.start()
            leaving.join(SPARK_PATIENCE)

    def _leave(self) -> None:
        for frame in self._kept:
            with one_sentence():
                frame.unpersist()
        self._kept.clear()
        if self._owns_session:
            self.spark.stop()

    def _leave_quietly(self) -> None:
        with suppress(Exception):
            self._leave()

    @property
    def site_rows(self) -> int:
        """How many rows of one site are looked at together."""
        return site_rows(self.budget.memory)

    @property
    def judged_urls(self) -> int | None:
        """How many URLs of one site are judged together at most."""
        return judged_urls(self.budget.memory)

    def find(self, addresses: Sequence[str]) -> dict[str, bool]:
        """Return the files that addresses mean, and whether a person named each."""
        with one_sentence():
            return found(self.spark, addresses)

    def read(self, files: Files, reader: Reader, schema: pa.Schema, tell: Tell) -> SparkTable:
        """Return the rows of all files as one table, kept where they were read."""
        frames = []
        with one_sentence():
            if files.groups:
                frames.append(self._read_groups(files.groups, reader, schema))
            if files.fetched:
                frames.append(self._read_fetched(files.fetched, reader, schema))
            if files.tables:
                frames.append(self._read_tables(files.tables, reader, schema))
            frame = self._keeping(self._all_of(frames, tasks.with_notes(schema)))
            notes = [pickle.loads(row[0]) for row in _notes(frame)]  # noqa: S301 -- of our own tasks
        for note in notes:
            if isinstance(note, Exception):
                raise note
            tell(note)
        return SparkTable(frame.where(f"{tasks.NOTE} is null").drop(tasks.NOTE), schema)

    def _all_of(self, frames: list[DataFrame], schema: pa.Schema) -> DataFrame:
        if not frames:
            return self.spark.createDataFrame([], in_spark(schema))
        whole = frames[0]
        for frame in frames[1:]:
            whole = whole.unionByName(frame)
        return whole

    def _read_groups(self, groups: Sequence[Sequence[str]], reader: Reader, schema: pa.Schema) -> DataFrame:
        kind = pa.schema([pa.field("paths", pa.list_(pa.string()))])
        rows = self.spark.createDataFrame(pa.table([pa.array(groups, kind.types[0])], schema=kind))
        function = partial(tasks.read_groups, reader=reader, folder=str(Path.cwd()), schema=schema)
        return rows.repartition(len(groups)).mapInArrow(function, in_spark(tasks.with_notes(schema)))

    def _read_fetched(self, paths: Sequence[str], reader: Reader, schema: pa.Schema) -> DataFrame:
        for path in paths:
            require_small(self.spark, path)
        rows = (
            self.spark.read.format("binaryFile")
            .load([literal(path) for path in paths])
            .select(*tasks.FETCHED.names)
        )
        function = partial(tasks.read_contents, reader=reader, schema=schema)
        return rows.mapInArrow(function, in_spark(tasks.with_notes(schema)))

    def _read_tables(self, paths: Sequence[str], reader: Reader, schema: pa.Schema) -> DataFrame:
        frame = self.spark.read.option("mergeSchema", "true").parquet(*map(literal, paths))
        name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1:,} more"
        columns = reader.columns_of(name, frame.columns)
        chosen = frame.select(*(f"`{column}`" for column in columns))
        function = partial(tasks.read_rows, reader=reader, name=name, schema=schema)
        return chosen.mapInArrow(function, in_spark(tasks.with_notes(schema)))

    def survey(self, table: Any, most_rows: int) -> Survey:  # noqa: ANN401
        """Return how many sites and rows there are, and which sites have more than `most_rows` rows."""
        from pyspark.sql import functions as sql  # noqa: PLC0415 -- loaded when an engine is made

        has_name, is_large = sql.col(SITE) != "", sql.col("count") > most_rows
        with one_sentence():
            counted = self._table(table).frame.groupBy(SITE).count()
            told = counted.agg(
                sql.count_if(has_name).alias("sites"),
                sql.coalesce(sql.sum("count"), sql.lit(0)).alias("rows"),
                sql.collect_list(sql.when(has_name & is_large, sql.struct(SITE, "count"))).alias("large"),
            ).collect()[0]
        return Survey(told["sites"], told["rows"], dict(sorted(tuple(each) for each in told["large"])))

    def set_aside(self, table: Any, test: SiteTest) -> tuple[SparkTable, SetAside]:  # noqa: ANN401
        """Return the rows of the sites that fail a test, and how many sites and rows pass it."""
        from pyspark.sql import functions as sql  # noqa: PLC0415 -- loaded when an engine is made

        rows = self._table(table)
        # Numbers travel at less cost than texts; two texts with one number only keep a site.
        numbered = [
            f"CASE WHEN {name} IS NOT NULL THEN xxhash64({name}) END AS {name}" for name in test.compared
        ]
        facts = rows.frame.selectExpr(*test.columns).selectExpr("met", SITE, *numbered)
        grouped = facts.groupBy(SITE).agg(sql.count("*").alias("n"), sql.expr(test.passing).alias("passes"))
        # Kept, or each use of what is left would test all sites again.
        tested = self._keeping(grouped)
        passed = tested.where(f"passes AND {SITE} <> ''")
        with one_sentence():
            counts = passed.agg(sql.count("*"), sql.coalesce(sql.sum("n"), sql.lit(0))).collect()[0]
        if not counts[0]:
            return rows, SetAside()
        left = rows.frame.join(passed.select(SITE), SITE, "left_anti").select(*rows.frame.columns)
        return SparkTable(self._keeping(left), rows.schema), SetAside(int(counts[0]), int(counts[1]))

    def _keeping(self, frame: DataFrame) -> DataFrame:
        """Have the executors keep the rows of a frame, once they are made, until the engine is closed."""
        self._kept.append(frame.persist())
        return self._kept[-1]

    def map_rows(self, table: Any, function: RowsFunction, schema: pa.Schema) -> SparkTable:  # noqa: ANN401
        """Return what the function makes of all rows."""
        rows = self._table(table)
        mapped = partial(tasks.map_batches, function=function, schema=rows.schema, result=schema)
        return SparkTable(rows.frame.mapInArrow(mapped, in_spark(stored(schema))), schema)

    def map_sites(self, table: Any, function: SiteFunction, schema: pa.Schema) -> SparkTable:  # noqa: ANN401
        """Return what the function makes of each site, in the order of the sites."""
        rows = self._table(table)
        # Cut at sites and in their order, the one shuffle that brings sites together also sorts them.
        frame = rows.frame.repartitionByRange(self._partitions, SITE)
        return SparkTable(_by_site(frame, function, rows.schema, schema), schema)

    def each_site(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        done: Collection[str] = (),
        excuse: Excuse | None = None,  # noqa: ARG002 -- Spark reports a lost machine, not its site
    ) -> Iterator[pa.Table]:
        """Yield what the function makes of the sites, some at a time, as it comes and in any order."""
        for results in _brought(self._made_of_sites(table, function, schema, done)):
            yield restored(results, schema)

    def keep_sites(  # noqa: PLR0913, PLR0917 -- as the contract has it
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        column: str,
        note: Callable[[pa.Table], object],
        done: Collection[str] = (),
        excuse: Excuse | None = None,  # noqa: ARG002 -- Spark reports a lost machine, not its site
    ) -> SparkTable:
        """Return the rows that the function makes of the sites, if they have a value in a column."""
        # Kept, or the sites would be learned from once more for what stays.
        frame = self._keeping(self._made_of_sites(table, function, schema, done))
        for results in _brought(frame.where(f"{column} IS NULL")):
            note(restored(results, schema))
        return SparkTable(frame.where(f"{column} IS NOT NULL"), schema)

    def select(self, query: str, tables: Mapping[str, Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield what a query gives."""
        with one_sentence():
            frames: dict[str, Any] = {name: self._table(table).frame for name, table in tables.items()}
            found = self.spark.sql(query, **frames)
        yield from SparkTable(found, schema).batches()

    def _made_of_sites(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        done: Collection[str],
    ) -> DataFrame:
        rows = self._table(table)
        # What is left out must not travel: it may be a site that no machine can hold.
        left = rows.frame.mapInArrow(partial(tasks.left_to_do, done=done), rows.frame.schema)
        frame = (left if len(done) else rows.frame).repartition(self._partitions, SITE)
        return _by_site(frame, function, rows.schema, schema)

    @property
    def _partitions(self) -> int:
        # Said as a number, or Spark would join small partitions into one, and learning is slow work.
        return int(self.spark.conf.get("spark.sql.shuffle.partitions") or 1)

    def write(self, table: Any, path: str, format: str | None = None) -> None:  # noqa: A002, ANN401
        """Write a table to a file of this machine, or with `://` in its name to a folder of a file system."""
        if "://" not in path:
            schema = table.schema if hasattr(table, "schema") else arrow_table(table).schema
            write_batches(schema, _batches_of(table), path, format)
            return
        if format not in WRITERS:
            message = f"{path}: say which format with --output-format {', '.join(WRITERS)}"
            raise UndustError(message)
        with one_sentence():
            self._table(table).frame.write.format(WRITERS[format]).save(path)

    def collect(self, table: Any) -> pa.Table:  # noqa: ANN401
        """Return a table as Arrow has it."""
        return arrow_table(table)

    def _table(self, table: Any) -> SparkTable:  # noqa: ANN401
        if isinstance(table, SparkTable):
            return table
        rows = arrow_table(table)
        with one_sentence():
            frame = self.spark.createDataFrame(to_store(rows, rows.schema), in_spark(stored(rows.schema)))
        return SparkTable(frame, rows.schema)


def _notes(frame: DataFrame) -> list[Any]:
    return frame.where(f"{tasks.NOTE} is not null").select(tasks.NOTE).collect()


def _by_site(frame: DataFrame, function: SiteFunction, schema: pa.Schema, result: pa.Schema) -> DataFrame:
    # Spark calls it with two arguments by their place, and looks at how many it takes.
    def rows_of(key: tuple[pa.Scalar, ...], rows: pa.Table) -> pa.Table:
        return tasks.map_site(key, rows, function, schema, result)

    return frame.groupBy(SITE).applyInArrow(rows_of, in_spark(stored(result)))


def _brought(frame: DataFrame) -> Iterator[pa.Table]:
    """Yield the rows on the driver, in the order of the partitions, some partitions at a time."""
    with one_sentence():
        packed = frame.mapInArrow(tasks.pack, in_spark(tasks.PACKED)).rdd
        context = frame.sparkSession.sparkContext
        step = max(1, AT_A_TIME * context.defaultParallelism)
        count = packed.getNumPartitions()
    for first in range(0, count, step):
        with one_sentence():
            values = context.runJob(packed, _values, list(range(first, min(first + step, count))))
        for value in values:
            yield pa.ipc.open_stream(value).read_all()


def _values(rows: Iterable[Any]) -> Iterator[bytes]:
    return (bytes(row[0]) for row in rows)


def _batches_of(table: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401
    if isinstance(table, SparkTable):
        yield from table.batches()
    else:
        yield from table if isinstance(table, pa.RecordBatchReader) else arrow_table(table).to_batches()
