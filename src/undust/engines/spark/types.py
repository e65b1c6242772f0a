"""Our columns in Spark, which knows fewer types than Arrow, and back as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.types as kinds

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

_NAMES = {
    pa.string(): "string",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.bool_(): "boolean",
    pa.binary(): "binary",
    pa.timestamp("us", "UTC"): "timestamp",
}
"""What Spark calls the types that both know."""


def stored(schema: pa.Schema) -> pa.Schema:
    """Return the schema in types that Spark has too, wide enough for every value."""
    return pa.schema([pa.field(field.name, _stored(field.type)) for field in schema])


def _stored(kind: pa.DataType) -> pa.DataType:
    if kinds.is_list(kind):
        return pa.list_(_stored(kind.value_type))
    if kinds.is_unsigned_integer(kind):
        return pa.int64()
    return pa.string() if kinds.is_large_string(kind) else kind


def in_spark(schema: pa.Schema) -> StructType:
    """Return the Spark type of a stored schema."""
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415 -- loaded when an engine is made

    return StructType([StructField(field.name, _in_spark(field.type)) for field in schema])


def _in_spark(kind: pa.DataType) -> DataType:
    from pyspark.sql.types import ArrayType, DataType  # noqa: PLC0415 -- loaded when an engine is made

    if kinds.is_list(kind):
        return ArrayType(_in_spark(kind.value_type))
    return DataType.fromDDL(_NAMES[kind])


def to_store(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows in the types in which Spark stores a schema."""
    kept = stored(schema)
    columns = [_seen_as(rows.column(field.name), pa.uint64(), pa.int64()) for field in kept]
    return pa.table(columns, kept.names).cast(kept)


def restored(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows that come from Spark in the types that they had."""
    # Spark gives times in the zone of the session; they are the same times.
    wanted = pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003
    columns = [
        _seen_as(rows.column(field.name), pa.int64(), pa.uint64())
        if field.type == pa.uint64()
        else rows.column(field.name)
        for field in schema
    ]
    return pa.table(columns, wanted.names).cast(wanted)


def _seen_as(column: pa.ChunkedArray, kind: pa.DataType, other: pa.DataType) -> pa.ChunkedArray:
    """Return the same bits as another type: 64 of them fit, whatever they mean."""
    if column.type != kind:
        return column
    return pa.chunked_array([chunk.view(other) for chunk in column.chunks], other)
