"""Which column of a person's table is which of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import SourceError
from undust.reading.formats.rows import METHOD
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from undust.reading.formats.reading import Reading

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

_LONGEST_NAME = 40

OUR_NAMES = (*SCHEMA.names, METHOD)


def candidates(reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return, for each of our columns, the names it may have in the person's table, the best first."""
    for ours in reading.options.columns:
        if ours not in SCHEMA.names:
            message = f"there is no column '{ours}'; undust knows {', '.join(SCHEMA.names)}"
            raise SourceError(message)
    said = {ours: (theirs,) for ours, theirs in reading.options.columns.items()}
    return {ours: said.get(ours, (ours, *ALIASES.get(ours, ()))) for ours in OUR_NAMES}


def chosen(header: Sequence[str], reading: Reading, url_like: Sequence[str] = ()) -> dict[str, str]:
    """Return our names for the columns that a header lists, as ours to theirs.

    Without a column whose name means URL, the only one in `url_like` is taken, whose values are URLs.
    """
    lowered = {name.strip().lower(): name for name in reversed(header)}
    found: dict[str, str] = {}
    for ours, names in candidates(reading).items():
        exact = [name for name in names if name in header]
        near = [lowered[name.lower()] for name in names if name.lower() in lowered]
        if exact or near:
            found[ours] = (exact or near)[0]
        elif ours in reading.options.columns:
            message = f"{reading.name}: there is no column '{names[0]}'; its columns are {_listed(header)}"
            raise SourceError(message)
    if "url" not in found and len(url_like) == 1:
        found["url"] = url_like[0]
    if "url" not in found:
        mend = "name the one that is with --column url=NAME"
        message = f"{reading.name}: no column is called url; {mend} (its columns are {_listed(header)})"
        raise SourceError(message)
    return found


def _listed(header: Sequence[str], at_most: int = 20) -> str:
    shown = [
        "".join(char if char.isprintable() else "?" for char in name[:_LONGEST_NAME])
        for name in header[:at_most]
    ]
    return ", ".join(shown) + (", …" if len(header) > at_most else "")
