"""The rules on columns of DataFrames, in a real Spark."""

from __future__ import annotations

import zlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.integrations.tables import CANONICALIZE, FORMS, KEYS, RULES, URLS
from undust.errors import UndustError
from undust.rules import RuleSet

pytest.importorskip("pyspark")

from undust.integrations import spark as in_spark

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

OTHERS = {
    "number": pa.array(range(len(URLS)), pa.int32()),
    "price": pa.array([Decimal(n) / 4 for n in range(len(URLS))], pa.decimal128(10, 2)),
    "tags": pa.array([[str(n), None] if n % 3 else None for n in range(len(URLS))], pa.list_(pa.string())),
    "where": pa.array([{"x": n, "y": None} for n in range(len(URLS))], pa.struct({"x": "i8", "y": "f8"})),
}


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    """URLs between other columns, in three partitions."""
    table = pa.table({"first": OTHERS["number"], "url": pa.array(URLS), **OTHERS})
    return spark.createDataFrame(table).repartition(3)


def sorted_rows(frame: DataFrame) -> dict[str, list[object]]:
    """The columns, in the order of the numbers."""
    columns: dict[str, list[object]] = frame.toArrow().sort_by("number").to_pydict()
    return columns


def test_a_column_is_added_and_nothing_else_changes(frame: DataFrame) -> None:
    """Of every type; what is null stays null."""
    done = in_spark.key(in_spark.canonicalize(frame, RULES), RULES)
    assert done.columns == [*frame.columns, "canonical", "key"]
    columns = sorted_rows(done)
    assert columns.pop("canonical") == FORMS
    assert columns.pop("key") == KEYS
    assert columns == sorted_rows(frame)


def test_a_column_may_be_written_over(frame: DataFrame, tmp_path: Path) -> None:
    """The one of URLs, or another; it keeps its place. Rules are given in any form."""
    path = tmp_path / "rules.json"
    RULES.save(path)
    over = in_spark.key(frame, path, into="url")
    assert over.columns == frame.columns
    assert sorted_rows(over)["url"] == KEYS
    other = in_spark.canonicalize(frame.withColumnRenamed("url", "address"), CANONICALIZE, "address", "first")
    assert other.columns[0] == "first"
    assert sorted_rows(other)["first"] == FORMS


def test_rules_are_compiled_once_in_a_process() -> None:
    """Whichever broadcast they came in; other rules are others."""
    data = zlib.compress(RULES.dumps())
    first, again = in_spark.Packed(b"1", data), in_spark.Packed(b"1", bytes(bytearray(data)))
    assert in_spark._compiled(first) is in_spark._compiled(again)  # noqa: SLF001 -- what a task calls
    other = in_spark.Packed(b"2", zlib.compress(RuleSet().dumps()))
    assert in_spark._compiled(other) is not in_spark._compiled(first)  # noqa: SLF001


def test_what_is_no_column_of_urls_is_told(frame: DataFrame) -> None:
    """At once, not when the job runs."""
    with pytest.raises(UndustError, match=r"no column 'uri' among first, url, .*; name the one of URLs"):
        in_spark.key(frame, RULES, "uri")
    with pytest.raises(UndustError, match="the column 'number' is int; cast it to string first"):
        in_spark.key(frame, RULES, "number")


def test_rules_travel_where_there_is_no_broadcast(frame: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with Spark Connect: the rules are in the plan, packed; too many are refused in a sentence."""
    travelling = in_spark._travelling  # noqa: SLF001 -- with another session
    connected: Any = object()
    monkeypatch.setattr(in_spark, "_travelling", lambda _, digest, data: travelling(connected, digest, data))
    assert sorted_rows(in_spark.key(frame, RULES))["key"] == KEYS
    monkeypatch.setattr(in_spark, "MOST_TRAVELLING", 8)
    with pytest.raises(UndustError, match="bytes of packed rules are too many for Spark Connect"):
        in_spark.key(frame, RULES)


def test_rules_are_a_function_of_columns_and_of_sql(frame: DataFrame, spark: SparkSession) -> None:
    """In an expression, and in a query once it is registered; what is null stays null."""
    form = in_spark.as_udf(RULES, spark)
    spark.udf.register("undust_key", in_spark.as_udf(RULES, spark, keys=True))
    frame.withColumn("canonical", form("url")).createOrReplaceTempView("seen")
    found = spark.sql("SELECT number, canonical, undust_key(url) AS key FROM seen")
    assert sorted_rows(found) == {"number": [*range(len(URLS))], "canonical": FORMS, "key": KEYS}
