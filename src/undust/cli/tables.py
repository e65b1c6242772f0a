"""Tables that pass through a command: a column is read, another one is written, the rest stays as it is.

Rows come and go in the order of the input, a block at a time. A column that is already there is replaced
in its place; a new one goes to the end.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from undust.errors import DamagedSource
from undust.files.streams import line_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Write = Callable[[bytes], object]
    Work = Callable[[list[str | None]], tuple[list[str | None], list[bool]]]
    """A column of URLs to the new column, and which rows to write."""

BLOCK_ROWS = 1 << 14
PARQUET_START = b"PAR1"
LONGEST_ROW = 1 << 26
LONGEST_HEADER = 1 << 20
_PACKINGS = {".gz", ".zst"}
_FORMATS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet", ".parq": "parquet"}


class ColumnNames(NamedTuple):
    """The names of the column that is read and of the one that is written."""

    read: str
    written: str


def format_of_name(path: str) -> str | None:
    """Return the format that a file's name tells: `crawl.csv.gz` is `csv`."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    while suffixes and suffixes[-1] in _PACKINGS:
        suffixes.pop()
    return _FORMATS.get(suffixes[-1]) if suffixes else None


def format_of_content(start: bytes, column: str) -> str:
    """Return the format that the first bytes tell; `lines` if they tell nothing."""
    if start.startswith(PARQUET_START):
        return "parquet"
    first = start.lstrip(b"\xef\xbb\xbf \r\n").partition(b"\n")[0]
    if first.startswith(b"{"):
        return "jsonl"
    try:
        header = next(csv.reader([first.decode("utf-8", "replace").strip()]), [])
    except csv.Error:
        return "lines"
    return "csv" if column in header else "lines"


def map_json_lines(
    path: str, blocks: Iterable[bytes], columns: ColumnNames, work: Work, write: Write
) -> None:
    """Write each object with its new column; the other bytes of its line stay as they are."""
    number = 0
    for chunk in line_chunks(blocks, LONGEST_ROW):
        lines = [line for line in chunk.data.split(b"\n") if line.strip()]
        objects = [_object(line, path, place) for place, line in enumerate(lines, number + 1)]
        urls = [_text_of(row, columns.read, path, place) for place, row in enumerate(objects, number + 1)]
        number += len(lines)
        results, chosen = work(urls)
        rows = zip(lines, objects, results, chosen, strict=True)
        write(
            b"".join(
                _json_line(line, row, columns.written, new) for line, row, new, is_chosen in rows if is_chosen
            )
        )


def _object(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        message = (
            f"{path}: row {number} is no JSON object; remove it, or give --format lines for a list of URLs"
        )
        raise DamagedSource(message)
    return cast("dict[str, Any]", row)


def _text_of(row: dict[str, Any], column: str, path: str, number: int) -> str | None:
    value = row.get(column)
    if value is None or isinstance(value, str):
        return value
    message = f"{path}: '{column}' in row {number} is no text; name the column of the URLs with --column"
    raise DamagedSource(message)


def _json_line(line: bytes, row: dict[str, Any], column: str, value: str | None) -> bytes:
    if column in row or len(row) == 0:
        text = json.dumps(row | {column: value}, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace") + b"\n"
    # The object is only made longer: numbers and escapes of other columns are not ours to rewrite.
    added = f", {json.dumps(column, ensure_ascii=False)}: {json.dumps(value)}}}\n"
    return line.rstrip()[:-1].rstrip() + added.encode("utf-8", "backslashreplace")


def map_csv(path: str, blocks: Iterable[bytes], columns: ColumnNames, work: Work, write: Write) -> None:
    """Write each row with its new column, quoted where it has to be."""
    csv.field_size_limit(LONGEST_ROW)
    rows = _csv_rows(path, blocks)
    header = next(rows, [])
    source = place_of(columns.read, header, path)
    target = header.index(columns.written) if columns.written in header else len(header)
    width = max(len(header), target + 1)
    write(csv_text([[*header[:target], columns.written, *header[target + 1 :]]]))
    for block in _blocks_of(rows):
        padded = [row + [""] * (width - len(row)) for row in block]
        results, chosen = work([row[source] for row in padded])
        for row, new in zip(padded, results, strict=True):
            row[target] = new or ""
        write(csv_text(row for row, is_chosen in zip(padded, chosen, strict=True) if is_chosen))


def _csv_rows(path: str, blocks: Iterable[bytes]) -> Iterator[list[str]]:
    reader = csv.reader(_text_lines(path, blocks))
    try:
        yield from (row for row in reader if row)
    except csv.Error as error:
        message = f"{path}:{reader.line_num}: not CSV ({error}); mend the line, or give --format"
        raise DamagedSource(message) from None


def _text_lines(path: str, blocks: Iterable[bytes]) -> Iterator[str]:
    number = 0
    for chunk in line_chunks(blocks, LONGEST_ROW):
        try:
            text = chunk.data.decode("utf-8" if number else "utf-8-sig")
        except UnicodeDecodeError as error:
            line = number + chunk.data.count(b"\n", 0, error.start) + 1
            message = f"{path}:{line}: not UTF-8; convert the file, as with iconv"
            raise DamagedSource(message) from None
        number += chunk.data.count(b"\n")
        yield from io.StringIO(text, newline="\n")


def place_of(column: str, header: list[str], path: str) -> int:
    """Return which column has a name."""
    if column in header:
        return header.index(column)
    there = ", ".join(header[:8]) or "none"
    message = f"{path}: no column '{column}'; name one with --column (there are: {there})"
    raise DamagedSource(message)


def _blocks_of(rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    block: list[list[str]] = []
    for row in rows:
        block.append(row)
        if len(block) == BLOCK_ROWS:
            yield block
            block = []
    if block:
        yield block


def csv_text(rows: Iterable[list[str]]) -> bytes:
    """Return rows as lines of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")
