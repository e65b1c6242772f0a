"""DuckDB: the rules as two functions of SQL.

    register(connection, "rules.json")
    connection.sql("SELECT count(DISTINCT undust_key(url)) FROM 'crawl.parquet'")

DuckDB hands over Arrow columns, as many at a time as it has threads; the core holds no lock of Python while
it works on one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from undust.extras import require

require("duckdb", "1.5", extra="learn")

import duckdb  # noqa: E402 -- loaded once it is known to be there
from duckdb.func import ARROW  # noqa: E402
from duckdb.sqltypes import VARCHAR  # noqa: E402

from undust.errors import UndustError  # noqa: E402
from undust.rules import canonicalizer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from undust.rules import Rules

CANONICALIZE, KEY = "undust_canonicalize", "undust_key"


def register(connection: duckdb.DuckDBPyConnection, rules: Rules) -> None:
    """Give a connection the functions `undust_canonicalize(url)` and `undust_key(url)`.

    Called again, the functions follow the new rules. What is NULL stays NULL.
    """
    batch = canonicalizer(rules).batch
    # DuckDB evaluates annotations of a function, which name types that are not loaded here; so it has none.
    _replace(connection, CANONICALIZE, lambda urls: batch(urls, keys=False))
    _replace(connection, KEY, lambda urls: batch(urls, keys=True))


def _replace(
    connection: duckdb.DuckDBPyConnection, name: str, function: Callable[[Any], pa.ChunkedArray]
) -> None:
    with suppress(duckdb.InvalidInputException):  # it was not there
        connection.remove_function(name)
    try:
        connection.create_function(name, function, [VARCHAR], VARCHAR, type=ARROW)
    except duckdb.Error as error:
        message = f"DuckDB does not take the function {name} ({error}); give it another connection"
        raise UndustError(message) from error
