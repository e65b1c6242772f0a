"""The index of a web archive with new keys: captures of one page are together.

A line of an index starts with the key by which it is found; the captured URL follows it. Here
the key is replaced with the SURT of the URL's key under a rule set, and all else stays. So an archive answers
a request for the canonical URL with every capture of the page, whichever of its URLs was captured.

A key that is not the SURT of the URL on its line holds more than the URL, such as the body of a POST request.
It stays as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from undust.errors import SourceError
from undust.files.streams import Holds, line_chunks, read_blocks
from undust.files.temporary import sorted_lines
from undust.urls.url import normalize, surt_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.rules import Canonicalizer

_CDXJ = re.compile(rb"([^ ]+) ([0-9]{4,17}) (\{.*\})\s*")
_HEADER = re.compile(rb" ?CDX([ \t])")
_LETTER_OF_KEY, _LETTER_OF_URL = b"N", b"a"
_WITHOUT_HEADER = {7: 2, 9: 2, 11: 2}
"""By the number of fields of a CDX line without a header: where the URL is."""


@dataclass
class Rekeyed:
    """What happened to the lines of indexes."""

    lines: int = 0
    changed: int = 0
    """Lines with another key than before."""
    kept: int = 0
    """Lines whose key is not the SURT of their URL, and stays."""
    skipped: int = 0
    """Lines that are not captures, and are left out."""


@dataclass(frozen=True)
class _Layout:
    """Where the fields of a CDX line are."""

    separator: bytes = b" "
    url: int | None = None
    """None: as the number of fields says."""
    key: int = 0


def rekeyed_lines(
    canonicalizer: Canonicalizer, paths: Sequence[str], counts: Rekeyed, *, only_changed: bool = False
) -> Iterator[bytes]:
    """Yield the lines of indexes (CDX or CDXJ) with keys of canonical URLs, sorted; a header comes first."""
    headers: list[bytes] = []
    captures = chain.from_iterable(_captures(path, headers, counts) for path in paths)
    lines = _with_keys(canonicalizer, captures, counts, only_changed=only_changed)
    ordered = sorted_lines(lines)
    first = next(ordered, None)  # by then all of the input was read
    if len(set(headers)) > 1:
        message = "the indexes have different headers; re-key them one by one"
        raise SourceError(message)
    yield from headers[:1]
    if first is not None:
        yield first
        yield from ordered


def _captures(path: str, headers: list[bytes], counts: Rekeyed) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield of each capture its URL, its key, and the line after the key."""
    layout = _Layout()
    is_first = True
    for line in _lines(path, counts):
        counts.lines += 1
        if is_first and (header := _HEADER.match(line)):
            headers.append(line)
            layout = _layout_of(path, line, header[1])
            counts.lines -= 1
        elif (capture := _capture(line, layout)) is not None:
            yield capture
        else:
            counts.skipped += 1
        is_first = False


def _lines(path: str, counts: Rekeyed) -> Iterator[bytes]:
    for chunk in line_chunks(read_blocks(path)):
        if chunk.holds is Holds.LINES:
            yield from (line.rstrip(b"\r") + b"\n" for line in chunk.data.removesuffix(b"\n").split(b"\n"))
        elif chunk.holds is Holds.LONG_LINE:
            counts.lines += 1
            counts.skipped += 1


def _layout_of(path: str, line: bytes, separator: bytes) -> _Layout:
    letters = line.strip().split(separator)[1:]
    if _LETTER_OF_URL not in letters or letters[:1] != [_LETTER_OF_KEY]:
        message = (
            f"{path}: its header names no key ('N') in the first place, or no URL ('a'); fix the first line"
        )
        raise SourceError(message)
    return _Layout(separator, letters.index(_LETTER_OF_URL))


def _capture(line: bytes, layout: _Layout) -> tuple[bytes, bytes, bytes] | None:
    if cdxj := _CDXJ.fullmatch(line):
        try:
            url = json.loads(cdxj[3]).get("url")
        except (ValueError, RecursionError):
            return None
        if not isinstance(url, str):
            return None
        return url.encode("utf-8", "surrogatepass"), cdxj[1], line[len(cdxj[1]) :]
    fields = line.rstrip(b"\n").split(layout.separator)
    place = _WITHOUT_HEADER.get(len(fields)) if layout.url is None else layout.url
    if place is None or place >= len(fields):
        return None
    return fields[place], fields[0], line[len(fields[0]) :]


def _with_keys(
    canonicalizer: Canonicalizer,
    captures: Iterator[tuple[bytes, bytes, bytes]],
    counts: Rekeyed,
    *,
    only_changed: bool,
) -> Iterator[bytes]:
    for url, key, rest in captures:
        text = url.decode("utf-8", "surrogateescape")
        is_own = surt_of(normalize(text)).encode("utf-8", "surrogateescape") == key
        new = surt_of(canonicalizer.key(text)).encode("utf-8", "surrogateescape") if is_own else key
        counts.kept += not is_own
        counts.changed += new != key
        if new != key or not only_changed:
            yield new + rest
