"""What a command does to a table: a column is read, another one is written, the rest stays as it is.

Of a list of URLs and what became of them it makes a new table of two columns.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import DamagedSource
from undust.files.streams import Holds, line_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Names = tuple[str, str]
    WriteRows = Callable[[list[str], list[str]], None]


LONGEST_ROW = 1 << 26
"""A row of more bytes than this is too long to be held."""
UTF8_MARK = b"\xef\xbb\xbf"

Cell = bytes | None
Write = Callable[[bytes], object]
Work = Callable[[Sequence[Cell]], tuple[Sequence[Cell], Sequence[bool] | None]]
"""A block of URLs to what becomes of them, and which rows to write; None: all of them."""
WorkLines = Callable[[bytes], bytes | None]
"""The same for URLs as lines, to as many lines; None: nothing of their rows is written."""
Choose = Callable[[Sequence[str], Sequence[str]], str]
"""From the names of the columns, and of those that hold nothing but URLs, to the column of the URLs."""


class TableChange(NamedTuple):
    """What is done to one table."""

    name: str
    """What an error calls the file."""
    choose: Choose
    said: str | None
    """The column that the person named, if any."""
    written: str
    """The column that gets the results."""
    work: Work
    write: Write
    drops_rows: bool = False
    """Some rows are not written."""
    only_changed: bool = False
    """Only rows are written whose URL changes."""
    work_lines: WorkLines | None = None
    """What is done to URLs that hold no line break; without it they are cells like all others."""


class Numbered(NamedTuple):
    """Whole lines, and the number of the first of them."""

    data: bytes
    first: int


def numbered_lines(name: str, blocks: Iterable[bytes]) -> Iterator[Numbered]:
    """Give whole lines, without the mark that begins some UTF-8 files; raise at one too long to be held."""
    number = 1
    for chunk in line_chunks(blocks, LONGEST_ROW):
        if chunk.holds is not Holds.LINES:
            message = f"{name}:{number}: longer than {LONGEST_ROW >> 20} MiB, which no row may be; remove it"
            raise DamagedSource(message)
        yield Numbered(chunk.data.removeprefix(UTF8_MARK) if number == 1 else chunk.data, number)
        number += chunk.data.count(b"\n")


def text_from_bytes(data: bytes) -> str:
    r"""Return a URL; bytes that are not UTF-8 become percent triplets.

    >>> text_from_bytes(b"http://a.test/caf\xe9")
    'http://a.test/caf%E9'
    """
    text = data.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)


@contextmanager
def new_table(kind: str, columns: Names, write: Write) -> Iterator[WriteRows]:
    """Give a function that writes rows: the URLs, and the results beside them."""
    if kind == "jsonl":
        yield lambda urls, results: _write_json_lines(urls, results, columns, write)
    elif kind == "csv":
        write(csv_text([list(columns)]))
        yield lambda urls, results: _write_csv(urls, results, write)
    else:
        with _parquet(columns, write) as write_rows:
            yield write_rows


def _write_json_lines(urls: list[str], results: list[str], columns: Names, write: Write) -> None:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(urls, results, strict=True))
    write("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode())


def _write_csv(urls: list[str], results: list[str], write: Write) -> None:
    write(csv_text(map(list, zip(urls, results, strict=True))))


@contextmanager
def _parquet(columns: Names, write: Write) -> Iterator[WriteRows]:
    import pyarrow as pa  # noqa: PLC0415 -- slow to load, and seldom needed

    from undust.files.writing import writing_parquet  # noqa: PLC0415

    schema = pa.schema([(name, pa.string()) for name in columns])
    with writing_parquet(schema, write) as write_batch:

        def write_rows(urls: list[str], results: list[str]) -> None:
            if urls:
                write_batch(pa.record_batch([pa.array(urls), pa.array(results)], schema=schema))

        yield write_rows


def csv_text(rows: Iterable[list[str]]) -> bytes:
    """Return rows as lines of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")
