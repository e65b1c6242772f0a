"""What every engine is: four verbs, and nothing about URLs or rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    Reader = Callable[[str], Iterator[pa.RecordBatch]]
    """The rows of one file."""
    SiteFunction = Callable[[str, pa.Table], pa.Table]
    """A site and its rows to a table of the schema that was promised."""

SITE = "site"
"""The column that says to which site a row belongs."""


class Engine(Protocol):
    """Where the work runs; a table is whatever the engine makes it, and is only passed on."""

    def read(self, paths: Sequence[str], reader: Reader, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return the rows of all files as one table."""

    def map_sites(self, table: Any, function: SiteFunction, schema: pa.Schema) -> Any:  # noqa: ANN401
        """Return what the function makes of each site, in the order of the sites."""

    def write(self, table: Any, path: str, format: str | None = None) -> None:  # noqa: A002, ANN401
        """Write a table to a file; its name tells the format unless it is given."""

    def collect(self, table: Any) -> pa.Table:  # noqa: ANN401
        """Return a table as Arrow has it."""
