"""Files to observations, and what became of each file."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.engines import File, Files
from undust.errors import SourceError
from undust.files.streams import STANDARD, require_readable
from undust.jobs.input_files import ARCHIVE_NAMES, ARCHIVES, FileFacts, FilesReader, one_report_each
from undust.jobs.sites import WITH_SITE
from undust.reading.formats import named_format
from undust.reading.formats.files import find_files, is_recognised
from undust.reading.formats.reading import ReadOptions
from undust.reading.observations import SCHEMA, Observations
from undust.reading.text import SIZE, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from undust.engines import Engine


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
