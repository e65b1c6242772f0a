"""What a line of an access log in a stock format says: the slow twin of `cpp/log_lines.cpp`.

Written with regular expressions and the standard library, and for one line at a time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from undust.urls import Url

LINE = re.compile(rb'(.*?) \[(.*?)\] "(.*)', re.DOTALL)
ESCAPE = re.compile(rb'\\(?:x([0-9A-Fa-f]{2})|u00([0-9A-Fa-f]{2})|(["\\/bfnrtv]))')
LETTERS = dict(zip(b'"\\/bfnrtv', b'"\\/\b\f\n\r\t\v', strict=True))


class Row(NamedTuple):
    """A sighting."""

    url: str
    status: int | None
    size: int | None
    time: datetime | None


def read_line(line: bytes, base: str) -> Row | str:
    """Return the sighting in a line, or why there is none, in the words of the reader."""
    found = LINE.match(line)
    request, end = _request(found[3]) if found else (b"", None)
    if found is None or end is None:
        return "not in the format of the log"
    status_text, _, rest = end.partition(b" ")
    if status_text not in {b"-", b"_", b""} and not re.fullmatch(rb"0*[0-9]{1,3}", status_text):
        return "not in the format of the log"
    words = re.fullmatch(rb"([^ ]+) (.*?)(?: HTTP/[^ ]*)?", request, re.DOTALL)
    if not words or not words[2] or not re.fullmatch(rb"[A-Za-z_-]+", words[1]):
        return "without a request line"
    if words[1] not in {b"GET", b"HEAD"}:
        return "neither a GET nor a HEAD request"
    target = _unescaped(words[2])
    url = _text(target)
    if target.startswith(b"/"):
        url = base + url
    elif not re.match(rb"https?://", target, re.IGNORECASE) or Url.parse(target.decode("latin-1")) is None:
        return "the request is for neither a path nor an http(s) URL"
    status = int(status_text) if status_text.isdigit() and int(status_text) >= 100 else None
    size_text = rest.partition(b" ")[0]
    is_whole = words[1] == b"GET" and status not in {206, 304}
    size = int(size_text) if is_whole and re.fullmatch(rb"[0-9]{1,18}", size_text) else None
    return Row(url, status, size, _time(found[2]))


def _request(text: bytes) -> tuple[bytes, bytes | None]:
    """Return a request line and what follows the quote that ends it."""
    for quote in re.finditer(rb'" ', text):
        before = text[: quote.start()]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            return before, text[quote.end() :]
    return b"", None


def _unescaped(text: bytes) -> bytes:
    def byte(match: re.Match[bytes]) -> bytes:
        digits = match[1] or match[2]
        return bytes([int(digits, 16) if digits else LETTERS[match[3][0]]])

    return ESCAPE.sub(byte, text)


def _text(target: bytes) -> str:
    text = target.decode("utf-8", "surrogateescape")
    plain = re.sub("[\x00-\x20\x7f]", lambda match: f"%{ord(match[0]):02X}", text)
    return re.sub("[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", plain)


def _time(text: bytes) -> datetime | None:
    if not re.fullmatch(rb"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}", text):
        return None
    try:
        return datetime.strptime(text.decode(), "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
    except (ValueError, OverflowError):
        return None
