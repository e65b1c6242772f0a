"""What the fields of a CDX line are called, with its header of letters or without."""

from __future__ import annotations

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
