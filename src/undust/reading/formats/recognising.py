"""Which format a file has, by its first bytes and its name, and which of its columns mean what.

A function named after a format returns how sure it is, from 0 to 100, that a file has this format. The names
of columns that mean the URL, the time and so on are here too, and those of the fields of a CDX line. Nothing
here needs pyarrow, so that a command that passes lines on starts at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


UTF8_MARK = b"\xef\xbb\xbf"
TAB = b"\t"
DELIMITERS = (b",", b";", b"|")
"""Those of CSV: a file uses the one that its header has most of."""
PARQUET_MARK = b"PAR1"
WARC_START = rb"WARC/[01]\.\d\d?\r?\n"
ARC_START = rb"[a-zA-Z][a-zA-Z0-9+.-]{1,20}:[^\s]{1,4000} [^\s]{0,50} ?\d{14} [^\n]{1,4000} \d+\r?\n"
LOG_LINE = rb'\S+ (?P<second>\S+) (?P<third>\S+) [^\[]*\[[^\]]{10,40}\] ".*" (?:\d{3}|-)(?: |$)'
URL_LINE = re.compile(rb"\s*https?:/?/?\S++\s*+$", re.IGNORECASE)
"""A line that is a URL and nothing else; white space within it separates fields or lines."""
URL_START = re.compile(rb'"?\s*https?://', re.IGNORECASE)
"""How a value of a table begins that is a URL."""
_CDX_LINE = rb"\S+ \d{4,17} \S+ \S+ (?:\d{3}|-) \S+ "
_CDXJ_LINE = rb"\S+ \d{4,17} \{"
_SITEMAP_ROOT = rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]"
_STATUS = rb"20[0146]|30[0-478]|40[0-46]|410|429|50[0-4]"
_CELL = rb'|https?://.*|".*|%b|\d{4}-\d\d-\d\d.*|\d{14}|(?:text|image|application)/[\w.+-]+' % _STATUS
"""What follows a URL in a row, and hardly in a URL: nothing, a URL, a quote, a status, a time, a type."""
_PACKED = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
"""How files begin that are packed in a way that is not unpacked here."""
_CONTROL = rb"[\x00-\x08\x0e-\x1f\x7f]"
_SEPARATOR = rb"[\s,;|\"{\[<]"
"""These are compiled when they are used, which a list of URLs does not wait for."""


def head_lines(head: bytes, at_most: int = 200) -> list[bytes]:
    """Return the first lines of a file; without one that the end of `head` cuts off."""
    lines = head.removeprefix(UTF8_MARK).split(b"\n", at_most)
    if len(lines) > 1:
        lines.pop()
    return [line.rstrip(b"\r") for line in lines if line.strip()]


def access_log(head: bytes, name: str) -> int:  # noqa: ARG001 -- all have one signature
    """Return how sure it is that these are the first bytes of an access log."""
    lines = head_lines(head)
    found = sum(re.match(LOG_LINE, line) is not None for line in lines)
    return 90 if lines and found * 2 > len(lines) else 0


def nothing(_head: bytes, _name: str) -> int:
    """Return that content never shows this format: the user has to name it."""
    return 0


def arc(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of an ARC file, unpacked."""
    return 100 if head.startswith(b"filedesc://") else 70 if re.match(ARC_START, head) else 0


def warc(head: bytes, name: str) -> int:
    """Return how sure it is that these are the first bytes of a WARC file, unpacked."""
    if re.match(WARC_START, head.lstrip(b"\r\n")):
        return 100
    # Of a file whose first member is damaged only the name is known.
    return 50 if not head and re.search(r"\.warc(\.gz|\.zst)?$", name) else 0


def cdx(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of a CDX file."""
    lines = head_lines(head)
    if not lines:
        return 0
    if header_names(lines[0]):
        return 95
    found = sum(re.match(_CDX_LINE, line) is not None and line.count(b" ") + 1 in LAYOUTS for line in lines)
    return 85 if found * 2 > len(lines) else 0


def cdxj(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of a CDXJ file."""
    lines = [line for line in head_lines(head) if not line.startswith(b"!")]
    found = sum(re.match(_CDXJ_LINE, line) is not None for line in lines)
    return 90 if lines and found * 2 > len(lines) else 0


def csv(head: bytes, name: str) -> int:
    """Return how sure it is that these are the first bytes of a CSV file."""
    lines = head_lines(head)
    return _table(lines, delimiter_of(lines[0]), name.lower().endswith(".csv")) if lines else 0


def tsv(head: bytes, name: str) -> int:
    """Return how sure it is that these are the first bytes of a TSV file."""
    lines = head_lines(head)
    return _table(lines, TAB, name.lower().endswith((".tsv", ".tab"))) if lines and TAB in lines[0] else 0


def delimiter_of(header: bytes) -> bytes:
    """Return what separates the values of a CSV file."""
    return max(DELIMITERS, key=header.count)


def _table(lines: list[bytes], delimiter: bytes, is_named: bool) -> int:  # noqa: FBT001
    header = [name.strip().lower().decode("latin-1") for name in _values(lines[0], delimiter)]
    if not _can_be_header(lines[0], header):
        return 0
    names_url = any(name in URL_NAMES for name in header)
    if names_url and len(header) == 1:
        return 70
    if len(header) == 1:
        return 0
    rows = [_values(line, delimiter) for line in lines[1:20]]
    # Lines of text with a comma have no certain number of values; rows have one for each name.
    holds_urls = any(URL_START.match(value) for row in rows for value in row) and (
        is_named or any(len(row) == len(header) for row in rows)
    )
    return 75 * names_url or (40 + 10 * is_named) * holds_urls or 20 * is_named


def _can_be_header(line: bytes, names: list[str]) -> bool:
    """Return whether a first line may name columns: it is not a URL, no JSON or XML, and text alone."""
    if any(URL_START.match(name.encode("latin-1")) for name in names):
        return False
    return not (line.lstrip().startswith((b"{", b"[", b"<")) or re.search(_CONTROL, line))


def _values(line: bytes, delimiter: bytes) -> list[bytes]:
    from undust.files.delimited import values_of  # noqa: PLC0415 -- not for lists of URLs

    return values_of(line, delimiter)


def json(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of a JSON array of objects."""
    return 80 if re.match(rb"(\xef\xbb\xbf)?\s*\[\s*(\{|\]\s*$)", head) else 0


def jsonl(head: bytes, name: str) -> int:
    """Return how sure it is that these are the first bytes of JSON lines."""
    lines = head_lines(head)
    if not (lines and lines[0].lstrip().startswith(b"{")):
        return 0
    found = sum(line.lstrip().startswith(b"{") and b'"' in line for line in lines)
    is_named = re.search(r"\.(jsonl|ndjson)(\.gz|\.zst)?$", name.lower()) is not None
    return 80 if found * 2 > len(lines) else 20 * is_named


def parquet(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of a Parquet file."""
    return 100 if head.startswith(PARQUET_MARK) else 0


def sitemap(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of a sitemap or of an index of them."""
    return 95 if re.search(_SITEMAP_ROOT, head.replace(b"\0", b"")) else 0


def urls(head: bytes, name: str) -> int:  # noqa: ARG001
    """Return how sure it is that these are the first bytes of a list of URLs."""
    lines = [line for line in head_lines(head) if not line.startswith(b"#")]
    found = sum(URL_LINE.match(line) is not None for line in lines)
    if not lines or found * 2 < len(lines) or row_delimiter(lines) or late_header(lines):
        return 0
    # A table of one row has a header and a row with a URL.
    return 60 if found * 2 > len(lines) else 10


def row_delimiter(lines: list[bytes]) -> bytes | None:
    """Return what separates the values if URLs are all followed by more values: a table without a header.

    >>> row_delimiter([b"http://a.test/x,200", b"http://a.test/y,404"])
    b','
    >>> row_delimiter([b"http://a.test/1,17.html", b"http://a.test/2,200"])
    """
    begun = [line for line in lines if URL_START.match(line)]
    return next((mark for mark in DELIMITERS if begun and all(_is_row(line, mark) for line in begun)), None)


def late_header(lines: list[bytes]) -> bytes | None:
    """Return a line that names columns, one of them like a URL; a list has no such line.

    >>> late_header([b"made by a tool", b"url,title", b"http://a.test/,A"])
    b'url,title'
    """
    for line in lines:
        if any(mark in line for mark in (*DELIMITERS, TAB)) and not URL_START.match(line):
            names = re.split(rb"[,;|\t]", line.lower().replace(b'"', b""))
            if any(name.strip().decode("latin-1") in URL_NAMES for name in names):
                return line
    return None


def _is_row(line: bytes, delimiter: bytes) -> bool:
    url, *cells = line.strip().split(delimiter)
    return bool(cells and URL_START.match(url)) and any(
        re.fullmatch(_CELL, cell.strip(), re.IGNORECASE) for cell in cells
    )


def is_surely_list(head: bytes) -> bool:
    """Return whether no other format can be as sure as that of a list, so that none has to be asked."""
    first = next(iter(head_lines(head, 1)), b"")
    # A first line that is a URL is neither a header nor a record of anything; a sitemap has a tag.
    return URL_LINE.match(first) is not None and b"<" not in head and urls(head, "") > 50  # noqa: PLR2004


def format_of_first_line(head: bytes) -> str | None:
    """Return the format of a pipe that its first line alone shows: a list of URLs, or JSON lines.

    A program that writes line by line through a pipe waits for each answer. A line is
    that of a list if it is a URL, or a word that begins no other format.
    """
    line, end, _ = head.removeprefix(UTF8_MARK).lstrip(b"\r\n").partition(b"\n")
    word = line.strip()
    if not (end and word):
        return None
    if URL_LINE.match(word):
        return None if row_delimiter([word]) else "urls"
    if word.startswith(b"{") and word.endswith(b"}") and b'"' in word:
        return "jsonl"
    begins_other = (
        re.search(_SEPARATOR, word)
        or word.startswith((b"#", b"!", PARQUET_MARK, b"filedesc:"))
        or re.match(WARC_START, word + end)
        or word.lower().decode("latin-1") in URL_NAMES
    )
    return None if begins_other else "urls"


_SAY = "say what it is with --format"


def what_it_is(head: bytes) -> str:
    """Return the message about a file in no format that is known: what it is, and what to do."""
    lines = head_lines(head)
    if not lines:
        return f"it holds nothing by which to recognise its format; {_SAY}"
    packed = next((name for start, name in _PACKED.items() if head.startswith(start)), "")
    delimiter = (row_delimiter(lines) or b"").decode()
    found = {
        "it is text in UTF-16, and undust reads UTF-8; convert it with 'iconv -f UTF-16 -t UTF-8'": (
            head.startswith((b"\xff\xfe", b"\xfe\xff"))
        ),
        f"it is packed with {packed}, and undust unpacks gzip and zstd; unpack it first": packed,
        "its lines have tabs and its first line names no columns (with a header line it is TSV); "
        f"{_SAY}": _is_most(lines, lambda line: TAB in line),
        "its lines end with a carriage return alone; convert it with \"tr '\\r' '\\n'\"": (
            _is_most(lines, lambda line: b"\r" in line)
        ),
        "lines precede the one that names its columns; remove them": late_header(lines[1:]),
        f"its lines are a URL and more values behind '{delimiter}', and its first line names no columns ("
        "with a header line it is CSV); give --format lines if each line is one URL": delimiter,
        "it is a log in the W3C format of IIS; make it a table with the columns method, url and status": (
            lines[0].startswith((b"#Software:", b"#Version:", b"#Fields:"))
        ),
        "its lines are paths; give --format lines, and say whose they are: --base https://your.site": (
            _is_most(lines, lambda line: line.startswith(b"/"))
        ),
        "it is JSON, and undust reads an array of objects, or one object a line": (
            lines[0].lstrip().startswith((b"{", b"["))
        ),
    }
    return next(
        (advice for advice, is_so in found.items() if is_so), f"its format is not known to undust; {_SAY}"
    )


def _is_most(lines: list[bytes], test: Callable[[bytes], bool]) -> bool:
    return sum(map(test, lines)) * 2 > len(lines)


LETTERS = {"a": "url", "b": "time", "s": "status", "k": "digest", "r": "redirect", "S": "size", "m": "mime"}
"""Our names for the letters of a CDX header; the others are not used."""
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
    """Return the column of a header that has the first of some names, in any case."""
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
