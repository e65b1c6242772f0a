"""What every engine is: a few verbs, and nothing about URLs or rules.

Sites can be tested in the SQL of DuckDB: which sites fail, in memory that does not grow with the input. Most
sites of a large crawl pass, so the failing ones are looked for: sites with a row that does not meet the
condition, and sites with a value that comes twice. Values are compared by hashes of eight bytes together with
their site, in groups that DuckDB can put on the disk. Where two values have one hash by chance, a site fails
that would have passed, and is looked at more closely; never the other way round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from undust.reading.observations import SITE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    Tell = Callable[[Any], object]
    """Takes what is to be known besides the rows; it can be pickled."""
    RowsFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
    """Some rows to others of the schema that was promised; which rows come together means nothing."""
    SiteFunction = Callable[[str, pa.Table], pa.Table]
    """A site and its rows to a table of the schema that was promised."""
    Excuse = Callable[[str, str], pa.Table]
    """A site and why nothing came of it, to a table of that schema."""


class File(NamedTuple):
    """A file to read."""

    name: str
    """What messages call it."""
    path: str
    """Its path, for readers."""


class Files(NamedTuple):
    """The files of a job, by the way in which they are read."""

    groups: Sequence[Sequence[str]]
    """Paths that every process and machine sees; those of a group are read together, in their order."""
    fetched: Sequence[str] = ()
    """Addresses on file systems that only the engine knows."""
    tables: Sequence[str] = ()
    """Addresses of Parquet files, of which the engine itself reads the columns that are needed."""


class Reader(Protocol):
    """What turns files into rows; it can be pickled, and the same files always give the same rows."""

    def read_files(self, files: Sequence[File], tell: Tell) -> Iterator[pa.RecordBatch]:
        """Yield the rows of files that belong together, in their order."""

    def columns_of(self, name: str, header: Sequence[str]) -> Sequence[str]:
        """Return which columns of a table it needs, of those that there are."""

    def read_rows(self, name: str, batches: Iterator[pa.RecordBatch], tell: Tell) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part of such a table."""


class Survey(NamedTuple):
    """What there is to do."""

    sites: int
    """That have a name: a text that is not a URL has no site."""
    rows: int
    large: Mapping[str, int]
    """The rows of each site that has more than was asked about."""


class SiteTest(NamedTuple):
    """What is asked of the rows of a site, in SQL that DuckDB and Spark read alike."""

    every: str
    """A condition that every row meets, of a site that has a name."""
    distinct: tuple[str, ...]
    """Expressions that are different on each row."""
    nearly_distinct: tuple[str, ...] = ()
    """The same for all rows but one."""
    fewer_than: int | None = None
    """More rows than a site has that passes, if that matters."""

    @property
    def passing(self) -> str:
        """The whole test, as a condition on groups; a column `met` has the first one."""
        parts = ["min(met) = 1"]
        parts += [f"count(DISTINCT different_{place}) = count(*)" for place in range(len(self.distinct))]
        parts += [
            f"count(DISTINCT nearly_{place}) >= count(*) - 1" for place in range(len(self.nearly_distinct))
        ]
        if self.fewer_than is not None:
            parts.append(f"count(*) < {self.fewer_than}")
        return " AND ".join(parts)

    @property
    def columns(self) -> list[str]:
        """The columns that it needs, each with its name."""
        texts = zip((*self.distinct, *self.nearly_distinct), self.compared, strict=True)
        named = [f"{text} AS {name}" for text, name in texts]
        return [f"CASE WHEN {self.every} THEN 1 ELSE 0 END AS met", SITE, *named]

    @property
    def compared(self) -> list[str]:
        """The names of the columns whose values are to differ."""
        names = [f"different_{place}" for place in range(len(self.distinct))]
        return names + [f"nearly_{place}" for place in range(len(self.nearly_distinct))]


class SetAside(NamedTuple):
    """The sites that passed a test."""

    sites: int = 0
    rows: int = 0


NONE_SET_ASIDE = SetAside()


class Engine(Protocol):
    """Where the work runs; a table is whatever the engine makes it, and is only passed on.

    Functions are pure and can be pickled, so that they may run anywhere, and again if that place is lost.
    """

    spreads_files: bool
    """Whether it reads files in many places at once; otherwise it gets all of them as one group."""

    def __enter__(self) -> Self:
        """Return the engine; what it needs besides memory is removed at the end of the block."""

    def __exit__(self, *_: object) -> None:
        """Remove all that is left of the work."""

    @property
    def folder(self) -> str | None:
        """Where files of this machine go that do not outlive the job; the system's place if it is not set."""

    @property
    def site_rows(self) -> int:
        """How many rows of one site are looked at together; see `budget.site_rows`."""

    @property
    def judged_urls(self) -> int | None:
        """How many URLs of one site are judged together at most; see `budget.judged_urls`."""

    def find(self, addresses: Sequence[str]) -> Mapping[str, bool]:
        """Return the files that addresses such as `s3a://bucket/folder` mean, and whether each was named."""

    def read(self, files: Files, reader: Reader, schema: pa.Schema, tell: Tell) -> Any:  # noqa: ANN401
        """Return the rows of all files as one table; what the reader reports is passed on, here."""

    def survey(self, table: Any, most_rows: int) -> Survey:  # noqa: ANN401
        """Return how many sites and rows there are, and which sites have more than `most_rows` rows."""

    def set_aside(self, table: Any, test: SiteTest) -> tuple[Any, SetAside]:  # noqa: ANN401
        """Return the rows of the sites that fail a test, and how many sites and rows pass it."""

    def map_rows(self, table: Any, function: RowsFunction, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return what the function makes of all rows."""

    def map_sites(self, table: Any, function: SiteFunction, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return what the function makes of each site, in the order of the sites."""

    def each_site(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        done: Collection[str] = (),
        excuse: Excuse | None = None,
    ) -> Iterator[pa.Table]:
        """Yield what the function makes of the sites, some at a time, as it comes and in any order.

        Args:
            table: With a column `site`.
            function: Called once for each site.
            schema: Of what it returns.
            done: Sites that are left out.
            excuse: Asked for the rows of a site on which a process or machine was lost, again and again;
                without it, that ends the job.

        """

    def keep_sites(  # noqa: PLR0913, PLR0917 -- those of `each_site`, and what stays
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        column: str,
        note: Callable[[pa.Table], object],
        done: Collection[str] = (),
        excuse: Excuse | None = None,
    ) -> Any:  # noqa: ANN401
        """Return the rows that the function makes of the sites, if they have a value in a column.

        They stay where they are made, however many there are. All others are handed to `note`, some at a
        time, as they come and in any order. The other arguments are those of `each_site`.
        """

    def select(self, query: str, tables: Mapping[str, Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield what a query gives, in SQL that DuckDB and Spark read alike, with tables in braces."""

    def write(self, table: Any, path: str, format: str | None = None) -> None:  # noqa: A002, ANN401
        """Write a table to a file; its name shows the format unless it is given."""

    def collect(self, table: Any) -> pa.Table:  # noqa: ANN401
        """Return a table as Arrow has it."""


def hashed_facts(test: SiteTest) -> str:
    """Return a query that gives what the test needs of each of the `rows`: a few numbers."""
    distinct = [f"hash(site, different_{place}) AS d{place}" for place in range(len(test.distinct))]
    nearly = [f"hash(site, nearly_{place}) AS n{place}" for place in range(len(test.nearly_distinct))]
    numbers = ", ".join(["met = 1 AND site <> '' AS is_met", "hash(site) AS s", *distinct, *nearly])
    return f"SELECT {numbers} FROM (SELECT {', '.join(test.columns)} FROM rows)"  # noqa: S608


def failing_sites(test: SiteTest) -> str:
    """Return a query that gives the hashes of the sites that fail, from these `facts`."""
    parts = ["SELECT s FROM facts WHERE NOT is_met"]
    parts += [
        f"SELECT any_value(s) AS s FROM facts GROUP BY d{place} HAVING count(*) > 1"  # noqa: S608
        for place in range(len(test.distinct))
    ]
    for place in range(len(test.nearly_distinct)):
        groups = f"FROM facts GROUP BY n{place} HAVING count(*) > 1"
        again = f"SELECT any_value(s) AS s, count(*) - 1 AS again {groups}"
        parts.append(f"SELECT s FROM ({again}) GROUP BY s HAVING sum(again) > 1")  # noqa: S608
    if test.fewer_than is not None:
        parts.append(f"SELECT s FROM facts GROUP BY s HAVING count(*) >= {test.fewer_than}")  # noqa: S608
    return " UNION ".join(parts)
