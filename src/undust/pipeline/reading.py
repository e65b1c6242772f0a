"""Files to observations, and what became of each file."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.content.seen import PagesSeen
from undust.content.sketch import SIZE, WORDS
from undust.errors import UnknownFormat
from undust.observations import SCHEMA, FileReport, Observations, Remark, Statement
from undust.pipeline.sites import WITH_SITE, with_site
from undust.sources import named_format
from undust.sources.files import find_files, note_unknown, read_file
from undust.sources.reading import Reading, ReadOptions
from undust.streams import STANDARD, require_readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

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
        format: The format of all of them, by name, where it cannot be told from their content.
        base: What stands before paths that name no host: `https://shop.test`.
        columns: Our column names to those of the tables: `{"url": "address"}`.
        log_format: The `LogFormat` or `log_format` of logs in no stock format.
        strict: Raise at the first record that cannot be read, instead of counting it.
        shingle_words: Words in a shingle of the sketches made of archived pages; 10 as published.
        sketch_size: Minima in such a sketch; 4 as published.
        watch: Is told, now and then, how many bytes were read and how many there are, if that is known.
        engine: Where the rows are kept, if there may be more than fit into memory.

    """
    if format is not None:
        named_format(format)
    options = ReadOptions(
        base, dict(columns or {}), log_format, strict, shingle_words=shingle_words, sketch_size=sketch_size
    )
    files = find_files([fspath(path) for path in paths])
    require_readable(file.path for file in files)
    on_bytes = _adding_up(watch, [file.path for file in files]) if watch else None
    reports: list[FileReport] = []
    statements: set[Statement] = set()
    pages = PagesSeen(options.shingle_words, options.sketch_size)
    is_named = dict(files)

    def rows_of(path: str) -> Iterator[pa.RecordBatch]:
        reading = Reading("standard input" if path == STANDARD else path, options, seen=pages)
        try:
            yield from read_file(path, reading, format, on_bytes)
        except UnknownFormat as error:
            if is_named[path] or strict:
                raise
            note_unknown(error, reading)
        reports.append(_report(reading))
        statements.update(reading.statements)

    if engine is None:
        table = pa.Table.from_batches((batch for file in files for batch in rows_of(file.path)), SCHEMA)
    else:
        table = engine.read(
            [file.path for file in files], lambda path: map(with_site, rows_of(path)), WITH_SITE
        )
    return Observations(table, tuple(reports), tuple(sorted(statements)))


def _adding_up(watch: Callable[[int, int | None], object], paths: list[str]) -> Callable[[int], object]:
    """Return a function that is told of bytes one by one, and tells `watch` of all so far."""
    total = None if STANDARD in paths else sum(Path(path).stat().st_size for path in paths)
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        watch(done, total)

    return add


def _report(reading: Reading) -> FileReport:
    return FileReport(reading.name, reading.format, reading.rows, tuple(_remarks(reading)))


def _remarks(reading: Reading) -> Iterable[Remark]:
    for fate, reasons in (
        ("skipped", reading.skipped),
        ("passed over", reading.passed_over),
        ("lost", reading.lost),
    ):
        for reason, records in sorted(reasons.items()):
            yield Remark(fate, reason, records.count, tuple(records.samples))  # type: ignore[arg-type]
