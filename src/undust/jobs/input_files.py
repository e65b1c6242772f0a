"""What reads the files of a job, in this process or on any machine, and what it reports about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import SourceError, UnknownFormat
from undust.files.streams import STANDARD
from undust.jobs.sites import with_site
from undust.reading.formats.files import note_unknown, read_file
from undust.reading.formats.reading import SAMPLES_PER_REASON, Reading, ReadOptions
from undust.reading.formats.rows import batch_of, chosen
from undust.reading.observations import FileReport, Remark
from undust.reading.page import PagesSeen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from undust.engines.contract import File, Tell
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
        pages = PagesSeen(self.options.shingle_words, self.options.sketch_size)
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
