"""Delimited text: CSV, TSV and the lines of CDX.

In CSV only a quote at the start of a value opens a quoted one, which may hold line breaks; it is closed by
a quote that a delimiter follows, or the end of the line. In the others quotes mean nothing, but those
around a whole value of TSV are taken off.
"""

from __future__ import annotations

import re
from itertools import compress, pairwise
from typing import TYPE_CHECKING, NamedTuple

from undust._core import plain_values
from undust.errors import DamagedSource, SourceError
from undust.files.change import numbered_lines
from undust.files.streams import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from undust.files.change import Cell, TableChange

LONGEST_RECORD_LINES = 1000
OPEN_QUOTE = "a quote that is never closed"
MOST_ODD_ROWS = 1 << 14
"""Rows that are taken apart here before the core is asked again."""
SNIFFED_ROWS = 20
"""Rows that are looked at to find a column of URLs."""
_END = rb"(\r?\n|\Z)"
_URL = re.compile(rb"\s*https?://", re.IGNORECASE)


def ends_inside(line: bytes, delimiter: bytes, *, is_inside: bool) -> bool:
    """Return whether a quoted value is open at the end of a line."""
    at = 0
    while True:
        if is_inside or line[at : at + 1] == b'"':
            at = _closing_quote(line, at if is_inside else at + 1, delimiter)
            if at < 0:
                return True
            is_inside = False
        at = line.find(delimiter, at)
        if at < 0:
            return False
        at += 1


def _closing_quote(text: bytes, at: int, delimiter: bytes) -> int:
    """Return the place after the quote that closes a value, which a delimiter follows or nothing; or -1."""
    while (quote := text.find(b'"', at)) >= 0:
        following = text[quote + 1 : quote + 2]
        if following in {b"", delimiter}:
            return quote + 1
        at = quote + 2 if following == b'"' else quote + 1
    return -1


def values_of(record: bytes, delimiter: bytes) -> list[bytes]:
    """Return the values of a record of CSV."""
    values = []
    at = 0
    while True:
        value = b""
        if record[at : at + 1] == b'"' and (closed := _closing_quote(record, at + 1, delimiter)) > 0:
            value = record[at + 1 : closed - 1].replace(b'""', b'"')
            at = closed
        end = record.find(delimiter, at)
        values.append(value + record[at : end if end >= 0 else None])
        if end < 0:
            return values
        at = end + 1


def raw_values(record: bytes, delimiter: bytes) -> list[bytes]:
    """Return the values of a record of CSV as they are written, quotes and all."""
    values = []
    at = 0
    while True:
        closed = _closing_quote(record, at + 1, delimiter) if record[at : at + 1] == b'"' else at
        end = record.find(delimiter, max(closed, at))
        values.append(record[at : end if end >= 0 else None])
        if end < 0:
            return values
        at = end + 1


def unquoted(value: bytes) -> bytes:
    """Return a value without the quotes around it."""
    if value[:1] != b'"' or value[-1:] != b'"' or len(value) == 1:
        return value
    return value[1:-1].replace(b'""', b'"')


def require_names(header: Sequence[str], file_name: str) -> None:
    """Raise if a first line cannot name columns: it holds a URL, or tabs between what would be names."""
    if any(_URL.match(name.encode()) for name in header):
        example = "url" + ",…" * (len(header) > 1)
        message = (
            f"{file_name}: its first line holds a URL, and no names of columns; add a header line: {example}"
        )
        raise SourceError(message)
    if len(header) == 1 and "\t" in header[0]:
        message = f"{file_name}: its first line has tabs; give --format tsv"
        raise SourceError(message)


class Layout(NamedTuple):
    """How a delimited file is written."""

    delimiter: bytes
    has_quotes: bool
    """A quoted value may hold delimiters and line breaks, as in CSV."""
    header: Callable[[bytes], tuple[bytes, list[bytes]] | None]
    """From the first record to the text before the names of the columns, and these; None without them."""
    fixed: int | None = None
    """Without a header, the place of the URL."""
    fixed_names: tuple[str, ...] = ()
    """Without a header, what the column of the URL may be called."""
    fills: bool = True
    """A row that is too short gets empty values."""


class _CellPlaces(NamedTuple):
    """Where the two columns are; the written one may be after the last."""

    read: int
    written: int
    width: int | None
    """How many values a row has; None if it may have any number."""


def change_delimited(blocks: Iterable[bytes], change: TableChange, layout: Layout) -> None:
    """Write each record with the results in their column; all other bytes of a row stay as they are."""
    _Rewriting(change, layout).run(blocks)


class _Rewriting:
    def __init__(self, change: TableChange, layout: Layout) -> None:
        self._change, self._layout = change, layout
        mark = re.escape(layout.delimiter)
        plain = rb"[^%b\r\n]*+(?:\r(?!\n)[^%b\r\n]*+)*+" % (mark, mark)
        if layout.has_quotes:
            ends = rb"(?=%b|\r?\n|\Z)" % mark
            inner = rb'[^"]++|""|"(?!%b|\r?\n|\Z)' % mark
            plain = rb'(?:"(?:%b)*+"%b|(?!")%b)' % (inner, ends, plain)
        self._mark, self._value = mark, plain
        self._special = re.compile(rb'["\r\n%b]' % mark)
        self._record = re.compile(rb"(%b(?:%b%b)*+)%b" % (plain, mark, plain, _END))
        self._places: _CellPlaces | None = None
        self._row: re.Pattern[bytes] | None = None

    def run(self, blocks: Iterable[bytes]) -> None:
        held = b""
        first = 1
        for lines in numbered_lines(self._change.name, blocks):
            first = lines.first if not held else first
            held = self._pass(held + lines.data, first, is_last=False)
            first = lines.first + lines.data.count(b"\n") - held.count(b"\n")
        if held:
            self._pass(held, first, is_last=True)
        if self._places is None:
            self._change.choose([], [])  # raises: there is no column at all

    def _pass(self, data: bytes, number: int, *, is_last: bool) -> bytes:
        """Write the whole records; return what is left over, the start of a record."""
        at = 0
        if self._places is None:
            at = self._begin(data, number, is_last=is_last)
            if self._places is None:
                return data[at:]
        written: list[bytes] = []
        odd_rows, is_whole = 1, True
        while at < len(data) and is_whole:
            start, at = at, self._plain(data, at, written)
            odd_rows = 1 if at > start else min(2 * odd_rows, MOST_ODD_ROWS)
            rows, at, is_whole = self._rows(data, at, number, odd_rows, is_last=is_last)
            if rows:
                written += self._written(rows)
        if written:
            self._change.write(b"".join(written))
        return data[at:]

    def _plain(self, data: bytes, at: int, written: list[bytes]) -> int:
        """Change the rows that the core takes apart, from a place on; return where they end."""
        work, layout, places = self._change.work_lines, self._layout, self._places
        if work is None or places is None:
            return at
        mark = layout.delimiter.decode("latin-1")
        width = -1 if places.width is None else places.width
        rows = plain_values(data, at, places.read, places.written, width, mark, layout.has_quotes)
        if len(rows):
            results = work(rows.cells)
            if results is not None:
                before = layout.delimiter if places.written in {-1, width} else b""
                only_changed = self._change.only_changed
                written.append(
                    rows.write_values(data, results, before, mark, layout.has_quotes, only_changed)
                )
        return rows.end

    def _begin(self, data: bytes, number: int, *, is_last: bool) -> int:
        """Find the columns by the first record; return where the rows begin."""
        start = len(data) - len(data.lstrip(b"\r\n"))
        record = self._record.match(data, start)
        if record is None or (not record[2] and not is_last):
            self._require_patience(data[start:], number, is_last=is_last)
            return start
        found = self._layout.header(record[1])
        if found is None:
            place = self._layout.fixed or 0
            is_replaced = self._change.written in self._layout.fixed_names
            self._compile(_CellPlaces(place, place if is_replaced else -1, None))
            return start
        before, names = found
        header = [unquoted(name).decode("utf-8", "replace").strip() for name in names]
        require_names(header, self._change.name)
        rows = [self._values(row[1]) for row in self._some(data, record.end())]
        read = self._change.choose(header, _url_like(header, rows))
        written = self._change.written
        place = header.index(written) if written in header else len(header)
        self._compile(_CellPlaces(header.index(read), place, len(header)))
        new = [] if place < len(header) else [self._quoted(written.encode("utf-8", "surrogateescape"))]
        line = before + self._layout.delimiter.join([*names, *new])
        self._change.write(line + (record[2] or b"\n"))
        return record.end()

    def _require_patience(self, data: bytes, number: int, *, is_last: bool) -> None:
        """Raise if a record that has not ended never will."""
        if is_last or len(data) > LONGEST_LINE or data.count(b"\n") > LONGEST_RECORD_LINES:
            message = f"{self._change.name}:{number}: {OPEN_QUOTE}; close it, or give --format"
            raise DamagedSource(message)

    def _some(self, data: bytes, at: int) -> Iterator[re.Match[bytes]]:
        for _ in range(SNIFFED_ROWS):
            row = self._record.match(data, at)
            if row is None or row.end() == at:
                return
            at = row.end()
            yield row

    def _values(self, record: bytes) -> list[bytes]:
        if self._layout.has_quotes:
            return values_of(record, self._layout.delimiter)
        return [unquoted(value) for value in record.split(self._layout.delimiter)]

    def _compile(self, places: _CellPlaces) -> None:
        """Make the pattern of a row, with a group for each piece that is needed."""
        self._places = places
        value, mark = self._value, self._mark
        if places.width is None:
            pattern = rb"((?:%b%b){%d})(%b)((?:%b%b)*+)" % (value, mark, places.read, value, mark, value)
            if places.written < 0:
                pattern = rb"((?:%b%b){%d}(%b)(?:%b%b)*+)" % (value, mark, places.read, value, mark, value)
            self._row = re.compile(pattern + _END)
            return
        if places.written == places.width:
            before, behind = places.read, places.width - places.read - 1
            pattern = rb"((?:%b%b){%d}(%b)(?:%b%b){%d})" % (value, mark, before, value, mark, value, behind)
            self._row = re.compile(pattern + _END)
            return
        marked = sorted({places.read, places.written, places.width})
        pattern = b"(" + (rb"(?:%b%b){%d}" % (value, mark, marked[0])) + b")"
        for here, following in pairwise(marked):
            more = following - here - 1
            between = rb"(?:%b%b){%d}" % (mark, value, more)
            last = mark if following < places.width else b""
            pattern += b"(" + value + b")(" + between + last + b")"
        self._row = re.compile(pattern + _END)

    def _rows(
        self, data: bytes, at: int, number: int, most: int, *, is_last: bool
    ) -> tuple[list[tuple[bytes, ...]], int, bool]:
        """Return some rows as the pieces of their pattern, where they end, and if all are whole."""
        rows: list[tuple[bytes, ...]] = []
        assert self._row is not None  # noqa: S101 -- a header was found
        match_row, end, is_whole = self._row.match, len(data), True
        while at < end and len(rows) < most and is_whole:
            match = match_row(data, at)
            if match and (match[match.re.groups] or is_last) and match.end() > at:
                rows.append(match.groups())
                at = match.end()
            else:
                row, at, is_whole = self._odd_row(data, at, number, is_last=is_last)
                rows += row
        # A blank line is a row of one empty value to the pattern of a table of one column.
        return [row for row in rows if any(row[:-1])], at, is_whole

    def _odd_row(
        self, data: bytes, at: int, number: int, *, is_last: bool
    ) -> tuple[list[tuple[bytes, ...]], int, bool]:
        """Return a row that does not fit the pattern, where it ends, and whether it was a whole one."""
        assert self._row is not None  # noqa: S101 -- a header was found
        assert self._places is not None  # noqa: S101
        record = self._record.match(data, at)
        if record is None or not (record[2] or is_last):
            self._require_patience(data[at:], number + data.count(b"\n", 0, at), is_last=is_last)
            return [], at, False
        if not record[1].strip():
            return [], record.end(), True
        width = self._places.width or 0
        count = len(self._values(record[1]))
        if count > width or not self._layout.fills:
            line = number + data.count(b"\n", 0, at)
            values = f"{count} value{'s' * (count != 1)}"
            expected = f"the header names {width}" if width else "its URL is the third"
            message = f"{self._change.name}:{line}: it has {values} and {expected}; correct the line"
            raise DamagedSource(message)
        filled = record[1] + self._layout.delimiter * (width - count) + (record[2] or b"\n")
        match = self._row.match(filled)
        assert match is not None  # noqa: S101
        return [match.groups()], record.end(), True

    def _written(self, rows: list[tuple[bytes, ...]]) -> list[bytes]:
        """Return the lines of rows."""
        assert self._places is not None  # noqa: S101
        read, written, width = self._places
        if width is not None and 0 <= written < read:
            raw = [row[3] for row in rows]
        else:
            raw = [row[1] for row in rows]
        cells: list[Cell] = [unquoted(value) if value[:1] == b'"' else value for value in raw]
        results, chosen = self._change.work(cells)
        new = list(raw)
        for place, (cell, result) in enumerate(zip(cells, results, strict=True)):
            if cell != result:
                new[place] = self._quoted(result or b"", like=raw[place])
        lines = self._lines(rows, new)
        return lines if chosen is None else list(compress(lines, chosen))

    def _lines(self, rows: list[tuple[bytes, ...]], new: Sequence[bytes]) -> list[bytes]:
        assert self._places is not None  # noqa: S101
        read, written, width = self._places
        mark = self._layout.delimiter
        both = zip(rows, new, strict=True)
        if written == read:
            return [b"%b%b%b%b" % (row[0], cell, row[2], row[3] or b"\n") for row, cell in both]
        if written in {-1, width}:
            return [row + mark + cell + (end or b"\n") for (row, _, end), cell in both]
        if written < read:
            return [b"%b%b%b%b%b%b" % (row[0], cell, *row[2:5], row[5] or b"\n") for row, cell in both]
        return [b"%b%b%b%b%b%b" % (*row[:3], cell, row[4], row[5] or b"\n") for row, cell in both]

    def _quoted(self, value: bytes, like: bytes = b"") -> bytes:
        """Return a value as the file writes it; quoted if it must be, or if the URL was."""
        if like[:1] == b'"' or value[:1] == b'"' or (self._layout.has_quotes and self._special.search(value)):
            return b'"' + value.replace(b'"', b'""') + b'"'
        return value


def _url_like(header: Sequence[str], rows: Sequence[Sequence[bytes]]) -> list[str]:
    """Return the columns that hold nothing but URLs in some rows."""
    values = zip(*(row for row in rows if len(row) == len(header)), strict=True)
    return [name for name, column in zip(header, values, strict=False) if all(map(_URL.match, column))]
