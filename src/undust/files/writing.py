"""A table into a file: Parquet, JSON lines or CSV, a batch of rows at a time.

A column is added to a Parquet file without touching the others: the file is copied as it is up to its footer,
the pages of the new column follow, and a new footer names them beside the old ones. All offsets of the old
columns stay right. The footer is Thrift's compact protocol, which pyarrow does not hand out.
"""

from __future__ import annotations

import base64
import io
import json
import struct
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from undust.errors import UndustError
from undust.files.streams import open_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Struct = dict[int, tuple[int, Any]]
    """By number of the field: its type and its value."""

_FORMATS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
_PACKINGS = (".gz", ".zst")
_ROWS = 16_384
"""In a row group of Parquet."""


def format_of(path: str) -> str:
    """Return the format that a name shows: `clusters.csv.gz` is `csv`."""
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes if suffix.lower() not in _PACKINGS]
    if suffixes and suffixes[-1] in _FORMATS:
        return _FORMATS[suffixes[-1]]
    message = f"{path}: its name shows no format; end it in .parquet, .jsonl or .csv, or give --output-format"
    raise UndustError(message)


def write_batches(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    path: str,
    format: str | None = None,  # noqa: A002
) -> None:
    """Write all rows; the file is there whole or not at all."""
    chosen = format or format_of(path)
    with open_output(path) as output, _WRITERS[chosen](schema, output.write) as write:
        for batch in even(batches):
            write(batch)


def even(batches: Iterable[pa.RecordBatch], rows: int = _ROWS) -> Iterator[pa.RecordBatch]:
    """Yield batches of this many rows (the last has fewer), so that a file does not depend on its input."""
    held: list[pa.RecordBatch] = []
    room = rows
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, room)
            held.append(part)
            start += part.num_rows
            room -= part.num_rows
            if not room:
                yield _as_one(held)
                held, room = [], rows
    if held:
        yield _as_one(held)


def _as_one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


class _Sink(io.RawIOBase):
    """A file object for Arrow, which asks where it is."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        super().__init__()
        self._write = write
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 -- any buffer
        self._write(bytes(data))
        self._at += len(data)
        return len(data)

    def tell(self) -> int:
        return self._at


@contextmanager
def writing_parquet(
    schema: pa.Schema,
    write: Callable[[bytes], object],
    **packing: Any,  # noqa: ANN401 -- options of Arrow's writer
) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """Write batches as one Parquet file; if something fails, the file has no end and is not Parquet.

    Args:
        schema: Of the batches.
        write: Takes the bytes.
        packing: How columns are packed, as Arrow's writer takes it.

    """
    writer = pq.ParquetWriter(_Sink(write), schema, **{"compression": "zstd"} | packing)
    try:
        yield writer.write_batch
    except BaseException:
        writer.is_open = False
        raise
    writer.close()


_MARK = b"PAR1"
_END_BYTES = 8
"""Of a Parquet file: the size of its footer, and the mark."""
_COPIED_BYTES = 1 << 20
_ARROW_SCHEMA, SPARK_SCHEMA = b"ARROW:schema", b"org.apache.spark.sql.parquet.row.metadata"
_I64, _STRUCT = 6, 12
_NOTES, _ORDERS = 5, 7
"""The fields of a footer with what programs noted, and with the order of each column's values."""


class Extendable:
    """A Parquet file that can get one more column; `ValueError` or `IndexError` if that is not certain."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        end = file.seek(-_END_BYTES, io.SEEK_END)
        size, mark = struct.unpack("<I4s", file.read(_END_BYTES))
        self._body = file.seek(end - size)
        data = file.read(size)
        self._footer = _Compact(data).struct()
        _require(mark == _MARK and _packed_struct(self._footer) == data)
        _require(not self._footer.keys() & {8, 9})  # encrypted
        self.rows = [group[3][1] for group in self._groups]
        _require(all(rows > 0 for rows in self.rows))
        for group in self._groups:
            for column in group[1][1][1]:
                _require(not column.keys() & {1, 8, 9})  # in another file, or encrypted
                _, place = column[3]
                start = min(place[number][1] for number in (9, 11) if place.get(number, (0, 0))[1])
                _require(0 < start <= self._body - place[7][1])
        for pair in self._footer.get(_NOTES, (9, (_STRUCT, [])))[1][1]:
            _with_field(pair, pa.field("", pa.string()))

    @property
    def _groups(self) -> list[Struct]:
        return list(self._footer[4][1][1])

    @contextmanager
    def adding_texts(
        self, name: str, compression: str, write: Callable[[bytes], object]
    ) -> Iterator[Callable[[pa.Array], object]]:
        """Give a function that takes the new column piece by piece, each within one row group."""
        self._file.seek(0)
        left = self._body
        while left and (data := self._file.read(min(left, _COPIED_BYTES))):
            write(data)
            left -= len(data)
        end = bytearray()
        is_closing = False

        def write_pages(data: bytes) -> None:
            if is_closing:
                end.extend(data)
            elif sink.tell():  # the mark at the start of a file is there already
                write(data)

        sink = _Sink(write_pages)
        # Pages with a dictionary could not be joined to one column.
        plain = {"use_dictionary": False, "write_statistics": False, "compression": compression}
        field = pa.field(name, pa.string())
        writer = pq.ParquetWriter(sink, pa.schema([field]), **plain)
        try:
            yield lambda column: writer.write_table(pa.table([column], schema=pa.schema([field])))
        except BaseException:
            writer.is_open = False
            raise
        is_closing = True
        writer.close()
        size = int.from_bytes(end[-_END_BYTES : -len(_MARK)], "little")
        pages, added = end[: -size - _END_BYTES], _Compact(bytes(end[-size - _END_BYTES :])).struct()
        footer = self._with_column(added, field)
        write(bytes(pages) + footer + len(footer).to_bytes(4, "little") + _MARK)

    def _with_column(self, added: Struct, field: pa.Field) -> bytes:
        """Return the footer with the column of another one, which begins where the pages of this one end."""
        root, *elements = self._footer[2][1][1]
        root = root | {5: (root[5][0], root[5][1] + 1)}
        footer = self._footer | {2: (9, (_STRUCT, [root, *elements, added[2][1][1][1]]))}
        chunks = iter([(group[3][1], group[1][1][1][0][3][1]) for group in added[4][1][1]])
        groups = []
        for group in self._groups:
            own: list[tuple[int, Struct]] = []
            while sum(rows for rows, _ in own) < group[3][1]:
                own.append(next(chunks))
            groups.append(_with_chunk(group, _joined([chunk for _, chunk in own]), self._body - len(_MARK)))
        footer[4] = (9, (_STRUCT, groups))
        if _NOTES in footer:
            footer[_NOTES] = (9, (_STRUCT, [_with_field(pair, field) for pair in footer[_NOTES][1][1]]))
        if _ORDERS in footer:
            footer[_ORDERS] = (9, (_STRUCT, [*footer[_ORDERS][1][1], {1: (_STRUCT, {})}]))
        return _packed_struct(footer)


def _require(is_so: bool) -> None:  # noqa: FBT001 -- what is required
    if not is_so:
        message = "not a file that can be extended"
        raise ValueError(message)


def _joined(chunks: list[Struct]) -> Struct:
    """Return what describes the pages of several row groups, which follow each other, as those of one."""
    first = chunks[0]
    at = first[9][1]
    for chunk in chunks:
        _require(chunk[9][1] == at and 11 not in chunk)  # noqa: PLR2004 -- a dictionary
        at += chunk[7][1]
    sums = {number: (_I64, sum(chunk[number][1] for chunk in chunks)) for number in (5, 6, 7)}
    return {number: first[number] for number in (1, 2, 3, 4, 9)} | sums


def _with_chunk(group: Struct, chunk: Struct, shift: int) -> Struct:
    """Return a row group with one more column, whose pages have moved."""
    placed = {2: (_I64, 0), 3: (_STRUCT, chunk | {9: (_I64, chunk[9][1] + shift)})}
    sizes = {to: (_I64, group[to][1] + chunk[of][1]) for to, of in ((2, 6), (6, 7)) if to in group}
    return group | {1: (9, (_STRUCT, [*group[1][1][1], placed]))} | sizes


def _with_field(pair: Struct, field: pa.Field) -> Struct:
    """Return what a program noted in a file: schemas, by which it reads, get the new column."""
    if pair[1][1] == _ARROW_SCHEMA:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(pair[2][1]))).append(field)
        return pair | {2: (8, base64.b64encode(schema.serialize().to_pybytes()))}
    if pair[1][1] == SPARK_SCHEMA:
        return pair | {2: (8, with_spark_column(pair[2][1], field.name))}
    return pair


def with_spark_column(schema: bytes, name: str) -> bytes:
    """Return what Spark noted of its columns, by which it reads, with one more column of texts."""
    told = json.loads(schema)
    told["fields"].append({"name": name, "type": "string", "nullable": True, "metadata": {}})
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


class _Compact:
    """A reader of Thrift's compact protocol: a struct is a dict, a list its type and its values."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        _require(self._at <= len(self._data))
        return self._data[self._at - size : self._at]

    def _number(self) -> int:
        number = shift = 0
        while (byte := self._byte()) & 0x80:
            number |= (byte & 0x7F) << shift
            shift += 7
        return number | byte << shift

    def _signed(self) -> int:
        number = self._number()
        return number >> 1 ^ -(number & 1)

    def struct(self) -> Struct:
        fields: Struct = {}
        last = 0
        while head := self._byte():
            kind = head & 15
            last = last + (head >> 4) if head >> 4 else self._signed()
            fields[last] = (kind, kind == 1 if kind in (1, 2) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:  # noqa: ANN401 -- of any type
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 8:  # noqa: PLR2004 -- bytes
            return self._bytes(self._number())
        if kind == _STRUCT:
            return self.struct()
        if kind == 9:  # noqa: PLR2004 -- a list
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._number()  # noqa: PLR2004 -- the size follows
            return head & 15, [self._value(head & 15) for _ in range(size)]
        _require(kind in (1, 2, 3, 7))
        return self._bytes(8 if kind == 7 else 1)  # noqa: PLR2004 -- a number of eight bytes


def _packed_struct(fields: Struct) -> bytes:
    out = bytearray()
    last = 0
    for number, (kind, value) in sorted(fields.items()):
        is_near = 0 < number - last < 16  # noqa: PLR2004 -- the difference fits into the head
        is_flag = kind in (1, 2)
        head = (1 if value else 2) if is_flag else kind
        out += bytes([(number - last) << 4 | head]) if is_near else bytes([head]) + _packed_signed(number)
        out += b"" if is_flag else _packed_value(kind, value)
        last = number
    return bytes(out) + b"\0"


def _packed_value(kind: int, value: Any) -> bytes:  # noqa: ANN401 -- of any type
    if kind in (4, 5, 6):
        return _packed_signed(value)
    if kind == 8:  # noqa: PLR2004 -- bytes
        return _packed_number(len(value)) + bytes(value)
    if kind == _STRUCT:
        return _packed_struct(value)
    if kind == 9:  # noqa: PLR2004 -- a list
        of, values = value
        size = len(values)
        head = bytes([size << 4 | of]) if size < 15 else bytes([0xF0 | of]) + _packed_number(size)  # noqa: PLR2004
        return head + b"".join(_packed_value(of, each) for each in values)
    return bytes(value)


def _packed_signed(number: int) -> bytes:
    return _packed_number(number << 1 if number >= 0 else ~number << 1 | 1)


def _packed_number(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:  # noqa: PLR2004 -- seven bits a byte
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


@contextmanager
def _csv(schema: pa.Schema, write: Callable[[bytes], object]) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """Write batches as CSV; a list, which CSV has no word for, is written as JSON."""
    options = pa_csv.WriteOptions(quoting_style="needed")
    lists = [place for place, field in enumerate(schema) if pa.types.is_list(field.type)]
    for place in lists:
        schema = schema.set(place, pa.field(schema.field(place).name, pa.string()))
    with pa_csv.CSVWriter(_Sink(write), schema, write_options=options) as writer:

        def write_batch(batch: pa.RecordBatch) -> None:
            columns = [
                _as_json(column) if place in lists else column for place, column in enumerate(batch.columns)
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema) if lists else batch)

        yield write_batch


def _as_json(column: pa.Array) -> pa.Array:
    return pa.array([None if each is None else json.dumps(each) for each in column.to_pylist()], pa.string())


@contextmanager
def _json_lines(
    _: pa.Schema, write: Callable[[bytes], object]
) -> Iterator[Callable[[pa.RecordBatch], object]]:
    def write_batch(batch: pa.RecordBatch) -> None:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
        write("".join(lines).encode(errors="surrogateescape"))

    yield write_batch


_WRITERS = {"parquet": writing_parquet, "csv": _csv, "jsonl": _json_lines}
