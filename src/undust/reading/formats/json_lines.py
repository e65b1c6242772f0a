"""JSON objects, one a line, to raw columns.

Arrow reads them several times faster than Python, and gives up on the first that is damaged or has a
number where the one before had a text. So a block of lines goes through Arrow if that can be trusted
to mean the same, and line by line through `json` if not.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import json as arrow_json

if TYPE_CHECKING:
    from collections.abc import Iterable

_TRUTH = "listed"
"""The one key whose values are true and false."""
_SNIFFED_LINES = 50
_LARGEST_INT64 = (1 << 63) - 1


class ParsedLines(NamedTuple):
    """The values of the lines."""

    columns: dict[str, pa.Array]
    """One raw column for each key that was wanted; null where a line does not have it."""
    rows: pa.Array
    """The numbers of the lines that were read."""
    damaged: pa.Array
    """The numbers of the lines that were not."""


def json_columns(lines: pa.Array, keys: Iterable[str]) -> ParsedLines:
    """Return the values of some keys of JSON objects; `lines` is a binary column of them, none blank."""
    wanted = sorted(keys)
    table = _by_arrow(lines, wanted)
    if table is not None:
        columns = {key: table.column(key).combine_chunks() for key in wanted}
        return ParsedLines(columns, pa.array(range(len(lines)), pa.int64()), pa.array([], pa.int64()))
    return _by_python(lines, wanted)


def _by_arrow(lines: pa.Array, keys: list[str]) -> pa.Table | None:
    is_framed = pc.and_(pc.starts_with(lines, b"{"), pc.ends_with(lines, b"}"))
    if not len(lines) or not pc.all(is_framed).as_py():
        return None
    data = b"\n".join(lines.to_pylist())
    schema = _sniffed_schema(lines, keys)
    if schema is None or not _is_utf8(data):
        return None
    try:
        table = arrow_json.read_json(
            pa.BufferReader(data),
            arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError):
        return None
    return table if table.num_rows == len(lines) else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _sniffed_schema(lines: pa.Array, keys: list[str]) -> pa.Schema | None:
    """Return types that fit the first lines; None if no one type does."""
    objects = []
    for line in lines[:_SNIFFED_LINES].to_pylist():
        value = _parsed(line)
        if value is None:
            return None
        objects.append(value)
    fields = []
    for key in keys:
        values = [value[key] for value in objects if value.get(key) is not None]
        is_truth = key == _TRUTH and values and all(isinstance(value, bool) for value in values)
        kind = pa.bool_() if is_truth else _type_of(values)
        if kind is None:
            return None
        fields.append(pa.field(key, kind))
    return pa.schema(fields)


def _type_of(values: list[Any]) -> pa.DataType | None:
    if all(isinstance(value, str) for value in values):
        return pa.string()
    if all(isinstance(value, list) for value in values):
        inner = _type_of([item for value in values for item in value])
        return None if inner is None or not pa.types.is_integer(inner) else pa.list_(inner)
    if any(isinstance(value, bool) or not isinstance(value, int) for value in values):
        return None
    return pa.int64() if all(abs(value) <= _LARGEST_INT64 for value in values) else None


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        text = line.decode("utf-8", "surrogateescape")
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _by_python(lines: pa.Array, keys: list[str]) -> ParsedLines:
    objects = [_parsed(line) for line in lines.to_pylist()]
    rows = [row for row, value in enumerate(objects) if value is not None]
    damaged = [row for row, value in enumerate(objects) if value is None]
    kept = [value for value in objects if value is not None]
    columns = {key: pa.array([_bytes_of(value.get(key)) for value in kept], pa.binary()) for key in keys}
    return ParsedLines(columns, pa.array(rows, pa.int64()), pa.array(damaged, pa.int64()))


def _bytes_of(value: Any) -> bytes | None:  # noqa: ANN401 -- any JSON value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]  # what Scrapy's item loaders make of a field by default
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    # Bytes that were not UTF-8 become what they were; half a character, which an escape can write, stays one.
    for errors in ("strict", "surrogateescape", "surrogatepass"):
        with suppress(UnicodeEncodeError):
            return text.encode("utf-8", errors)
    return None
