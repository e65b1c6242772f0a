"""From bytes on disk to observations: a file for each family of formats, and which of them reads a file.

Content decides, never the name alone: people rename files, and servers name them all `download`. The
modules in `SOURCES` know nothing of each other; all others here are what they share.

A `Reading` has the user's options for the input, and what happened while one file of it was read. Nothing is
removed silently. Three things can happen to a record that is not simply read, and each is
counted under a reason, with the place and a few samples:

* it is damaged and skipped; `strict` makes the first such one an error instead;
* it is whole and passed over, because it is not a sighting of a page: a POST in a log, a `dns:` record;
* it is kept without one of its values, which could not be read; `strict` objects to that too, unless the
  value is as its author wrote it and only not to be believed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from undust.errors import DamagedSource, SourceError, UnknownFormat
from undust.reading.formats import recognising
from undust.urls.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from undust.reading.observations import Fate, FileReport, Statement
    from undust.reading.page import PagesSeen


SAMPLES_PER_REASON = 3
SAMPLE_BYTES = 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The user's options; the same for every file of a job."""

    base: str | None = None
    """Scheme and host for paths in logs that name no host: `https://shop.test`."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Our column name to the name in the person's table: {"url": "address"}."""
    log_format: str | None = None
    """An Apache `LogFormat` or nginx `log_format` string, for logs of one's own making."""
    strict: bool = False
    """Stop at the first record that cannot be read."""
    shingle_words: int = 5
    """Words in a shingle of the sketch; 10 as published."""
    sketch_size: int = 32
    """Minima in a sketch; 4 as published."""
    only_urls: bool = False
    """Only URLs are needed, so the pages of archives are not unpacked or read."""

    def base_url(self) -> str | None:
        """Return the base of paths, if the user gave it."""
        if self.base is None:
            return None
        url = Url.parse(self.base)
        if url is None or not self.base.isprintable():
            message = f"'{self.base}' is not a base for URLs; it has to look like https://your.site"
            raise SourceError(message)
        port = "" if url.port in {None, ""} else f":{url.port}"
        return f"{url.scheme.lower()}://{url.host}{port}{url.path.rstrip('/')}"


@dataclass(slots=True)
class SkippedRecords:
    """Records of one reason: how many, and a few of them with their place."""

    count: int = 0
    samples: list[tuple[str, bytes]] = field(default_factory=list)

    def add(self, place: str, sample: bytes, count: int) -> None:
        """Count records; the first few of all keep their place and their first bytes."""
        self.count += count
        if len(self.samples) < SAMPLES_PER_REASON:
            self.samples.append((place, sample[:SAMPLE_BYTES]))


@dataclass(slots=True)
class Reading:
    """One file being read."""

    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    format: str = ""
    """The name of the source that reads it."""
    rows: int = 0
    skipped: dict[str, SkippedRecords] = field(default_factory=dict)
    """Damaged records, by what is wrong with them."""
    passed_over: dict[str, SkippedRecords] = field(default_factory=dict)
    """Whole records that are not a sighting of a page, by reason."""
    lost: dict[str, SkippedRecords] = field(default_factory=dict)
    """Values that could not be read in records that were kept, by what is wrong with them."""
    statements: dict[Statement, None] = field(default_factory=dict)
    """What sites declare about their parameters, each once, in the order in which it was met."""
    seen: Callable[[], PagesSeen] | None = None
    """Gives what the pages of the whole job taught so far; None if this is the only file of it."""
    crawlers: list[pa.Array] | None = None
    """The client of each request, for each batch of a log; None if not needed."""

    def skip(self, reason: str, place: str, sample: bytes = b"", count: int = 1) -> None:
        """Count a record that cannot be read; `place` is "line 7" or "offset 1234"."""
        self._object(reason, place)
        self.skipped.setdefault(reason, SkippedRecords()).add(place, sample, count)

    def pass_over(self, reason: str, place: str, sample: bytes = b"", count: int = 1) -> None:
        """Count a record that is in order and no sighting of a page."""
        self.passed_over.setdefault(reason, SkippedRecords()).add(place, sample, count)

    def lose(self, reason: str, place: str, sample: bytes = b"", count: int = 1) -> None:
        """Count a value that cannot be read, of a record that is kept without it."""
        self._object(reason, place)
        self.lost.setdefault(reason, SkippedRecords()).add(place, sample, count)

    def doubt(self, reason: str, place: str, sample: bytes = b"") -> None:
        """Count an implausible value of a record that is kept without it."""
        self.lost.setdefault(reason, SkippedRecords()).add(place, sample, 1)

    def report(self) -> FileReport:
        """Return what was read of the file, and what was not."""
        from undust.reading.observations import FileReport, Remark  # noqa: PLC0415 -- slow to load, and not for lists

        fates: dict[Fate, dict[str, SkippedRecords]] = {
            "skipped": self.skipped,
            "passed over": self.passed_over,
            "lost": self.lost,
        }
        remarks = (
            Remark(fate, reason, records.count, tuple(records.samples))
            for fate, reasons in fates.items()
            for reason, records in sorted(reasons.items())
        )
        return FileReport(self.name, self.format, self.rows, tuple(remarks))

    def _object(self, reason: str, place: str) -> None:
        if self.options.strict:
            message = f"{self.name}: {place}: {reason}; leave out --strict to go on without it"
            raise DamagedSource(message)


HEAD_BYTES = 65_536
"""How much of a file, unpacked, is looked at to recognise its format."""


class Format(NamedTuple):
    """A format that can be read."""

    name: str
    """As in `--format`."""
    recognises: Callable[[bytes, str], int]
    """From the first bytes and the name of a file to how sure it is that this is the format, 0 to 100."""
    module: str
    """The module of this package that reads it, which is loaded when it is used."""
    reader: str
    """The function of that module: decompressed bytes in, batches of `observations.SCHEMA` out."""
    unpacks_itself: bool = False
    """It gets the file packed as it is, so that damage in one member costs no other."""
    is_table: bool = False
    """It has columns, so that the same table can be written with a column more."""

    def read(self, file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
        """Give the observations of a file."""
        read = getattr(import_module(f"undust.reading.formats.{self.module}"), self.reader)
        batches: Iterator[pa.RecordBatch] = read(file, reading)
        return batches


SOURCES = (
    Format("access-log", recognising.access_log, "access_log", "read"),
    Format("arc", recognising.arc, "warc", "read_arc", unpacks_itself=True),
    Format("cdx", recognising.cdx, "lists", "read_cdx", is_table=True),
    Format("cdxj", recognising.cdxj, "lists", "read_cdxj", is_table=True),
    Format("csv", recognising.csv, "tables", "read_csv", is_table=True),
    Format("json", recognising.json, "tables", "read_json", is_table=True),
    Format("jsonl", recognising.jsonl, "tables", "read_jsonl", is_table=True),
    Format("links", recognising.nothing, "warc", "read_links", unpacks_itself=True),
    Format("parquet", recognising.parquet, "tables", "read_parquet", is_table=True),
    Format("sitemap", recognising.sitemap, "lists", "read_sitemap"),
    Format("tsv", recognising.tsv, "tables", "read_tsv", is_table=True),
    Format("urls", recognising.urls, "lists", "read_urls"),
    Format("warc", recognising.warc, "warc", "read_warc", unpacks_itself=True),
)
"""All formats, by name."""

OTHER_NAMES = {"lines": "urls", "log": "access-log"}
"""Further names that `--format` accepts."""


def named_format(name: str) -> Format:
    """Return a format by its name in `--format`."""
    for source in SOURCES:
        if source.name == OTHER_NAMES.get(name, name):
            return source
    known = ", ".join(source.name for source in SOURCES)
    message = f"there is no format '{name}'; undust reads {known}"
    raise UnknownFormat(message)


def format_of(head: bytes, name: str, options: ReadOptions | None = None) -> Format:
    """Return the format of a file, by its first bytes; raise if none or more than one fits."""
    if options and options.log_format and _fits_log(head, options.log_format):
        return named_format("access-log")
    if recognising.is_surely_list(head):
        return named_format("urls")
    scores = {source: source.recognises(head, name) for source in SOURCES}
    best = max(scores.values())
    fitting = [source for source, score in scores.items() if score == best > 0]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        message = f"{name}: {recognising.what_it_is(head)}"
        raise UnknownFormat(message)
    names = " or ".join(source.name for source in fitting)
    message = f"{name}: it could be {names}; say which with --format"
    raise UnknownFormat(message)


def _fits_log(head: bytes, log_format: str) -> bool:
    # Loaded by its name, for it imports this module; it loads pyarrow, which is slow.
    return bool(import_module("undust.reading.formats.access_log").fits(head, log_format))
