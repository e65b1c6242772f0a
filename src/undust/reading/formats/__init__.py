"""From bytes on disk to observations: one file a family of formats, and which of them reads a file.

Content decides, never the name alone: people rename files, and servers name them all `download`. The
modules in `SOURCES` know nothing of each other; all others here are what they share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undust.errors import UnknownFormat
from undust.reading.formats import access_log, cdx, delimited, lists, tables, warc
from undust.reading.formats.reading import Reading, ReadOptions, Source

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HEAD_BYTES", "SOURCES", "Format", "ReadOptions", "Reading", "Source", "format_of", "named_format"]

HEAD_BYTES = 65_536
"""How much of a file, unpacked, is looked at to tell its format."""


class Format(NamedTuple):
    """A format that can be read."""

    name: str
    """As in `--format`."""
    recognises: Callable[[bytes, str], int]
    """From the first bytes and the name of a file to how sure it is that this is the format, 0 to 100."""
    read: Source
    unpacks_itself: bool = False
    """It gets the file packed as it is, so that damage in one member costs no other."""


SOURCES = (
    Format("access-log", access_log.recognises, access_log.read),
    Format("arc", warc.recognises_arc, warc.read_arc, unpacks_itself=True),
    Format("cdx", cdx.recognises_cdx, cdx.read_cdx),
    Format("cdxj", cdx.recognises_cdxj, cdx.read_cdxj),
    Format("csv", delimited.recognises_csv, delimited.read_csv),
    Format("json", tables.recognises_json, tables.read_json),
    Format("jsonl", tables.recognises_jsonl, tables.read_jsonl),
    Format("parquet", tables.recognises_parquet, tables.read_parquet),
    Format("sitemap", lists.recognises_sitemap, lists.read_sitemap),
    Format("tsv", delimited.recognises_tsv, delimited.read_tsv),
    Format("urls", lists.recognises_urls, lists.read_urls),
    Format("warc", warc.recognises_warc, warc.read_warc, unpacks_itself=True),
)
"""All formats, by name."""


def named_format(name: str) -> Format:
    """Return a format by its name in `--format`."""
    for source in SOURCES:
        if source.name == name:
            return source
    known = ", ".join(source.name for source in SOURCES)
    message = f"there is no format '{name}'; undust reads {known}"
    raise UnknownFormat(message)


def format_of(head: bytes, name: str, options: ReadOptions) -> Format:
    """Return the format of a file, by its first bytes; raise if none or more than one fits."""
    if options.log_format and access_log.fits(head, options.log_format):
        return named_format("access-log")
    scores = {source: source.recognises(head, name) for source in SOURCES}
    best = max(scores.values())
    fitting = [source for source, score in scores.items() if score == best > 0]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        message = f"{name}: {_what_it_is(head)}; say what it is with --format"
        raise UnknownFormat(message)
    names = " or ".join(source.name for source in fitting)
    message = f"{name}: it could be {names}; say which with --format"
    raise UnknownFormat(message)


def _what_it_is(head: bytes) -> str:
    if not head.strip():
        return "it holds nothing by which to tell its format"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is text in UTF-16, and undust reads UTF-8; convert it with 'iconv -f UTF-16 -t UTF-8'"
    return "its format is none that undust knows"
