"""The public verbs, from files to rules."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.errors import UnknownFormat
from undust.observations import SCHEMA, FileReport, Observations, Remark
from undust.sources import named_format
from undust.sources.files import find_files, note_unknown, read_file
from undust.sources.reading import Reading, ReadOptions
from undust.streams import STANDARD, require_readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def read(  # noqa: PLR0913 -- one for each thing that a person may have to say about files
    *paths: str | PathLike[str],
    format: str | None = None,  # noqa: A002 -- the name of the option
    base: str | None = None,
    columns: Mapping[str, str] | None = None,
    log_format: str | None = None,
    strict: bool = False,
    watch: Callable[[int, int | None], object] | None = None,
) -> Observations:
    """Return the observations in files: paths, folders, patterns, or `-` for standard input.

    Args:
        paths: What to read; files are read in the order of their names, each once.
        format: The format of all of them, by name, where it cannot be told from their content.
        base: What stands before paths that name no host: `https://shop.test`.
        columns: Our column names to those of the tables: `{"url": "address"}`.
        log_format: The `LogFormat` or `log_format` of logs in no stock format.
        strict: Raise at the first record that cannot be read, instead of counting it.
        watch: Is told, now and then, how many bytes were read and how many there are, if that is known.

    """
    if format is not None:
        named_format(format)
    options = ReadOptions(base=base, columns=dict(columns or {}), log_format=log_format, strict=strict)
    files = find_files([fspath(path) for path in paths])
    require_readable(file.path for file in files)
    on_bytes = _adding_up(watch, [file.path for file in files]) if watch else None
    batches: list[pa.RecordBatch] = []
    reports = []
    for path, is_named in files:
        reading = Reading("standard input" if path == STANDARD else path, options)
        try:
            batches.extend(read_file(path, reading, format, on_bytes))
        except UnknownFormat as error:
            if is_named or strict:
                raise
            note_unknown(error, reading)
        reports.append(_report(reading))
    return Observations(pa.Table.from_batches(batches, SCHEMA), tuple(reports))


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
