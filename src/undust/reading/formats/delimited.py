"""CSV and TSV with a header.

Only a quote at the start of a CSV value opens a quoted one, which may hold line breaks; if its end is
not found within reason, the line it began in is damaged and the next line starts afresh, so that one
stray quote costs one record. In TSV, quotes around a value are taken off and mean nothing else.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.files.delimited import LONGEST_RECORD_LINES, OPEN_QUOTE, ends_inside, unquoted, values_of
from undust.files.streams import LONGEST_LINE
from undust.reading.formats.columns import chosen
from undust.reading.formats.lines import whole_lines
from undust.reading.formats.recognising import DELIMITERS, TAB, URL_START
from undust.reading.formats.rows import batch_of, shown_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undust.reading.formats.reading import Reading


def read_csv(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the rows of a CSV file."""
    return _read(file, reading, DELIMITERS)


def read_tsv(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the rows of a TSV file."""
    return _read(file, reading, (TAB,))


class _SplitRecords(NamedTuple):
    """Records split into their values."""

    values: pa.Array
    """Lists of bytes."""
    lines: pa.Array
    """The number of the line in which each begins."""


def _read(file: BinaryIO, reading: Reading, delimiters: tuple[bytes, ...]) -> Iterator[pa.RecordBatch]:
    header: list[str] | None = None
    columns: dict[str, str] = {}
    for rows in _split(file, reading, delimiters):
        start = 0
        if header is None and len(rows.values):
            header = [name.decode("utf-8", "replace").strip() for name in rows.values[0].as_py()]
            columns = chosen(header, reading, _url_like(header, rows.values[1:20].to_pylist()))
            start = 1
        if header is not None:
            yield _batch(rows.values[start:], rows.lines[start:], header, columns, reading)


def _url_like(header: list[str], rows: list[list[bytes]]) -> list[str]:
    """Return the columns that hold nothing but URLs in some rows."""
    values = zip(*(row for row in rows if len(row) == len(header)), strict=True)
    return [name for name, column in zip(header, values, strict=False) if all(map(URL_START.match, column))]


def _batch(
    values: pa.Array, lines: pa.Array, header: list[str], columns: Mapping[str, str], reading: Reading
) -> pa.RecordBatch:
    is_whole = pc.equal(pc.list_value_length(values), len(header))
    damaged = pc.indices_nonzero(pc.invert(is_whole))
    reason = f"does not have the {len(header)} values that the header names"
    for row, count in shown_rows(damaged):
        reading.skip(reason, f"line {lines[row].as_py()}", b" ".join(values[row].as_py()), count)
    whole, numbers = values.filter(is_whole), lines.filter(is_whole)
    raw = {ours: _unquoted(pc.list_element(whole, header.index(theirs))) for ours, theirs in columns.items()}
    return batch_of(raw, lambda row: f"line {numbers[row].as_py()}", reading)


def _unquoted(values: pa.Array) -> pa.Array:
    """Return values without the quotes that TSV files of spreadsheets have; CSV has none left here."""
    if not pc.any(pc.starts_with(values, b'"')).as_py():
        return values
    return pa.array([unquoted(value) for value in values.to_pylist()], pa.binary())


def _split(file: BinaryIO, reading: Reading, delimiters: tuple[bytes, ...]) -> Iterator[_SplitRecords]:
    quoted: _QuotedRecords | None = None
    for lines in whole_lines(file, reading):
        if quoted is None:
            first = lines.data.lstrip(b"\r\n").partition(b"\n")[0]
            quoted = _QuotedRecords(max(delimiters, key=first.count), reading)
        if quoted.delimiter == TAB or (not quoted.is_open and b'"' not in lines.data):
            column = lines.column()
            rows = pc.indices_nonzero(pc.greater(pc.binary_length(column), 0))
            yield _SplitRecords(
                pc.split_pattern(column.take(rows), quoted.delimiter), pc.add(rows, lines.first)
            )
        else:
            numbered = enumerate(lines.column().to_pylist(), lines.first)
            yield quoted.split(deque(numbered))
    if quoted is not None and quoted.is_open:
        yield quoted.finish()


class _QuotedRecords:
    """Puts lines together to records, and takes a record apart."""

    def __init__(self, delimiter: bytes, reading: Reading) -> None:
        self.delimiter = delimiter
        self._reading = reading
        self._open: list[tuple[int, bytes]] = []
        self._bytes = 0

    @property
    def is_open(self) -> bool:
        """Whether the last line so far ended inside quotes."""
        return bool(self._open)

    def split(self, lines: deque[tuple[int, bytes]]) -> _SplitRecords:
        """Return the records that end in these lines, which come with their numbers."""
        records: list[tuple[int, list[bytes]]] = []
        while lines:
            number, line = lines.popleft()
            if not line and not self._open:
                continue
            is_inside = ends_inside(line, self.delimiter, is_inside=self.is_open)
            self._open.append((number, line))
            self._bytes += len(line)
            if not is_inside:
                whole = b"\n".join(text for _, text in self._open)
                records.append((self._open[0][0], values_of(whole, self.delimiter)))
                self._open, self._bytes = [], 0
            elif len(self._open) > LONGEST_RECORD_LINES or self._bytes > LONGEST_LINE:
                lines.extendleft(reversed(self._give_up()))
        values = pa.array([values for _, values in records], pa.list_(pa.binary()))
        return _SplitRecords(values, pa.array([number for number, _ in records], pa.int64()))

    def finish(self) -> _SplitRecords:
        """Return the records that are left when no more lines come."""
        left: list[_SplitRecords] = []
        while self._open:
            left.append(self.split(deque(self._give_up())))
        return _SplitRecords(*(pa.concat_arrays(list(arrays)) for arrays in zip(*left, strict=True)))

    def _give_up(self) -> list[tuple[int, bytes]]:
        """Skip the line in which the open quote stands; return those behind it, to be read again."""
        (number, line), *rest = self._open
        self._reading.skip(OPEN_QUOTE, f"line {number}", line)
        self._open, self._bytes = [], 0
        return rest
