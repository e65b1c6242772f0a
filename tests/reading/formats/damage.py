"""Every format with every kind of damage, and what undust makes of it: the table of docs/damage.md.

    python -m tests.reading.formats.damage

writes the page again; a test fails when it is not what the readers do.
"""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import undust
from tests.reading.formats.archives import Answer, as_arc, by_hand, page
from tests.reading.formats.test_formats import as_cdx, as_cdxj, as_delimited, as_json, as_jsonl, as_parquet
from undust.errors import UndustError, file_sentence
from undust.files.streams import ZSTD
from undust.reading.formats import SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).resolve().parents[3] / "docs" / "damage.md"
HEAD = """# Damage, format by format

What `undust.read` and every command that reads make of files that are not as they should be.
Each sample below has four records.
The right column is what undust says, word for word, with `FILE` for the name of the file.
`python -m tests.reading.formats.damage` writes this page; a test fails when it is not what the readers do.
[Inputs](inputs.md#damage) explains the three outcomes.

"""
URLS = [f"http://shop.test/{name}?id=7" for name in "abcd"]
ROWS: list[dict[str, Any]] = [
    {
        "url": url,
        "status": 200,
        "size": 5120,
        "digest": f"D{n}",
        "redirect": None,
        "time": "2026-11-15T00:23:57Z",
    }
    for n, url in enumerate(URLS)
]
ANSWERS = [Answer(url, page(f"page {n}")) for n, url in enumerate(URLS)]
LINKING = [Answer(url, f'<a href="{url}&amp;y=1">next</a>'.encode()) for url in URLS]
LINE = '203.0.113.7 - - [15/Nov/2026:00:23:57 +0000] "GET {} HTTP/1.1" 200 5120 "-" "-"\n'
WHOLE: dict[str, bytes] = {
    "access-log": "".join(LINE.format(url) for url in URLS).encode(),
    "arc": as_arc(ANSWERS, is_packed=False),
    "cdx": as_cdx(ROWS),
    "cdxj": as_cdxj(ROWS),
    "csv": as_delimited(ROWS, ","),
    "json": as_json(ROWS),
    "jsonl": as_jsonl(ROWS),
    "links": b"".join(map(by_hand, LINKING)),
    "parquet": as_parquet(ROWS),
    "sitemap": (
        "<urlset>" + "".join(f"<url><loc>{url}</loc></url>\n" for url in URLS) + "</urlset>"
    ).encode(),
    "tsv": as_delimited(ROWS, "\t"),
    "urls": "".join(f"{url}\n" for url in URLS).encode(),
    "warc": b"".join(map(by_hand, ANSWERS)),
}
LONG = 2 << 20


def _zstd(data: bytes) -> bytes:
    packer = ZSTD.new_packer()
    return packer.compress(data) + packer.flush()


ANY: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: data,
    "cut off": lambda data: data[: len(data) - len(data) // 8],
    "its second half alone": lambda data: data[len(data) // 2 :],
    "gzip that is cut off": lambda data: gzip.compress(data, mtime=0)[:-20],
    "zstd that is cut off": lambda data: _zstd(data)[:-20],
    "packed with gzip, whole": lambda data: gzip.compress(data, mtime=0),
    "NUL bytes in the middle": lambda data: data[: len(data) // 2] + bytes(40) + data[len(data) // 2 + 40 :],
    "latin-1 in a URL": lambda data: data.replace(b"/b?", b"/caf\xe9?"),
    "a URL of 2 MiB": lambda data: data.replace(b"/b?", b"/" + b"b" * LONG + b"?"),
    "binary junk": lambda data: bytes(range(128, 256)) * (len(data) // 128 + 1),
    "an empty file": lambda _: b"",
}
"""Damage that any file may have."""
ONE: dict[str, dict[str, Callable[[bytes], bytes]]] = {
    "access-log": {
        "a line of another format": lambda data: data.replace(b"203.0.113.7 - - [", b"[", 1),
        "a line that is not a request": lambda data: data.replace(
            b"GET http://shop.test/b?id=7", b"\\x16\\x03\\x01", 1
        ),
    },
    "arc": {"a length that is too large": lambda data: data.replace(b"text/html 1", b"text/html 9", 1)},
    "cdx": {
        "a line with too few fields": lambda data: data.replace(b" text/html 200 D1 - - 5120 0 f", b"", 1)
    },
    "cdxj": {"JSON that is torn": lambda data: data.replace(b'"digest": "D1"', b'"digest: "D1', 1)},
    "csv": {
        "a row with too many values": lambda data: data.replace(b"5120,D1", b"5120,x,y,D1", 1),
        "a quote that is never closed": lambda data: data.replace(
            b"http://shop.test/b", b'"http://shop.test/b', 1
        ),
        "no column of URLs": lambda data: data.replace(b"url,", b"a,", 1).replace(b"http://", b""),
        "a status that is not a number": lambda data: data.replace(b"200", b"abc", 1),
    },
    "json": {"no array": lambda _: b'{"url": 5}'},
    "jsonl": {
        "a torn line": lambda data: data.replace(b'"digest": "D1"', b'"digest: "D1', 1),
        "a URL that is a number": lambda data: data.replace(b'"http://shop.test/b?id=7"', b"7", 1),
    },
    "links": {"a tag that is not closed": lambda data: data.replace(b'1">next', b"1", 1)},
    "parquet": {
        "numbers where URLs should be": lambda _: as_parquet([{"url": n} for n in range(4)]),
        "a URL of 2 MiB": lambda _: as_parquet([ROWS[0], ROWS[1] | {"url": f"{URLS[1]}{'b' * LONG}"}]),
        "texts where statuses should be": lambda _: as_parquet([row | {"status": "abc"} for row in ROWS]),
    },
    "sitemap": {
        "an element that is not closed": lambda data: data.replace(b"</loc>", b"", 1),
        "a raw ampersand": lambda data: data.replace(b"?id=7", b"?id=7&x=1", 1),
    },
    "tsv": {"a row with too few values": lambda data: data.replace(b"\tD1\t", b"\t", 1)},
    "urls": {"a line that is not a URL": lambda data: data.replace(b"http://shop.test/b", b"no url", 1)},
    "warc": {
        "a length that is too large": lambda data: data.replace(
            b"Content-Length: 1", b"Content-Length: 9", 1
        ),
        "a length that is not digits": lambda data: data.replace(
            b"Content-Length: 1", b"Content-Length: x", 1
        ),
        "a header without an end": lambda data: data.replace(b"\r\n\r\nHTTP/1.1", b"\r\nHTTP/1.1", 1),
    },
}
"""Damage that one format has."""


def said_of(path: Path, format_name: str) -> str:
    """Return what reading a file gives: rows and counts, or the sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = undust.read(path, format=format_name)
    except UndustError as error:
        return f"error: {_tame(str(error), path)}"
    except OSError as error:
        return f"error: {_tame(file_sentence(error), path)}"
    rows = f"{len(seen)} row{'s' * (len(seen) != 1)}"
    told = [line.strip() for line in seen.report().splitlines() if line.startswith("  ") and line[2] != " "]
    return _tame("; ".join([rows, *told]), path)


def _tame(text: str, path: Path) -> str:
    return re.sub("\ufffd{9,}", "\ufffd…", text.replace(str(path), "FILE")).replace("|", "\\|")


def cases(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Give each format, each damage, and what is said."""
    for source in SOURCES:
        name = source.name
        for damage, harm in (ANY | ONE[name]).items():
            path, data = folder / "input", harm(WHOLE[name])
            if data == WHOLE[name] and damage != "nothing":
                continue  # what is packed in itself has no such place
            path.write_bytes(data)
            yield name, damage, said_of(path, name)
    yield "any", "no such file", said_of(folder / "missing", "urls")
    (folder / "closed").mkdir()
    yield "any", "an empty folder", said_of(folder / "closed", "urls")
    path = folder / "utf16"
    path.write_bytes("http://shop.test/a\n".encode("utf-16"))
    yield "any", "text in UTF-16", said_of(path, None)  # type: ignore[arg-type]
    path.write_bytes(b"BZh91AY&SY\xd8r\x01/\x00\x00\x01W\x80\x00\x10@" * 3)
    yield "any", "packed with bzip2", said_of(path, None)  # type: ignore[arg-type]


def table() -> str:
    """Return the page."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [f"| {name} | {damage} | {said} |" for name, damage, said in cases(Path(folder))]
    return f"{HEAD}| format | damage | what undust says |\n|---|---|---|\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
