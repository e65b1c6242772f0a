"""Files to observations, each with its site, and what became of each file; logs added up to traffic.

The files of a job are read in this process or on any machine. Traffic is how often each URL was requested, on
which day, by which client, and the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.engines import SITE, File, Files
from undust.errors import SourceError, UnknownFormat
from undust.files.streams import STANDARD, require_readable
from undust.measuring.counts import TRAFFIC
from undust.reading.formats import SAMPLES_PER_REASON, Reading, ReadOptions, named_format
from undust.reading.formats.files import find_files, is_recognised, note_unknown, read_file
from undust.reading.formats.rows import batch_of, chosen
from undust.reading.observations import SCHEMA, FileReport, Observations, Remark
from undust.reading.page import PagesSeen
from undust.reading.text import SIZE, WORDS
from undust.urls import are_site_names, normalize, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from undust.engines import Engine
    from undust.engines.contract import Tell
    from undust.reading.formats.files import Watch
    from undust.reading.observations import Statement

ARCHIVES = ("arc", "warc")
ARCHIVE_NAMES = (".arc", ".arc.gz", ".warc", ".warc.gz", ".warc.zst")


class FileFacts(NamedTuple):
    """What is known of a file, or of a part of it, after it was read."""

    report: FileReport
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class FilesReader:
    """Files to observations with their sites."""

    options: ReadOptions
    format: str | None = None
    by_chance: frozenset[str] = frozenset()
    """Files found in a folder; they were not named, so they may be of any format."""
    apart: frozenset[str] = frozenset()
    """Files that are read without the others, as archives must not be."""
    on_bytes: Watch | None = None

    def read_files(self, files: Sequence[File], tell: Tell) -> Iterator[pa.RecordBatch]:
        """Yield the rows of files that belong together, in their order."""
        yield from map(with_site, self.observations(files, tell))

    def observations(self, files: Sequence[File], tell: Tell) -> Iterator[pa.RecordBatch]:
        """Yield the same without their sites."""
        # Only archives have pages, which the files of a job are then read together for.
        pages = cache(partial(PagesSeen, self.options.shingle_words, self.options.sketch_size))
        for file in files:
            name = "standard input" if file.path == STANDARD else file.name
            reading = Reading(name, self.options, seen=pages)
            try:
                yield from read_file(file.path, reading, self.format, self.on_bytes)
            except UnknownFormat as error:
                if file.name not in self.by_chance or self.options.strict:
                    raise
                note_unknown(error, reading)
            if file.name in self.apart and reading.format in ARCHIVES:
                raise misnamed(name)
            tell(_told(reading))

    def columns_of(self, name: str, header: Sequence[str]) -> list[str]:
        """Return which columns of a table are needed, by the names that it has for them."""
        return sorted(set(chosen(header, Reading(name, self.options)).values()))

    def read_rows(self, name: str, batches: Iterator[pa.RecordBatch], tell: Tell) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a part of such a table."""
        reading = Reading(name, self.options, "parquet")
        for batch in batches:
            columns = chosen(batch.schema.names, reading)
            raw = {ours: batch.column(theirs) for ours, theirs in columns.items()}
            rows = batch_of(raw, lambda _: "in a row", reading)
            reading.rows += rows.num_rows
            yield with_site(rows)
        tell(_told(reading))


def misnamed(name: str) -> SourceError:
    """Return the complaint about an archive that is not read with the others."""
    return SourceError(
        f"{name}: it is an archive and its name does not show it; archives are read together, so end it "
        "in .warc.gz, or give --format warc"
    )


def _told(reading: Reading) -> FileFacts:
    return FileFacts(reading.report(), tuple(reading.statements))


def one_report_each(reports: Iterable[FileReport], order: Sequence[str]) -> tuple[FileReport, ...]:
    """Return one report for each file, in an order of names; parts of one are added up."""
    parts: dict[str, list[FileReport]] = {name: [] for name in order}
    for report in reports:
        parts.setdefault(report.name, []).append(report)
    return tuple(_added(own) if len(own) > 1 else own[0] for own in parts.values() if own)


def _added(parts: Sequence[FileReport]) -> FileReport:
    remarks: dict[tuple[str, str], Remark] = {}
    for part in parts:
        for remark in part.remarks:
            before = remarks.get((remark.fate, remark.reason))
            count = remark.count + (before.count if before else 0)
            samples = (before.samples if before else ()) + remark.samples
            kept = tuple(sorted(samples)[:SAMPLES_PER_REASON])
            remarks[remark.fate, remark.reason] = Remark(remark.fate, remark.reason, count, kept)
    rows = sum(part.rows for part in parts)
    return FileReport(parts[0].name, parts[0].format, rows, tuple(remarks[key] for key in sorted(remarks)))


WITH_SITE = SCHEMA.append(pa.field(SITE, pa.string(), nullable=False))
"""What is not a URL, or has a host that is not a host name, belongs to the site without a name."""


def with_site(rows: Any) -> Any:  # noqa: ANN401 -- a batch or a table
    """Return the rows with their sites."""
    site = site_of(rows.column("url")).cast(pa.string())
    site = pc.if_else(are_site_names(site), site, "")
    return rows.append_column(WITH_SITE.field(SITE), site)


def read(  # noqa: PLR0913 -- one for each thing that a person may have to say about files
    *paths: str | PathLike[str],
    format: str | None = None,  # noqa: A002 -- the name of the option
    base: str | None = None,
    columns: Mapping[str, str] | None = None,
    log_format: str | None = None,
    strict: bool = False,
    shingle_words: int = WORDS,
    sketch_size: int = SIZE,
    watch: Callable[[int, int | None], object] | None = None,
    engine: Engine | None = None,
) -> Observations:
    """Return the observations in files: paths, folders, patterns, or `-` for standard input.

    Args:
        paths: What to read; files are read in the order of their names, each once.
        format: The format of all of them, by name, if it cannot be recognised from their content.
        base: The scheme and host of paths without one: `https://shop.test`.
        columns: Our column names to those of the tables: `{"url": "address"}`.
        log_format: The `LogFormat` or `log_format` of logs in no stock format.
        strict: Raise at the first record that cannot be read, instead of counting it.
        shingle_words: Words in a shingle of the sketches made of archived pages; 10 as published.
        sketch_size: Minima in such a sketch; 4 as published.
        watch: Called now and then with the bytes read and the bytes in total, if known.
        engine: Where the rows are kept, if there may be more than fit into memory.

    """
    if format is not None:
        named_format(format)
    options = ReadOptions(
        base, dict(columns or {}), log_format, strict, shingle_words=shingle_words, sketch_size=sketch_size
    )
    names = [fspath(path) for path in paths]
    far = _found_far([name for name in names if is_address(name)], engine)
    near = dict(find_files(name for name in names if not is_address(name)))
    require_readable(near)
    found = {**near, **far}
    told: list[FileFacts] = []
    reader = FilesReader(
        options,
        format,
        frozenset(name for name, is_named in found.items() if not is_named),
        on_bytes=_adding_up(watch, list(near)) if watch else None,
    )
    if engine is None:
        files = [File(name, name) for name in near]
        table = pa.Table.from_batches(reader.observations(files, told.append), SCHEMA)
    elif not engine.spreads_files:
        table = engine.read(Files([list(near)]), reader, WITH_SITE, told.append)
    else:
        spread = spread_out(near, far, format)
        apart = frozenset(name for group in spread.groups if len(group) == 1 for name in group)
        reader = replace(reader, apart=apart | {*spread.fetched}, on_bytes=None)
        table = engine.read(spread, reader, WITH_SITE, told.append)
    statements = {statement for each in told for statement in each.statements}
    reports = one_report_each((each.report for each in told), list(found))
    return Observations(table, reports, tuple(sorted(statements)))


def is_input(
    path: str,
    paths: Iterable[str],
    *,
    format: str | None = None,  # noqa: A002 -- the name of the option
    log_format: str | None = None,
) -> bool:
    """Return whether a file is among those that `read` takes from these paths, under whatever name.

    What lies in a folder and is passed over there is not: the rules of yesterday beside the crawl of today.
    """
    place = realpath(path)
    for file in find_files(name for name in paths if not is_address(name)):
        if file.path != STANDARD and realpath(file.path) == place:
            is_read = file.is_named or format is not None
            return is_read or is_recognised(file.path, ReadOptions(log_format=log_format))
    return False


def _adding_up(watch: Callable[[int, int | None], object], paths: list[str]) -> Callable[[int], object]:
    """Return a function that adds up bytes, and passes the sum to `watch`."""
    total = None if STANDARD in paths else sum(Path(path).stat().st_size for path in paths)
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        watch(done, total)

    return add


def is_address(name: str) -> bool:
    """Return whether this names a file on a file system of a cluster, as `s3a://bucket/file` does."""
    return "://" in name and not Path(name).exists()


def _found_far(addresses: list[str], engine: Engine | None) -> Mapping[str, bool]:
    if not addresses:
        return {}
    if engine is None:
        message = f"{addresses[0]}: addresses are for a cluster; add --engine spark, or name a file"
        raise SourceError(message)
    return engine.find(addresses)


def spread_out(near: Collection[str], far: Iterable[str], format: str | None) -> Files:  # noqa: A002
    """Return files as an engine takes them that reads them in many places at once.

    Parquet is left to the engine. Archives are one group: what a page shows besides its template is known
    by the pages before it, in whatever file. All others are read each on its own.
    """
    if STANDARD in near:
        message = "standard input comes to this machine alone; store it in a file that the cluster can read"
        raise SourceError(message)
    paths = [name for name in near if not _is_parquet(name, format)]
    archives = [name for name in paths if _is_archive(name, format)]
    fetched = [name for name in far if not _is_parquet(name, format)]
    if sum(_is_archive(name, format) for name in fetched) > (not archives):
        message = (
            f"{fetched[0]}: archives are read together, which those at addresses cannot be; put them in a "
            "folder that all machines see, and name that"
        )
        raise SourceError(message)
    # Hadoop takes names as they are, without the escapes of other addresses.
    tables = [f"file://{Path(name).resolve()}" for name in near if _is_parquet(name, format)]
    tables += [name for name in far if _is_parquet(name, format)]
    groups = [[name] for name in paths if name not in archives]
    return Files([*groups, archives] if archives else groups, fetched, tables)


def _is_parquet(name: str, format: str | None) -> bool:  # noqa: A002
    return format == "parquet" or (format is None and name.lower().endswith(".parquet"))


def _is_archive(name: str, format: str | None) -> bool:  # noqa: A002
    return format in ARCHIVES or (format is None and name.lower().endswith(ARCHIVE_NAMES))


LOG = "access-log"
_HELD = 64
"""Batches that are held before they are added up, so that a log of any length fits."""


def traffic_of(
    paths: Iterable[str],
    *,
    base: str | None = None,
    columns: Mapping[str, str] | None = None,
    log_format: str | None = None,
    format: str | None = None,  # noqa: A002 -- the name of the option
) -> pa.Table:
    """Return the requests in the logs among some files, as rows of `TRAFFIC`; other files give none."""
    options = ReadOptions(base, dict(columns or {}), log_format)
    held: list[pa.Table] = [TRAFFIC.empty_table()]
    for file in find_files(paths):
        reading = Reading(file.path, options, crawlers=[])
        for batch in read_file(file.path, reading, format):
            if reading.format != LOG or not reading.crawlers:
                break
            # Those of the batch that was given last are the last ones.
            held.append(_summed(_rows(batch, reading.crawlers[-1])))
            reading.crawlers.clear()
            if len(held) > _HELD:
                held = [_summed(pa.concat_tables(held))]
    return _summed(pa.concat_tables(held))


def _rows(batch: pa.RecordBatch, crawler: pa.Array) -> pa.Table:
    day = pc.divide(pc.cast(batch.column("time"), pa.timestamp("s", "UTC")).cast(pa.int64()), 86_400)
    columns = {
        "url": normalize(batch.column("url").cast(pa.large_string())),
        "crawler": crawler,
        "day": day.cast(pa.int32()),
        "requests": pa.array([1], pa.int64()).take(pa.array([0] * len(batch))),
        "bytes": pc.fill_null(batch.column("size"), 0).cast(pa.int64()),
    }
    return pa.table(columns).cast(TRAFFIC)


def _summed(rows: pa.Table) -> pa.Table:
    names = ["url", "crawler", "day"]
    total = rows.group_by(names).aggregate([("requests", "sum"), ("bytes", "sum")])
    named = total.rename_columns([*names, "requests", "bytes"]).cast(TRAFFIC)
    return named.sort_by([(name, "ascending") for name in names])
