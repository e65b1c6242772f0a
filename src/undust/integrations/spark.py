"""Spark: the rules on a column of any DataFrame.

    from undust.integrations.spark import key
    key(spark.read.parquet("s3a://crawl/"), "rules.json").groupBy("key").count()

The rules are broadcast once; each Python process of an executor compiles them once, whatever the number of
its tasks and frames, and works on Arrow batches. A task has no side effect, so Spark may run it again.

Spark Connect has no broadcast: there the rules travel, packed, with the function, in the plan of the query.
"""

from __future__ import annotations

import hashlib
import zlib
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from undust.extras import require

require("pyspark", "4.1", extra="spark")

import pyarrow as pa  # noqa: E402 -- it comes with the extra
from pyspark.sql import functions as sql  # noqa: E402 -- known to be there
from pyspark.sql.types import StringType, StructField, StructType  # noqa: E402

from undust.errors import UndustError  # noqa: E402
from undust.rules import RuleSet, canonicalizer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark import Broadcast, SparkContext
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql._typing import UserDefinedFunctionLike

    from undust.rules import Canonicalizer, Rules

MOST_SETS = 4
"""Rule sets that a process keeps compiled; the one unused for longest is released."""
MOST_TRAVELLING = 32 << 20
"""Bytes of packed rules in a plan: Spark Connect takes messages of 128 MB, and sends plans again."""


def canonicalize(frame: DataFrame, rules: Rules, column: str = "url", into: str = "canonical") -> DataFrame:
    """Return the frame with one more column, the canonical form of each URL: what to fetch.

    Args:
        frame: Any DataFrame; its other columns stay, and what is null stays null.
        rules: The path of a rule file that this program can read, a `RuleSet` or a `Canonicalizer`.
        column: The column of URLs.
        into: The column to write, which may be one that is there, `column` too.

    """
    return _mapped(frame, rules, column, into, keys=False)


def key(frame: DataFrame, rules: Rules, column: str = "url", into: str = "key") -> DataFrame:
    """Return the frame with one more column, the key of each URL: what to compare by.

    Args:
        frame: Any DataFrame; its other columns stay, and what is null stays null.
        rules: The path of a rule file that this program can read, a `RuleSet` or a `Canonicalizer`.
        column: The column of URLs.
        into: The column to write, which may be one that is there, `column` too.

    """
    return _mapped(frame, rules, column, into, keys=True)


def as_udf(rules: Rules, spark: SparkSession, *, keys: bool = False) -> UserDefinedFunctionLike:
    """Return the rules as a function on columns, for expressions and, once registered, for SQL.

    `spark.udf.register("undust_key", as_udf("rules.json", spark, keys=True))` makes it known to queries.
    Only the column of URLs goes to Python, in Arrow batches; all others stay in Java.

    Args:
        rules: The path of a rule file that this program can read, a `RuleSet` or a `Canonicalizer`.
        spark: The session in which it is used.
        keys: Give keys, to compare by, instead of canonical forms, to fetch.

    """
    made = sql.arrow_udf(  # type: ignore[attr-defined]  # Spark's stubs lack it
        _column_function(_packed(rules, spark), keys=keys), StringType()
    )
    return cast("UserDefinedFunctionLike", made)


def _column_function(packed: PackedForAll, *, keys: bool) -> Callable[[pa.Array], pa.Array]:
    # Spark looks at how many arguments it has, which those of a partial function would be among.
    def applied(urls: pa.Array) -> pa.Array:
        return _compiled(Packed(*packed.value)).batch(urls, keys=keys).cast(urls.type)

    # From these Spark knows what kind of function it is.
    applied.__annotations__ = {"urls": pa.Array, "return": pa.Array}
    return applied


def _packed(rules: Rules, spark: SparkSession) -> PackedForAll:
    data = canonicalizer(rules).rules.dumps()
    return _travelling(spark, hashlib.sha256(data).digest(), zlib.compress(data))


def _mapped(frame: DataFrame, rules: Rules, column: str, into: str, *, keys: bool) -> DataFrame:
    fields = frame.schema.fields
    _require_texts(fields, column)
    packed = _packed(rules, frame.sparkSession)
    written = StructField(into, StringType())
    place = next((place for place, field in enumerate(fields) if field.name == into), len(fields))
    schema = StructType([*fields[:place], written, *fields[place + 1 :]])
    function = partial(_with_column, packed=packed, column=column, into=into, keys=keys)
    return frame.mapInArrow(function, schema)


class TravellingRules(NamedTuple):
    """What goes with a function where there is no broadcast."""

    value: tuple[bytes, bytes]


PackedForAll: TypeAlias = "Broadcast[tuple[bytes, bytes]] | TravellingRules"


def _travelling(spark: SparkSession, digest: bytes, data: bytes) -> PackedForAll:
    """Return packed rules in a form that reaches every executor."""
    context: SparkContext | None = getattr(spark, "sparkContext", None)
    if context is not None:
        return context.broadcast((digest, data))
    if len(data) > MOST_TRAVELLING:
        message = (
            f"{len(data):,} bytes of packed rules are too many for Spark Connect, which has no broadcast; "
            "load the rules of fewer sites with undust.load(path, sites), or use a session without Connect"
        )
        raise UndustError(message)
    return TravellingRules((digest, data))


def _require_texts(fields: list[StructField], column: str) -> None:
    kinds = {field.name: field.dataType for field in fields}
    if column not in kinds:
        known = ", ".join(kinds) or "none"
        message = f"there is no column '{column}' among {known}; name the one of URLs with column="
        raise UndustError(message)
    if not isinstance(kinds[column], StringType):
        message = f"the column '{column}' is {kinds[column].simpleString()}; cast it to string first"
        raise UndustError(message)


def _with_column(
    batches: Iterator[pa.RecordBatch],
    packed: PackedForAll,
    column: str,
    into: str,
    *,
    keys: bool,
) -> Iterator[pa.RecordBatch]:
    apply = _compiled(Packed(*packed.value)).batch
    for batch in batches:
        urls = batch.column(column)
        done = apply(urls, keys=keys).cast(urls.type)
        place = batch.schema.get_field_index(into)
        yield batch.append_column(into, done) if place < 0 else batch.set_column(place, into, done)


class Packed:
    """The packed bytes of a rule file, identified by the digest of the file alone."""

    def __init__(self, digest: bytes, data: bytes) -> None:
        self.digest = digest
        self.data = data

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed) and self.digest == other.digest


@lru_cache(MOST_SETS)
def _compiled(packed: Packed) -> Canonicalizer:
    return RuleSet.loads(zlib.decompress(packed.data)).compile()
