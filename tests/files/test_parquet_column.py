"""A column is added to a Parquet file: the others are copied, and every reader finds all of them."""

from __future__ import annotations

import io
import json
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from undust.errors import DamagedSource
from undust.files import parquet
from undust.files.parquet import ColumnChange, change_parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS = 20_000
SPARK = b"org.apache.spark.sql.parquet.row.metadata"
TABLE = pa.table(
    {
        "id": list(range(ROWS)),
        "url": [None if row % 7 == 0 else f"http://a.test/{row % 1000}?x={row}" for row in range(ROWS)],
        "nested": [{"a": [row], "b": "x"} for row in range(ROWS)],
        "coded": pa.array([str(row % 5) for row in range(ROWS)]).dictionary_encode(),
    }
)


def written(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401 -- options of Arrow's writer
    """Return a Parquet file."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def upper(texts: pa.Array) -> pa.Array:
    """Return the new column."""
    return pa.array([None if text is None else text.upper() for text in texts.to_pylist()], pa.string())


def changed(data: bytes, name: str = "new", *, drops_rows: bool = False) -> bytes:
    """Return the file with the new column."""
    out = bytearray()

    def choose(_: Sequence[str], __: Sequence[str]) -> str:
        return "url"

    change = ColumnChange("file", choose, name, lambda urls: (upper(urls), None), out.extend, drops_rows)
    change_parquet(io.BytesIO(data), change)
    return bytes(out)


def body(data: bytes) -> bytes:
    """Return all in front of the footer."""
    return data[: -8 - int.from_bytes(data[-8:-4], "little")]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"row_group_size": 7001, "write_page_index": True},
        {"compression": "none", "data_page_version": "2.0"},
        {"version": "1.0", "store_schema": False},
        {"row_group_size": 2000, "compression": "gzip"},
        {"use_dictionary": False, "compression": "brotli", "sorting_columns": [pq.SortingColumn(0)]},
    ],
)
def test_all_other_columns_are_copied(options: dict[str, Any]) -> None:
    """Byte for byte, with their row groups; types, metadata and values are read as before."""
    data = written(TABLE, **options)
    out = changed(data)
    assert out.startswith(body(data))
    before, after = pq.read_table(io.BytesIO(data)), pq.read_table(io.BytesIO(out))
    expected = before.append_column("new", upper(TABLE["url"]))
    assert after.equals(expected)
    assert after.schema.equals(expected.schema, check_metadata=True)
    old, new = pq.ParquetFile(io.BytesIO(data)).metadata, pq.ParquetFile(io.BytesIO(out)).metadata
    rows = [[each.row_group(place).num_rows for place in range(each.num_row_groups)] for each in (old, new)]
    assert rows[0] == rows[1]
    assert changed(out, "newer").startswith(body(out))  # what was written can be extended again


def test_duckdb_and_polars_read_it(tmp_path: Path) -> None:
    """They have readers of their own."""
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    path = tmp_path / "out.parquet"
    path.write_bytes(changed(written(TABLE, row_group_size=9000)))
    expected = upper(TABLE["url"]).to_pylist()
    assert polars.read_parquet(path)["new"].to_list() == expected
    found = (
        duckdb.connect().execute("SELECT id, new FROM read_parquet(?) ORDER BY id", [str(path)]).fetchall()
    )
    assert found == list(enumerate(expected))


def test_what_spark_noted_gets_the_column() -> None:
    """Spark reads the columns that this note names, and no other."""
    note = {"type": "struct", "fields": [{"name": "url", "type": "string", "nullable": True, "metadata": {}}]}
    table = TABLE.select(["url"]).replace_schema_metadata({SPARK: json.dumps(note)})
    for drops_rows in (False, True):
        out = io.BytesIO(changed(written(table), drops_rows=drops_rows))
        noted = pq.ParquetFile(out).metadata.metadata
        assert [field["name"] for field in json.loads(noted[SPARK])["fields"]] == ["url", "new"]


def test_rows_are_written_again_where_a_column_is_replaced() -> None:
    """A column of that name is there."""
    out = changed(written(TABLE), "coded")
    assert pq.read_table(io.BytesIO(out))["coded"].to_pylist() == upper(TABLE["url"]).to_pylist()


def test_damaged_footers_are_read_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new column is the same as when all rows are written again, or a sentence says what is wrong."""
    chance = random.Random(5)
    data = written(TABLE.slice(0, 300), row_group_size=100)
    start = len(body(data))
    for _ in range(100):
        place, size = chance.randrange(start, len(data) - 8), chance.randrange(1, 3)
        damaged = data[:place] + chance.randbytes(size) + data[place + size :]
        results = []
        for is_copied in (True, False):
            with monkeypatch.context() as patched:
                if not is_copied:
                    patched.setattr(parquet, "_extendable", lambda *_: None)
                try:
                    out = pq.read_table(io.BytesIO(changed(damaged)), columns=["new"])
                except (DamagedSource, pa.ArrowException, OSError) as error:
                    results.append(type(error))
                else:
                    results.append(out.to_pydict())
        assert results[0] == results[1] or DamagedSource in results, (place, damaged[place : place + size])
