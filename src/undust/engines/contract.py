"""What every engine is: seven verbs, and nothing about URLs or rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    import pyarrow as pa

    Reader = Callable[[str], Iterator[pa.RecordBatch]]
    """The rows of one file."""
    RowsFunction = Callable[[pa.RecordBatch], pa.RecordBatch]
    """Some rows to others of the schema that was promised; which rows come together means nothing."""
    SiteFunction = Callable[[str, pa.Table], pa.Table]
    """A site and its rows to a table of the schema that was promised."""
    Excuse = Callable[[str, str], pa.Table]
    """A site and why nothing came of it, to a table of that schema."""

SITE = "site"
"""The column that says to which site a row belongs."""


class Survey(NamedTuple):
    """What there is to do."""

    sites: int
    """That have a name: what is no URL belongs to none."""
    rows: int
    large: Mapping[str, int]
    """The rows of each site that has more than was asked about."""


class Engine(Protocol):
    """Where the work runs; a table is whatever the engine makes it, and is only passed on.

    Functions are pure and can be pickled, so that they may run anywhere, and again if that place is lost.
    """

    def __enter__(self) -> Self:
        """Return the engine; what it needs besides memory is gone at the end of the block."""

    def __exit__(self, *_: object) -> None:
        """Remove all that is left of the work."""

    @property
    def site_rows(self) -> int:
        """How many rows of one site are looked at together; see `budget.site_rows`."""

    def read(self, paths: Sequence[str], reader: Reader, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return the rows of all files as one table."""

    def survey(self, table: Any, most_rows: int) -> Survey:  # noqa: ANN401
        """Return how many sites and rows there are, and which sites have more than `most_rows` rows."""

    def map_rows(self, table: Any, function: RowsFunction, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return what the function makes of all rows."""

    def map_sites(self, table: Any, function: SiteFunction, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return what the function makes of each site, in the order of the sites."""

    def each_site(
        self,
        table: Any,  # noqa: ANN401
        function: SiteFunction,
        schema: pa.Schema,
        done: Container[str] = (),
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

    def write(self, table: Any, path: str, format: str | None = None) -> None:  # noqa: A002, ANN401
        """Write a table to a file; its name tells the format unless it is given."""

    def collect(self, table: Any) -> pa.Table:  # noqa: ANN401
        """Return a table as Arrow has it."""
