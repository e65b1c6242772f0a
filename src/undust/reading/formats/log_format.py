r"""The words in which servers describe their logs, compiled for the core.

    %h %l %u %t "%r" %>s %b                                    Apache, LogFormat
    $remote_addr [$time_local] "$request" $status              nginx, log_format

A part of a line ends where the text before the next part begins. Two parts with nothing between them
can be separated in two cases: a host before a path, and a path before its query.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from undust.errors import SourceError


class Field(IntEnum):
    """What a part of a line says; the numbers are those of the core's `LogField`."""

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
        """Whether lines say which host was asked."""
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
"""The same behind the name of the virtual host, with or without its port."""


def compiled(text: str) -> LineFormat:
    """Return the format that a `LogFormat` or `log_format` string describes.

    >>> compiled('$host "$request" $status').parts[1]
    LogFormatPart(field=<Field.REQUEST: 1>, until='" ', keeps_until=False, may_be_last=False)
    """
    # A string copied out of a configuration has its quotes behind backslashes.
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
    """Join neighbouring texts, and a target with the query right behind it."""
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
