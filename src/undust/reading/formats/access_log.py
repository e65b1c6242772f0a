"""Access logs of nginx, Apache and servers with similar logs.

A line is a sighting if it is a GET or HEAD with a request line that can be read. A log names paths;
the host comes from the line, if the log has one in it, or from the person (`--base`).

The words in which servers describe their logs are compiled for the core:

    %h %l %u %t "%r" %>s %b                                    Apache, LogFormat
    $remote_addr [$time_local] "$request" $status              nginx, log_format

A part of a line ends where the text before the next part begins. Two parts with nothing between them
can be separated in two cases: a host before a path, and a path before its query.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import LogFormat
from undust.errors import SourceError
from undust.reading.formats import Reading
from undust.reading.formats.recognising import LOG_LINE, head_lines
from undust.reading.formats.rows import (
    NO_HOST,
    OTHER_METHOD,
    Lines,
    base_of,
    finished,
    no_base,
    shown_rows,
    whole_lines,
)
from undust.urls import Url

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Field(IntEnum):
    """The meaning of a part of a line; the numbers are those of the core's `LogField`."""

    OTHER = 0
    REQUEST = 1
    METHOD = 2
    TARGET = 3
    QUERY = 4
    HOST = 5
    PORT = 6
    SCHEME = 7
    STATUS = 8
    SIZE = 9
    REDIRECT = 10
    CLF_TIME = 11
    ISO_TIME = 12
    SECONDS = 13
    MILLISECONDS = 14
    MICROSECONDS = 15


class LogFormatPart(NamedTuple):
    """A field and what follows it; the fields of the core's `LogPart`."""

    field: int
    until: str
    keeps_until: bool = False
    may_be_last: bool = False


class LineFormat(NamedTuple):
    """How the lines of a log are written."""

    before: str
    parts: list[LogFormatPart]

    @property
    def names_host(self) -> bool:
        """Whether lines name the requested host."""
        return any(part.field == Field.HOST for part in self.parts)


_APACHE = {
    "r": Field.REQUEST,
    "m": Field.METHOD,
    "U": Field.TARGET,
    "q": Field.QUERY,
    "v": Field.HOST,
    "V": Field.HOST,
    "p": Field.PORT,
    "s": Field.STATUS,
    "b": Field.SIZE,
    "B": Field.SIZE,
    "O": Field.SIZE,
    "t": Field.CLF_TIME,
    "{host}i": Field.HOST,
    "{x-forwarded-host}i": Field.HOST,
    "{x-forwarded-proto}i": Field.SCHEME,
    "{location}o": Field.REDIRECT,
    "{sec}t": Field.SECONDS,
    "{%s}t": Field.SECONDS,
    "{msec}t": Field.MILLISECONDS,
    "{usec}t": Field.MICROSECONDS,
}
_NGINX = {
    "request": Field.REQUEST,
    "request_method": Field.METHOD,
    "request_uri": Field.TARGET,
    "uri": Field.TARGET,
    "document_uri": Field.TARGET,
    "args": Field.QUERY,
    "query_string": Field.QUERY,
    "is_args": Field.QUERY,
    "host": Field.HOST,
    "http_host": Field.HOST,
    "server_name": Field.HOST,
    "http_x_forwarded_host": Field.HOST,
    "server_port": Field.PORT,
    "scheme": Field.SCHEME,
    "http_x_forwarded_proto": Field.SCHEME,
    "status": Field.STATUS,
    "body_bytes_sent": Field.SIZE,
    "bytes_sent": Field.SIZE,
    "time_local": Field.CLF_TIME,
    "time_iso8601": Field.ISO_TIME,
    "msec": Field.SECONDS,
    "sent_http_location": Field.REDIRECT,
}
"""What each word means to us; all others are parts that are read over."""

_APACHE_WORD = re.compile(r"%(?:%|[!,\d]*[<>]?((?:\{[^}]*\})?\^?[A-Za-z]{1,2}(?<=[A-Za-z])))")
_NGINX_WORD = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_TWO_LETTERS = {"ti", "to"}

_AFTER_ADDRESS = (
    LogFormatPart(Field.OTHER, " ["),
    LogFormatPart(Field.CLF_TIME, '] "'),
    LogFormatPart(Field.REQUEST, '" '),
    LogFormatPart(Field.STATUS, " ", may_be_last=True),
    LogFormatPart(Field.SIZE, " ", may_be_last=True),
    LogFormatPart(Field.OTHER, ""),
)
COMMON = LineFormat("", list(_AFTER_ADDRESS))
"""Address, identity, user, time, request, status, size; then anything, as in the combined format."""
VHOST = LineFormat("", [LogFormatPart(Field.HOST, " "), *_AFTER_ADDRESS])
"""The same after the name of the virtual host, with or without its port."""


def compiled(text: str) -> LineFormat:
    """Return the format that a `LogFormat` or `log_format` string describes.

    >>> compiled('$host "$request" $status').parts[1]
    LogFormatPart(field=<Field.REQUEST: 1>, until='" ', keeps_until=False, may_be_last=False)
    """
    # A string copied out of a configuration has its quotes escaped.
    plain = text.strip().replace('\\"', '"')
    is_nginx = _NGINX_WORD.search(plain) is not None
    pieces = _nginx_pieces(plain) if is_nginx else _apache_pieces(plain)
    merged = _merged(pieces)
    fields = {piece for piece in merged if isinstance(piece, Field)}
    if not fields & {Field.REQUEST, Field.TARGET}:
        words = "$request or $request_uri" if is_nginx else "%r or %U"
        message = f"the log format '{text}' does not say what was asked for; it needs {words}"
        raise SourceError(message)
    before = merged.pop(0) if isinstance(merged[0], str) else ""
    parts = []
    for at, piece in enumerate(merged):
        if isinstance(piece, str):
            continue
        following = merged[at + 1] if at + 1 < len(merged) else ""
        if isinstance(following, Field):
            parts.append(_before_field(piece, following, text))
        else:
            parts.append(LogFormatPart(piece, following))
    return LineFormat(str(before), parts)


def _before_field(piece: Field, following: Field, text: str) -> LogFormatPart:
    if piece is Field.HOST and following is Field.TARGET:
        return LogFormatPart(piece, "/", keeps_until=True)
    message = (
        f"the log format '{text}' has two parts with nothing between them; the end of the first is unknown"
    )
    raise SourceError(message)


def _merged(pieces: list[str | Field]) -> list[str | Field]:
    """Join neighbouring texts, and a target with the query right after it."""
    merged: list[str | Field] = []
    for piece in (piece for piece in pieces if piece != ""):
        last = merged[-1] if merged else None
        if isinstance(piece, str) and isinstance(last, str):
            merged[-1] = last + piece
        elif piece is not Field.QUERY or last not in {Field.TARGET, Field.QUERY}:
            merged.append(piece)
    return merged


def _apache_pieces(text: str) -> list[str | Field]:
    pieces: list[str | Field] = []
    done = 0
    for word in _APACHE_WORD.finditer(text):
        if word.start() < done:
            continue
        pieces.append(text[done : word.start()])
        done = word.end()
        name = word[1]
        if name is None:
            pieces.append("%")
            continue
        letters = re.sub(r"^\{[^}]*\}", "", name)
        if len(letters) > 1 and letters.lstrip("^") not in _TWO_LETTERS:
            done -= 1
            name = name[:-1]
        field = _APACHE.get(name if "{" not in name else name.lower(), Field.OTHER)
        pieces += ["[", field, "]"] if name == "t" else [field]
    return [*pieces, text[done:]]


def _nginx_pieces(text: str) -> list[str | Field]:
    pieces: list[str | Field] = []
    done = 0
    for word in _NGINX_WORD.finditer(text):
        pieces += [text[done : word.start()], _NGINX.get(word[1] or word[2], Field.OTHER)]
        done = word.end()
    return [*pieces, text[done:]]


NO_FIT = "not in the format of the log"
NO_REQUEST = "without a request line"
ODD_TARGET = "the request is for neither a path nor an http(s) URL"
LOST_TIME = "time is in no form that is known"
LOST_SIZE = "size is not a whole number"
COLUMNS = ("url", "status", "size", "time", "redirect")
"""What the core reads out of a line, in its order."""
EVENTS = (NO_FIT, NO_REQUEST, OTHER_METHOD, ODD_TARGET, NO_HOST, LOST_TIME, LOST_SIZE)
"""The core's `LogEvent` in words."""


def fits(head: bytes, log_format: str) -> bool:
    """Return whether most of the first lines have a format that the person described."""
    lines = head_lines(head)
    described = compiled(log_format)
    reader = LogFormat(described.before, list(described.parts), "http://host", "", "")
    events = pa.array(reader.read(b"\n".join(lines))[len(COLUMNS)])
    return (
        len(lines) > 2 * pc.sum(pc.equal(events, EVENTS.index(NO_FIT))).as_py()
        if len(events)
        else bool(lines)
    )


def read(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the sightings of a log."""
    custom = compiled(reading.options.log_format) if reading.options.log_format else None
    reader: LogFormat | None = None
    names_host = False
    for lines in whole_lines(file, reading):
        if reader is None:
            log_format = custom or _guessed(lines.data)
            names_host = log_format.names_host
            reader = LogFormat(log_format.before, list(log_format.parts), *_base(reading))
        *columns, _ = reader.read(lines.data)
        arrays = [pa.array(column) for column in columns]
        _note_events(arrays[len(COLUMNS) :], lines, reading, names_host=names_host)
        if reading.crawlers is not None:
            reading.crawlers.append(_crawlers(lines, arrays))
        yield finished(dict(zip(COLUMNS, arrays, strict=False)))


def _crawlers(lines: Lines, arrays: list[pa.Array]) -> pa.Array:
    """Return the client of each line that is a sighting."""
    kinds, numbers = arrays[len(COLUMNS) : len(COLUMNS) + 2]
    lost = pa.array([EVENTS.index(reason) for reason in (LOST_TIME, LOST_SIZE)], kinds.type)
    skipped = numbers.filter(pc.invert(pc.is_in(kinds, lost))).to_pylist()
    return crawlers_of_lines(lines.column(), skipped, len(arrays[0]))


def _guessed(data: bytes) -> LineFormat:
    """Return the stock format that most of the first lines have."""
    with_host = without = 0
    for line in head_lines(data[:65536] + b"\n"):
        match = re.match(LOG_LINE, line)
        # The identity, which servers no longer use, is the second word, or the third after a host.
        if match and match["second"] == b"-":
            without += 1
        elif match and match["third"] == b"-":
            with_host += 1
    return VHOST if with_host > without else COMMON


def _base(reading: Reading) -> tuple[str, str, str]:
    """Return the base of paths, and the scheme and port that hosts in the log get from it."""
    base = base_of(reading)
    url = Url.parse(base) if base else None
    return ("", "", "") if url is None else (base or "", url.scheme, url.port or "")


def _note_events(events: list[pa.Array], lines: Lines, reading: Reading, *, names_host: bool) -> None:
    kinds, numbers, offsets, lengths = events
    for kind in sorted(pc.unique(kinds).to_pylist()):
        reason = EVENTS[kind]
        if reason == NO_HOST and not names_host:
            raise no_base(reading)
        note = _NOTES.get(reason, Reading.pass_over)
        for row, count in shown_rows(pc.indices_nonzero(pc.equal(kinds, kind))):
            start, length = offsets[row].as_py(), lengths[row].as_py()
            note(
                reading, reason, lines.place(numbers[row].as_py()), lines.data[start : start + length], count
            )


_NOTES = {NO_FIT: Reading.skip, LOST_TIME: Reading.lose, LOST_SIZE: Reading.lose}
"""How events that are damage are counted; all others are records that are not sightings."""


CRAWLERS = (
    *(
        "Googlebot",
        "bingbot",
        "YandexBot",
        "Baiduspider",
        "Applebot",
        "DuckDuckBot",
        "GPTBot",
        "OAI-SearchBot",
    ),
    *(
        "ClaudeBot",
        "PerplexityBot",
        "CCBot",
        "Bytespider",
        "Amazonbot",
        "PetalBot",
        "AhrefsBot",
        "SemrushBot",
    ),
    *("MJ12bot", "DotBot", "facebookexternalhit", "meta-externalagent", "archive.org_bot", "SeznamBot"),
)
"""Programs that are distinguished; any client can call itself so."""
OTHER_CRAWLERS, PEOPLE = "other crawlers", "people and others"
_LAST_QUOTED = r'"(?P<agent>[^"]*)"[ \t]*\r?$'
_CRAWLS = r"(?i)bot\b|bot[/;-]|crawl|spider|slurp|fetcher|archiver"


def crawler_of(agents: pa.Array) -> pa.Array:
    """Return the client behind each User-Agent; null without one.

    >>> crawler_of(pa.array(["Mozilla/5.0 (compatible; Googlebot/2.1)", "my-crawler/1", "Mozilla/5.0", None]))
    <pyarrow.lib.StringArray object at ...>
    [
      "Googlebot",
      "other crawlers",
      "people and others",
      null
    ]
    """
    texts = agents.cast(pa.string())
    known = np.full(len(texts), -1, np.int64)
    for place, name in reversed(list(enumerate(CRAWLERS))):
        hits = pc.fill_null(pc.match_substring(texts, name, ignore_case=True), fill_value=False)
        known[np.asarray(hits, np.bool_)] = place
    is_crawler = np.asarray(
        pc.fill_null(pc.match_substring_regex(texts, _CRAWLS), fill_value=False), np.bool_
    )
    names = pa.array([*CRAWLERS, OTHER_CRAWLERS, PEOPLE], pa.string())
    others = np.where(is_crawler, len(CRAWLERS), len(CRAWLERS) + 1)
    found = names.take(pa.array(np.where(known >= 0, known, others)))
    is_told = pc.and_(pc.is_valid(texts), pc.not_equal(pc.fill_null(texts, "-"), "-"))
    return pc.if_else(is_told, found, pa.scalar(None, pa.string()))


def crawlers_of_lines(lines: pa.Array, skipped: Sequence[int], rows: int) -> pa.Array:
    """Return the client of each line of a log that was read: its last part in quotes, as servers write it.

    Args:
        lines: All of them, as bytes.
        skipped: The numbers of those that gave no row.
        rows: How many rows they gave; where that does not come out, no client is counted.

    """
    kept = np.asarray(pc.greater(pc.binary_length(lines), 0), np.bool_).copy()
    kept[np.asarray(skipped, np.int64)] = False
    if int(kept.sum()) != rows:
        return pa.nulls(rows, pa.string())
    texts = [line.decode("utf-8", "replace") for line in lines.filter(pa.array(kept)).to_pylist()]
    found = pc.extract_regex(pa.array(texts, pa.string()), _LAST_QUOTED)
    return crawler_of(pc.struct_field(found, "agent"))
