"""The input of the commands that do something to every URL: what it is, and which part of it is read.

What `learn` reads is read here too, and recognised by the same rules: lists, tables, and records (logs, web
archives, sitemaps), packed or plain, from files or from a pipe.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import SourceError, UndustError, UnknownFormat
from undust.files.streams import STANDARD, require_readable
from undust.reading.formats import OTHER_NAMES, SOURCES, format_of, named_format, recognising
from undust.reading.formats.files import LookedInto, find_files, look_into
from undust.reading.formats.recognising import url_column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.reading.formats import Format, ReadOptions

FORMATS = sorted([*(source.name for source in SOURCES), *OTHER_NAMES])
"""What can be asked for with `--format`."""
LISTS = "urls"
LOOKS_LIKE = {
    "access-log": ("an access log", "log"),
    "arc": ("an ARC file", "arc"),
    "cdx": ("a CDX file", "cdx"),
    "cdxj": ("a CDXJ file", "cdxj"),
    "csv": ("CSV", "csv"),
    "json": ("a JSON array", "json"),
    "jsonl": ("JSON lines", "jsonl"),
    "parquet": ("a Parquet file", "parquet"),
    "sitemap": ("a sitemap", "sitemap"),
    "tsv": ("TSV", "tsv"),
    "urls": ("a list of URLs", "lines"),
    "warc": ("a WARC file", "warc"),
}
"""What to call a format, and its name in `--format`."""
OUTPUTS = ("lines", "jsonl", "csv", "parquet")
"""What can be asked for with `--output-format`."""
NAMED_TABLES = (".csv", ".tsv", ".tab", ".parquet", ".parq")
"""Names of tables that are not whole without a header, so that an empty file is not one."""


class Fit(NamedTuple):
    """How well texts fit a format in which each should be a URL."""

    texts: int
    not_urls: int
    paths: int = 0
    """Of those that are not URLs, how many are paths that lack a host."""

    def since(self, before: Fit) -> Fit:
        """Return the same for the texts that came after `before`."""
        return Fit(*(after - first for after, first in zip(self, before, strict=True)))

    def is_bad(self, *, was_said: bool) -> bool:
        """Return whether this cannot be what the person meant.

        More than half of the texts are not URLs; if the person said what the input is, all of them.
        """
        least = self.texts if was_said else self.texts // 2 + 1
        return 0 < least <= self.not_urls


class UrlsInput(NamedTuple):
    """What the person said about the input."""

    format: str | None = None
    column: str | None = None
    base: str | None = None
    log_format: str | None = None

    @property
    def options(self) -> ReadOptions:
        """The same, as sources take it."""
        from undust.reading.formats import ReadOptions  # noqa: PLC0415 -- not for lists

        return ReadOptions(base=self.base, log_format=self.log_format, only_urls=True)

    def look(self, path: str) -> tuple[LookedInto, Format]:
        """Return a file and its format; a pipe of lines is waited for no longer than its first line."""
        waits = self.format is None and not _is_file(path)
        looked = look_into(path, enough=_has_line if self.format else _first_line_tells if waits else None)
        if self.format is None and not looked.head.strip() and looked.damage is None:
            return looked, _nothing(looked, self.column)
        if waits and (told := recognising.format_of_first_line(looked.head)):
            return looked, named_format(told)
        try:
            return looked, looked.source(self.format, self.options if self.log_format else None)
        except UnknownFormat as error:
            raise _not_a_list(looked, error) from None

    def choose(self, name: str) -> Callable[[Sequence[str], Sequence[str]], str]:
        """Return the function that finds the column of the URLs in a file."""
        return lambda header, url_like: url_column(header, self.column, url_like, name)

    def require_fit(self, looked: LookedInto, source: Format, fit: Fit, column: str | None = None) -> None:
        """Raise if most of what was read are not URLs, which is said with what the input looks like."""
        was_said = (self.format if column is None else self.column) is not None
        if not fit.is_bad(was_said=was_said):
            return
        what = "lines" if column is None else f"values of the column '{column}'"
        if fit.paths * 2 > fit.not_urls:
            mend = "they are paths; say whose they are: --base https://your.site"
        elif column is None:
            mend = self._mend(looked, source)
        else:
            mend = "name the column of the URLs with --column"
        message = f"{looked.name}: {fit.not_urls:,} of {fit.texts:,} {what} are not URLs; {mend}"
        raise SourceError(message)

    def require_records(self, looked: LookedInto, source: Format, read: int, skipped: int) -> None:
        """Raise if most records could not be read; if the person named the format, if none could."""
        if skipped and (not read if self.format else skipped > read):
            what = f"{skipped:,} of {read + skipped:,} records are not in the format {source.name}"
            message = f"{looked.name}: {what}; {self._mend(looked, source)}"
            raise SourceError(message)

    def _mend(self, looked: LookedInto, source: Format) -> str:
        try:
            likely = format_of(looked.head, looked.name)
        except UndustError:
            likely = source
        if likely.name != source.name:
            words, name = LOOKS_LIKE[likely.name]
            return f"this looks like {words}: give --format {name}"
        if source.name == LISTS and self.format is None:
            return "give --format lines to pass them on unchanged"
        return "say what it is with --format"


def is_url_text(text: str) -> bool:
    """Return whether a text starts as a URL does, so that it is not the name of a file."""
    return recognising.URL_START.match(text.encode("utf-8", "surrogateescape")) is not None


def named_files(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the files that a person means, in the order given: folders and patterns mean those in them."""
    files = tuple(file.path for path in paths for file in find_files([path]))
    if not files:
        message = f"{paths[0]}: there is no file in this folder; name one"
        raise SourceError(message)
    require_readable(files)
    return files


def _has_line(head: bytes) -> bool:
    return b"\n" in head


def _first_line_tells(head: bytes) -> bool:
    return recognising.format_of_first_line(head) is not None


def _is_file(path: str) -> bool:
    """Return whether all of an input is there already; of a pipe, more may come when an answer was given."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode if path == STANDARD else Path(path).stat().st_mode
    except (OSError, ValueError, AttributeError):
        return True
    return stat.S_ISREG(mode)


def _nothing(looked: LookedInto, column: str | None) -> Format:
    """Return how an empty file is read: as a list without lines."""
    if looked.path.lower().endswith(NAMED_TABLES):
        message = f"{looked.name}: no column '{column or 'url'}'; name one with --column (there are: none)"
        raise SourceError(message)
    return named_format(LISTS)


def _not_a_list(looked: LookedInto, error: UnknownFormat) -> SourceError:
    lines = recognising.head_lines(looked.head)
    bad = sum(recognising.URL_LINE.match(line) is None for line in lines)
    reason = str(error).removeprefix(f"{looked.name}: ")
    if not bad:
        return error
    return UnknownFormat(f"{looked.name}: {bad:,} of its first {len(lines):,} lines are not URLs; {reason}")
