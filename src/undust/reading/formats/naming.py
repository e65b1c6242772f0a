"""Which names of columns mean the URL and the other columns of the one table; known without pyarrow.

The fields of a CDX line have names too, with its header of letters or without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LETTERS = {"a": "url", "b": "time", "s": "status", "k": "digest", "r": "redirect", "S": "size", "m": "mime"}
"""Our names for the letters of a CDX header; the others are of no use to us."""
NAMES = {
    "original": "url",
    "url": "url",
    "timestamp": "time",
    "statuscode": "status",
    "status": "status",
    "digest": "digest",
    "redirect": "redirect",
    "length": "size",
    "mimetype": "mime",
    "mime": "mime",
}
"""Our names for those that CDX servers and CDXJ use."""
LAYOUTS = {7: "N b a m s k S", 9: "N b a m s k r V g", 11: "N b a m s k r M S V g"}
"""What lines without a header hold, by their number of fields."""
MARK = b"CDX"


def separator_of(header: bytes) -> bytes:
    """Return what separates the fields of a CDX file, by its first line."""
    return b"\t" if b"\t" in header else b" "


def header_names(line: bytes) -> list[str] | None:
    """Return our names for the fields that a header line lists; None if it is not a header."""
    words = line.strip().split(separator_of(line))
    if words[0] == MARK:
        return [LETTERS.get(word.decode("latin-1"), "") for word in words[1:]]
    names = [NAMES.get(word.decode("latin-1").lower(), "") for word in words]
    is_header = b"timestamp" in words and (b"original" in words or b"url" in words)
    return names if is_header else None


METHOD = "method"
"""A raw column beside those of the one table, of logs that were converted to a table."""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "url": ("original", "uri", "link", "href", "loc", "address", "page_url", "request_url", "response_url"),
    "status": ("fetch_status", "statuscode", "status_code", "http_status"),
    "size": ("warc_record_length", "bytes", "body_bytes_sent", "content_length"),
    "digest": ("content_digest",),
    "redirect": ("fetch_redirect", "redirect_url"),
    "time": ("fetch_time", "timestamp"),
    METHOD: (),
}
"""Other names that mean one of ours: those of the Common Crawl index, of CDX servers, and common ones."""

URL_NAMES = ("url", *ALIASES["url"])

_LONGEST_NAME = 40


def named_in(header: Sequence[str], names: Sequence[str]) -> str | None:
    """Return the column of a header that has the first of some names, in whatever case."""
    lowered = {name.strip().lower(): name for name in reversed(header)}
    exact = [name for name in names if name in header]
    near = [lowered[name.lower()] for name in names if name.lower() in lowered]
    return next(iter([*exact, *near]), None)


def url_column(header: Sequence[str], said: str | None, url_like: Sequence[str], file_name: str) -> str:
    """Return the column that holds the URLs.

    Without a column whose name means URL, the only one in `url_like` is taken, whose values are URLs.

    Args:
        header: The names of all columns.
        said: The name that the person gave, if any.
        url_like: The columns in which all of some values are URLs.
        file_name: What an error calls the file.

    """
    found = named_in(header, URL_NAMES if said is None else [said])
    if found is not None:
        return found
    if said is not None:
        raise no_such_column(said, header, file_name)
    if len(url_like) == 1:
        return url_like[0]
    mend = "name the one that is with --column url=NAME"
    message = f"{file_name}: no column is called url; {mend} (its columns are {listed(header)})"
    raise SourceError(message)


def no_such_column(said: str, header: Sequence[str], file_name: str) -> SourceError:
    """Return the complaint about a column that a person named and that is not there."""
    return SourceError(f"{file_name}: there is no column '{said}'; its columns are {listed(header)}")


def listed(header: Sequence[str], at_most: int = 20) -> str:
    """Return the names of columns for a message."""
    shown = [
        "".join(char if char.isprintable() else "?" for char in name[:_LONGEST_NAME])
        for name in header[:at_most]
    ]
    return ", ".join(shown) + (", …" if len(header) > at_most else "")
