"""The one table that everything starts from: one row is one sighting of one URL.

Only `url` is required. What a source does not know is null, never a guess. The names are
the column names in every format that has columns. With the table goes a report: which file
gave how many rows, and what in it could not be read.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.display import how_many, printable
from undust.errors import SourceError
from undust.privacy.masking import Masks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Sited = Iterator[tuple[str, pa.Table]]

SITE = "site"
"""The column that says to which site a row belongs."""

SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("status", pa.int16()),
        pa.field("size", pa.int64()),
        pa.field("digest", pa.string()),
        pa.field("sketch", pa.list_(pa.uint32())),
        pa.field("canonical", pa.string()),
        pa.field("redirect", pa.string()),
        pa.field("time", pa.timestamp("us", "UTC")),
        pa.field("cluster", pa.string()),
        pa.field("blocks", pa.list_(pa.int64())),
        pa.field("page_title", pa.string()),
        pa.field("page_language", pa.string()),
        pa.field("listed", pa.bool_()),
    ]
)

BATCH_ROWS = 65_536
"""Rows in a batch that a source yields; small enough that no column passes 2 GiB."""

Fate = Literal["skipped", "passed over", "lost"]
_FATES: dict[Fate, str] = {
    "skipped": "damaged records",
    "passed over": "whole records that are not a sighting of a page",
    "lost": "values that could not be read, in records that were kept",
}
"""What can happen to a record that is not simply read, and what is counted under it."""

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Remark:
    """Records of a file that had one fate for one reason."""

    fate: Fate
    reason: str
    count: int
    samples: tuple[tuple[str, bytes], ...]
    """The first few of them: the place, and the bytes there."""

    def __str__(self) -> str:
        lines, masks = [f"{self.count:,} {self.fate}: {self.reason}"], Masks()
        lines += [
            f"  {place}: {_shown(sample, masks)}" if sample else f"  {place}"
            for place, sample in self.samples
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was read from one file, and what was not."""

    name: str
    format: str
    rows: int
    remarks: tuple[Remark, ...] = ()

    def __str__(self) -> str:
        remarks = "\n".join(str(remark) for remark in self.remarks)
        indented = "".join(f"\n  {line}" for line in remarks.splitlines())
        return f"{self.name}: {how_many(self.rows, 'row')} of {self.format}{indented}"


class Statement(NamedTuple):
    """What a site declares about its own parameters, as written there."""

    url: str
    """The robots.txt, or the page without its query, that declares it."""
    kind: Literal["Clean-param", "No-Vary-Search"]
    text: str
    """The lines of the robots.txt, or the value of the header."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Observations:
    """The table, as any Arrow library can take it, and the report on the files that it came from."""

    table: pa.Table
    files: tuple[FileReport, ...] = ()
    statements: tuple[Statement, ...] = ()
    """Of the sites about their parameters, each once, sorted."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def counts(self) -> dict[Fate, int]:
        """Return how many records had which fate, over all files."""
        counts: Counter[Fate] = Counter(dict.fromkeys(_FATES, 0))
        for file in self.files:
            for remark in file.remarks:
                counts[remark.fate] += remark.count
        return dict(counts)

    def report(self) -> str:
        """Return, in words, what was read from each file and what was not."""
        return "\n".join([repr(self), *map(str, self.files)])

    def __repr__(self) -> str:
        fates = "".join(f", {count:,} {fate}" for fate, count in self.counts().items() if count)
        files = how_many(len(self.files), "file")
        return f"<Observations: {len(self):,} from {files}{fates}>"


def arrow_table(data: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    """Return any Arrow object as a table."""
    # A table of Arrow's own is not handed over to Arrow: before 25 it crashed at views of nothing but "".
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, str | PathLike):
        path = fspath(data)
        message = f"{path!r} names a file and is not a table; give what it holds: undust.read({path!r})"
        raise SourceError(message)
    try:
        return pa.table(data)
    except (TypeError, ValueError) as error:
        if isinstance(error, pa.ArrowException):
            raise
        message = (
            f"an object of the type '{type(data).__name__}' is not a table; give what undust.read gives, or "
            "an Arrow table with a column 'url'"
        )
        raise SourceError(message) from None


def table_of(seen: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    """Return a table of the user as observations, with all columns of `SCHEMA` and no others.

    Texts may be wide; dictionaries and views are converted, because not every function takes them.
    """
    table = arrow_table(seen)
    if "url" not in table.column_names:
        known = ", ".join(table.column_names) or "none"
        message = f"there is no column 'url' among {known}; name it so first"
        raise SourceError(message)
    return pa.table({field.name: _column_of(table, field) for field in SCHEMA})


def _column_of(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    if field.name not in table.column_names:
        return pa.nulls(len(table), field.type)
    column = table.column(field.name)
    is_text = field.type == pa.string()
    if column.type == field.type or (is_text and column.type == pa.large_string()):
        return column
    try:
        return column.cast(pa.large_string() if is_text else field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = str(error).partition("\n")[0]
        message = f"the column '{field.name}' cannot be taken for {field.type} ({reason}); convert it first"
        raise SourceError(message) from None


def _shown(sample: bytes, masks: Masks) -> str:
    # Strangers wrote these bytes; a terminal must not obey them, and its log must not keep their secrets.
    # Masks come first: escapes such as \x8b around a word make it look like a random text.
    masked = masks.text(sample.decode("utf-8", "surrogateescape"))
    readable = masked.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    safe = printable(readable)
    return safe if len(safe) <= _WIDTH else f"{safe[:_WIDTH]}…"


def sites_in(table: pa.Table) -> Sited:
    """Yield each site of a table in memory with its rows, in the order of the sites."""
    yield from rows_of_sites(table, sorted(table[SITE].cast(pa.string()).unique().to_pylist()))


def rows_of_sites(table: pa.Table, names: Sequence[str]) -> Sited:
    """Yield the named sites of a table in memory with their rows, in the order of the names."""
    place = pc.index_in(table[SITE].cast(pa.string()), pa.array(names, pa.string()))
    wanted = table
    if place.null_count or np.any(np.diff(np.asarray(place)) < 0):
        order = pc.sort_indices(place)  # what is not wanted has no place, and comes last
        wanted = table.take(order.slice(0, len(table) - place.null_count))
    yield from cut_into_sites(wanted.to_batches(), table.schema)


def cut_into_sites(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Sited:
    """Cut rows in which those of a site stand together into sites."""
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
