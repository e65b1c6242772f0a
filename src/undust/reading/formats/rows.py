"""Lines and raw columns of any source, to a batch of the one table: the last steps of every source but logs.

What makes a record a sighting is decided here once, so that one crawl gives the same observations in
whatever format it is written. A line too long to be held is not a line of any format here: it is skipped as
one record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import urljoin

import pyarrow as pa
import pyarrow.compute as pc

from undust._core import count_lines
from undust.errors import SourceError
from undust.files.streams import BLOCK_BYTES, LONGEST_LINE, Holds, line_chunks
from undust.reading.formats import SAMPLES_PER_REASON, Reading
from undust.reading.formats.recognising import (
    ALIASES,
    METHOD,
    UTF8_MARK,
    named_in,
    no_such_column,
    url_column,
)
from undust.reading.formats.values import (
    Converted,
    block_lists,
    digests,
    integers,
    no_rows,
    sketches,
    texts,
    times,
    truths,
    urls,
)
from undust.reading.observations import SCHEMA
from undust.urls import are_site_names, site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TOO_LONG = f"longer than {LONGEST_LINE:,} bytes"


class Lines(NamedTuple):
    """Some whole lines of a file."""

    data: bytes
    first: int
    """The number of the first of them; a file's first line is 1."""

    def place(self, index: int) -> str:
        """Return where a line is, for people."""
        return f"line {self.first + index}"

    def column(self) -> pa.Array:
        """Return the lines as a binary column, without their line ends."""
        return split_lines(self.data)


def blocks_of(file: BinaryIO) -> Iterator[bytes]:
    """Give what is left of a stream, block by block."""
    return iter(lambda: file.read(BLOCK_BYTES), b"")


def whole_lines(file: BinaryIO, reading: Reading) -> Iterator[Lines]:
    """Give the lines of a stream in pieces of about a megabyte; lines too long are skipped."""
    number = 1
    for chunk in line_chunks(blocks_of(file)):
        if chunk.holds is Holds.LINES:
            data = chunk.data.removeprefix(UTF8_MARK) if number == 1 else chunk.data
            yield Lines(data, number)
        elif chunk.holds is Holds.LONG_LINE:
            reading.skip(TOO_LONG, f"line {number}", chunk.data)
        number += count_lines(chunk.data)


def split_lines(data: bytes) -> pa.Array:
    """Return the lines of a text as a binary column, without their line ends."""
    if not data:
        return pa.array([], pa.binary())
    plain = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    plain = plain.removesuffix(b"\n")
    return pc.split_pattern(pa.array([plain], pa.binary()), b"\n").flatten()


OUR_NAMES = (*SCHEMA.names, METHOD)


def candidates(reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return, for each of our columns, the names it may have in the person's table, the best first."""
    for ours in reading.options.columns:
        if ours not in SCHEMA.names:
            message = f"there is no column '{ours}'; undust knows {', '.join(SCHEMA.names)}"
            raise SourceError(message)
    said = {ours: (theirs,) for ours, theirs in reading.options.columns.items()}
    return {ours: said.get(ours, (ours, *ALIASES.get(ours, ()))) for ours in OUR_NAMES}


def chosen(header: Sequence[str], reading: Reading, url_like: Sequence[str] = ()) -> dict[str, str]:
    """Return our names for the columns that a header lists, as ours to theirs.

    Without a column whose name means URL, the only one in `url_like` is taken, whose values are URLs.
    """
    columns = reading.options.columns
    found: dict[str, str] = {}
    for ours, names in candidates(reading).items():
        if ours == "url":
            continue
        theirs = named_in(header, names)
        if theirs is not None:
            found[ours] = theirs
        elif ours in columns:
            raise no_such_column(names[0], header, reading.name)
    return {"url": url_column(header, columns.get("url"), url_like, reading.name)} | found


_SCHEME = r"^\s*[A-Za-z][A-Za-z0-9+.-]*:"
_HTTP = r"^\s*(?i:https?):"

NO_URL = "no url"
NOT_HTTP = "not an http or https URL"
BROKEN_URL = "url is not a URL"
BROKEN_HOST = "host is not a host name"
NO_HOST = "names no host; give one with --base https://your.site"
OTHER_METHOD = "neither a GET nor a HEAD request"

LOWEST_STATUS, HIGHEST_STATUS = 100, 999

CONVERTERS: dict[str, Callable[[pa.Array], Converted]] = {
    "status": lambda column: integers(column, LOWEST_STATUS, HIGHEST_STATUS),
    "size": integers,
    "digest": lambda column: (digests(column), no_rows()),
    "sketch": sketches,
    "canonical": lambda column: (urls(column), no_rows()),
    "redirect": lambda column: (urls(column), no_rows()),
    "time": times,
    "cluster": lambda column: (texts(column), no_rows()),
    "blocks": block_lists,
    "page_title": lambda column: (texts(column), no_rows()),
    "page_language": lambda column: (texts(column), no_rows()),
    "listed": truths,
}
"""How each column of the one table but `url` is made from what was found."""

UNREADABLE = {
    "status": f"status is not a number from {LOWEST_STATUS} to {HIGHEST_STATUS}",
    "size": "size is not a whole number",
    "sketch": "sketch is not a list of whole numbers",
    "time": "time is in no form that is known",
    "blocks": "blocks is not an ascending list of at most 256 whole numbers",
    "listed": "listed is neither true nor false",
}
"""What is wrong with a value that could not be converted."""

Place = Callable[[int], str]
"""From the number of a raw row to where it is, for people."""


def batch_of(raw: Mapping[str, pa.Array], place: Place, reading: Reading) -> pa.RecordBatch:
    """Return the rows of `raw` that are sightings, and count the others and the values that were lost."""
    column = absolute(urls(raw["url"]), reading, is_log=METHOD in raw)
    keep = _sightings(column, raw, place, reading)
    column = column.take(keep)
    batch: dict[str, pa.Array] = {"url": column}
    for name, convert in CONVERTERS.items():
        if name in raw:
            values = raw[name].take(keep)
            batch[name], failed = convert(values)
            note_rows(
                failed, reading.lose, UNREADABLE.get(name, name), values, lambda row: place(keep[row].as_py())
            )
    for name in ("canonical", "redirect"):
        if name in batch:
            batch[name] = _targets(batch[name], column)
    if METHOD in raw:
        batch["size"] = _sizes_of_log(batch, raw[METHOD].take(keep))
    return finished(batch)


def finished(columns: Mapping[str, pa.Array]) -> pa.RecordBatch:
    """Return columns as a batch of the one table; those that are absent are null."""
    rows = len(columns["url"])
    arrays = [
        columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def base_of(reading: Reading) -> str | None:
    """Return the base of paths, if the user gave it."""
    return reading.options.base_url()


def no_base(reading: Reading) -> SourceError:
    """Return the complaint about paths without a host."""
    return SourceError(
        f"{reading.name}: it holds paths and names no host; say whose they are: --base https://your.site"
    )


def absolute(column: pa.Array, reading: Reading, *, is_log: bool) -> pa.Array:
    """Return URLs with the base before those that are only a path."""
    is_path = pc.starts_with(column, "/")
    if not pc.any(is_path).as_py():
        return column
    base = base_of(reading)
    if base is not None:
        return pc.if_else(is_path, pc.binary_join_element_wise(base, column, ""), column)
    # A list of links may hold a stray path; a log, or a file of paths only, needs an option of the user.
    if is_log or (not reading.rows and pc.all(is_path).as_py()):
        raise no_base(reading)
    return column


def _sightings(column: pa.Array, raw: Mapping[str, pa.Array], place: Place, reading: Reading) -> pa.Array:
    """Return the numbers of the rows that are kept."""
    sites = site_of(column)
    is_named = are_site_names(sites)
    is_url = pc.is_valid(sites)
    is_other = _holds(column, _SCHEME, _HTTP)
    is_broken = pc.and_not(pc.and_not(pc.is_valid(column), is_url), is_other)
    note_where(pc.is_null(column), reading.skip, NO_URL, column, place)
    note_where(pc.and_(pc.invert(is_url), is_other), reading.pass_over, NOT_HTTP, column, place)
    is_path = _holds(column, "^/")
    note_where(pc.and_(is_broken, is_path), reading.pass_over, NO_HOST, column, place)
    note_where(pc.and_not(is_broken, is_path), reading.skip, BROKEN_URL, column, place)
    note_where(pc.and_not(is_url, is_named), reading.skip, BROKEN_HOST, column, place)
    is_url = pc.and_(is_url, is_named)
    if METHOD not in raw:
        return pc.indices_nonzero(is_url)
    is_seen = pc.is_in(texts(raw[METHOD]), pa.array(["GET", "HEAD", None]))
    note_where(pc.and_not(is_url, is_seen), reading.pass_over, OTHER_METHOD, column, place)
    return pc.indices_nonzero(pc.and_(is_url, is_seen))


def _holds(column: pa.Array, pattern: str, unless: str = "$^") -> pa.Array:
    """Return where a text matches a pattern and not another; a null matches none."""
    found = pc.and_not(pc.match_substring_regex(column, pattern), pc.match_substring_regex(column, unless))
    return pc.fill_null(found, False)  # noqa: FBT003 -- the value


Note = Callable[[str, str, bytes, int], None]
"""One of the ways of a `Reading` to count records: reason, place, sample, count."""


def note_where(chosen: pa.Array, note: Note, reason: str, samples: pa.Array, place: Place) -> None:
    """Count the rows where `chosen` is true under a reason, with the first few as samples."""
    note_rows(pc.indices_nonzero(chosen), note, reason, samples, place)


def note_rows(rows: pa.Array, note: Note, reason: str, samples: pa.Array, place: Place) -> None:
    """Count rows, given by their numbers, under a reason, with the first few as samples."""
    for row, count in shown_rows(rows):
        value = samples[row].as_py()
        sample = value if isinstance(value, bytes) else b"" if value is None else str(value).encode()
        note(reason, place(row), sample, count)


def shown_rows(rows: pa.Array) -> Iterator[tuple[int, int]]:
    """Give the first few of some rows with how many each stands for, which is all of them together."""
    shown = rows[:SAMPLES_PER_REASON].to_pylist()
    for number, row in enumerate(shown):
        yield row, 1 if number else len(rows) - len(shown) + 1


def _targets(targets: pa.Array, column: pa.Array) -> pa.Array:
    """Return targets as absolute URLs; null if it is missing, as in `-`."""
    is_absent = pc.equal(targets, "-")
    targets = pc.if_else(is_absent, pa.scalar(None, pa.string()), targets)
    relative = pc.invert(pc.match_substring_regex(targets, "^(?i:https?)://"))
    if not pc.any(relative).as_py():
        return targets
    joined = targets.to_pylist()
    for row in pc.indices_nonzero(pc.fill_null(relative, False)).to_pylist():  # noqa: FBT003
        joined[row] = _joined(column[row].as_py(), joined[row])
    return pa.array(joined, pa.string())


def _joined(url: str, target: str) -> str | None:
    try:
        return urljoin(url, target)
    except ValueError:
        return None


def _sizes_of_log(batch: Mapping[str, pa.Array], methods: pa.Array) -> pa.Array:
    """Return sizes where the whole page was sent: not for HEAD, 206 and 304."""
    if "size" not in batch:
        return pa.nulls(len(methods), pa.int64())
    is_part = pc.equal(texts(methods), "HEAD")
    if "status" in batch:
        is_part = pc.or_kleene(is_part, pc.is_in(batch["status"], pa.array([206, 304], pa.int64())))
    return pc.if_else(pc.fill_null(is_part, False), pa.scalar(None, pa.int64()), batch["size"])  # noqa: FBT003
