"""The functions of SQL, in a real DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

from tests.integrations.tables import FORMS, KEYS, RULES, URLS
from undust.errors import InvalidRule, UndustError
from undust.integrations.duckdb import register
from undust.rules import RuleSet

if TYPE_CHECKING:
    from pathlib import Path


def test_a_query_gives_what_python_gives() -> None:
    """Row by row, over several vectors and threads, nulls and odd texts included."""
    connection = duckdb.connect(config={"threads": 2})
    register(connection, RULES)
    table = pa.table({"number": range(3 * len(URLS)), "url": URLS * 3})
    connection.register("seen", table)
    rows = connection.sql(
        "SELECT undust_canonicalize(url), undust_key(url) FROM seen ORDER BY number"
    ).fetchall()
    assert rows == list(zip(FORMS * 3, KEYS * 3, strict=True))


def test_functions_follow_the_rules_that_were_registered_last(tmp_path: Path) -> None:
    """A path, a set, or a compiled one; registered again, they are other functions."""
    connection = duckdb.connect()
    url = next(url for url, form in zip(URLS, FORMS, strict=True) if url and url != form)
    asked = f"SELECT undust_canonicalize('{url}')"
    register(connection, RULES.compile())
    before = connection.sql(asked).fetchall()
    register(connection, RuleSet())
    assert connection.sql(asked).fetchall() != before
    path = tmp_path / "rules.json"
    RULES.save(path)
    register(connection, path)
    assert connection.sql(asked).fetchall() == before
    assert connection.cursor().sql(asked).fetchall() == before


def test_what_goes_wrong_is_said_before_the_query(tmp_path: Path) -> None:
    """A rule file that is none, and a connection that was closed."""
    path = tmp_path / "rules.json"
    path.write_text("[]", encoding="utf-8")
    connection = duckdb.connect()
    with pytest.raises(InvalidRule, match="not a rule file"):
        register(connection, path)
    connection.close()
    with pytest.raises(UndustError, match="DuckDB does not take the function undust_canonicalize"):
        register(connection, RULES)
