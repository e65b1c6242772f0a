"""From bytes on disk to observations: a file for each family of formats, and which of them reads a file.

Content decides, never the name alone: people rename files, and servers name them all `download`. The
modules in `SOURCES` know nothing of each other; all others here are what they share.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from undust.errors import UnknownFormat
from undust.reading.formats import recognising

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from undust.reading.formats.reading import Reading, ReadOptions

__all__ = ["HEAD_BYTES", "SOURCES", "Format", "format_of", "named_format"]

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
    if options and options.log_format:
        from undust.reading.formats import access_log  # noqa: PLC0415 -- loads pyarrow, which is slow

        if access_log.fits(head, options.log_format):
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
