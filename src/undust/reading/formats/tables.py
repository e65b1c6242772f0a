"""Tables: CSV and TSV with a header, JSON lines, JSON arrays and Parquet.

Only a quote at the start of a CSV value opens a quoted one, which may hold line breaks; if its end is
not found within reason, the line it began in is damaged and the next line starts afresh, so that one
stray quote costs one record. In TSV, quotes around a value are taken off and mean nothing else.

Scrapy's feed exports are JSON or CSV. A JSON array is read object by object, so that one of any length
passes; in one that is damaged, reading goes on at the next object.
"""

from __future__ import annotations

import json
import re
from collections import deque
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust.files.arrays import NOT_JSON, OBJECTS_AT_ONCE, array_pieces
from undust.files.delimited import (
    LONGEST_RECORD_LINES,
    OPEN_QUOTE,
    ends_inside,
    require_names,
    unquoted,
    values_of,
)
from undust.files.parquet import ROWS, first_sentence, opened
from undust.files.streams import LONGEST_LINE
from undust.reading.formats.json_lines import json_columns
from undust.reading.formats.recognising import DELIMITERS, TAB, URL_START
from undust.reading.formats.rows import (
    Place,
    batch_of,
    blocks_of,
    candidates,
    chosen,
    note_rows,
    shown_rows,
    whole_lines,
)
from undust.reading.formats.values import texts, urls

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow.parquet as pq

    from undust.reading.formats import Reading


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
            require_names(header, reading.name)
            columns = chosen(header, reading, _url_like(header, rows.values[1:20].to_pylist()))
            start = 1
        if header is not None:
            yield _batch_delimited(rows.values[start:], rows.lines[start:], header, columns, reading)


def _url_like(header: list[str], rows: list[list[bytes]]) -> list[str]:
    """Return the columns that hold only URLs in some rows."""
    values = zip(*(row for row in rows if len(row) == len(header)), strict=True)
    return [name for name, column in zip(header, values, strict=False) if all(map(URL_START.match, column))]


def _batch_delimited(
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
        """Skip the line with the open quote; return those after it, to be read again."""
        (number, line), *rest = self._open
        self._reading.skip(OPEN_QUOTE, f"line {number}", line)
        self._open, self._bytes = [], 0
        return rest


URLS = {"url", "canonical", "redirect"}
_URL = re.compile(r"\s*https?://", re.IGNORECASE)


def read_jsonl(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the objects of JSON lines."""
    names: dict[str, tuple[str, ...]] | None = None
    seen: set[str] = set()
    for lines in whole_lines(file, reading):
        column = lines.column()
        rows = pc.indices_nonzero(pc.invert(pc.match_substring_regex(column, r"^\s*$")))
        texts_of_rows = column.take(rows)
        if names is None and len(rows):
            names = _names([_object(line) for line in texts_of_rows[:20].to_pylist()], reading)
        if names is None:
            continue
        found = json_columns(texts_of_rows, [name for group in names.values() for name in group])
        note_rows(rows.take(found.damaged), reading.skip, NOT_JSON, column, lines.place)
        seen |= _filled(found.columns)
        yield _batch(found.columns, names, _places(rows.take(found.rows), lines.place), reading)
    _note_unseen(seen, reading)


def read_json(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the objects of a JSON array."""
    objects = _objects(blocks_of(file), reading)
    names: dict[str, tuple[str, ...]] | None = None
    seen: set[str] = set()
    while some := list(islice(objects, OBJECTS_AT_ONCE)):
        # Line breaks between the parts of an object mean nothing, and Arrow wants one a line.
        column = pa.array([data.replace(b"\n", b" ") for _, data in some], pa.binary())
        offsets = pa.array([offset for offset, _ in some], pa.int64())
        names = names or _names([_object(line) for line in column[:20].to_pylist()], reading)
        found = json_columns(column, [name for group in names.values() for name in group])
        note_rows(found.damaged, reading.skip, NOT_JSON, column, _offsets(offsets))
        seen |= _filled(found.columns)
        yield _batch(found.columns, names, _offsets(offsets.take(found.rows)), reading)
    _note_unseen(seen, reading)


def _offsets(offsets: pa.Array) -> Place:
    return lambda row: f"offset {offsets[row].as_py()}"


def _places(rows: pa.Array, place: Place) -> Place:
    return lambda row: place(rows[row].as_py())


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _names(objects: list[Mapping[str, Any]], reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return the names that each of our columns may have; every line of JSON may use others."""
    header = list(dict.fromkeys(name for value in objects for name in value))
    names = candidates(reading)
    if not header or set(names["url"]) & set(header):
        return names
    held = {name: [value[name] for value in objects if value.get(name) is not None] for name in header}
    url_like = [
        name
        for name, values in held.items()
        if all(isinstance(value, str) and _URL.match(value) for value in values)
    ]
    return names | {"url": (chosen(header, reading, url_like)["url"],)}


def _note_unseen(seen: set[str], reading: Reading) -> None:
    """Report which columns that the person named are in no record at all."""
    for theirs in sorted(set(reading.options.columns.values()) - seen):
        reading.lose(f"no record has the column '{theirs}'", "the whole file")


def _filled(columns: Mapping[str, pa.Array]) -> set[str]:
    return {name for name, column in columns.items() if column.null_count < len(column)}


def _batch(
    columns: Mapping[str, pa.Array], names: Mapping[str, tuple[str, ...]], place: Place, reading: Reading
) -> pa.RecordBatch:
    raw = {}
    for ours, theirs in names.items():
        filled = [columns[name] for name in theirs if columns[name].null_count < len(columns[name])]
        if len(filled) == 1:
            raw[ours] = filled[0]
        elif filled:
            raw[ours] = pc.coalesce(*map(urls if ours in URLS else texts, filled))
    some = next(iter(columns.values()))
    raw.setdefault("url", pa.nulls(len(some), pa.string()))
    return batch_of(raw, place, reading)


def _objects(blocks: Iterator[bytes], reading: Reading) -> Iterator[tuple[int, bytes]]:
    """Give the bytes of each object of an array, with the offset at which it begins."""

    def skip(reason: str, offset: int, data: bytes) -> None:
        reading.skip(reason, f"offset {offset}", data)

    return ((piece.offset, piece.data) for piece in array_pieces(blocks, skip) if piece.is_object)


def read_parquet(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the rows of a Parquet file."""
    with opened(file, reading.name) as parquet:
        columns = chosen(parquet.schema_arrow.names, reading)
        yield from _parquet_batches(parquet, columns, reading)


def _parquet_batches(
    parquet: pq.ParquetFile, columns: Mapping[str, str], reading: Reading
) -> Iterator[pa.RecordBatch]:
    first = 1
    try:
        for batch in parquet.iter_batches(ROWS, columns=sorted(set(columns.values()))):
            raw = {ours: batch.column(theirs) for ours, theirs in columns.items()}
            yield batch_of(raw, partial(_place_of_row, first), reading)
            first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        left = parquet.metadata.num_rows - first + 1
        reading.skip("cannot be unpacked", f"row {first}", first_sentence(error).encode(), max(left, 1))


def _place_of_row(first: int, row: int) -> str:
    return f"row {first + row}"
