"""Columns of string views, as Polars and DuckDB hand them over, at every door of the package.

A view of short texts needs no buffer for data, and `cast` gives it an empty place for one. Arrow 18 to 24
crashes when such an array is handed over, even to itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import undust
from undust.engines import LocalEngine
from undust.errors import SourceError, UndustError
from undust.jobs.find_duplicates import write_clusters
from undust.rules import Rule, RuleSet
from undust.urls import KeyValueView, TokenView, normalize, site_of
from undust.urls.url import map_column, one_array

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS: list[list[str | None]] = [
    [],
    ["", ""],
    ["", None],
    [None, None],
    ["http://a.test/", ""],
    ["http://a.test/1?sid=2", "", None, "http://a.test/1"],
]
RULES = RuleSet([Rule("a.test", "replace", "?sid=2", "")])
KINDS = [pa.string_view(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


def columns_of(texts: list[str | None], kind: pa.DataType) -> list[Any]:
    """The texts as an array, cut into chunks, and as no chunk at all."""
    array = pa.array(texts, pa.string()).cast(kind)
    return [array, pa.chunked_array([array, array]), pa.chunked_array([array[:1], array[1:]])]


DOORS: dict[str, Callable[[Any], list[Any]]] = {
    "normalize": lambda column: normalize(column).to_pylist(),
    "site_of": lambda column: site_of(column).to_pylist(),
    "TokenView": lambda column: TokenView.of(column).codes.to_pylist(),
    "KeyValueView": lambda column: KeyValueView.of(column).values.to_pylist(),
    "Canonicalizer": lambda column: undust.Canonicalizer(RULES).batch(column).to_pylist(),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("texts", TEXTS, ids=str)
def test_columns(door: str, texts: list[str | None]) -> None:
    """What a column of views gives is what a column of strings gives."""
    views = [*columns_of(texts, pa.string_view()), pa.chunked_array([], pa.string_view())]
    plain = [*columns_of(texts, pa.string()), pa.chunked_array([], pa.string())]
    assert [DOORS[door](column) for column in views] == [DOORS[door](column) for column in plain]


def has_buffers(array: pa.Array) -> bool:
    """Whether an array lacks no buffer but that of its nulls."""
    return all(buffer is not None for buffer in array.buffers()[1:])


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
def test_nothing_without_a_buffer_is_handed_over(kind: pa.DataType) -> None:
    """The array that those versions of Arrow make of two empty texts does not reach the core as it is."""
    array = pa.array(["", ""]).cast(kind)
    for column in (array, pa.chunked_array([array])):
        given = one_array(column)
        assert all(buffer is not None for buffer in given.buffers()[1:])
        assert given.to_pylist() == array.to_pylist()
        has_all = map_column(
            column, lambda got: pa.array([all(buffer is not None for buffer in got.buffers()[1:])])
        )
        assert has_all.to_pylist() == [True]


def judged(seen: pa.Table) -> str:
    """What a rule set does to the table, or why nobody can tell."""
    try:
        return repr(undust.evaluate(RULES, seen))
    except UndustError as error:
        return str(error)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("texts", TEXTS, ids=str)
def test_tables(kind: pa.DataType, texts: list[str | None], tmp_path: Path) -> None:
    """Tables of views, wide strings or dictionaries give the clusters that tables of strings give."""
    names = ("url", "digest", "canonical", "redirect", "cluster")
    for views, plain in zip(columns_of(texts, kind), columns_of(texts, pa.string()), strict=True):
        seen, expected = (pa.table(dict.fromkeys(names, column)) for column in (views, plain))
        clusters = undust.find_duplicates(expected).table()
        assert undust.find_duplicates(seen).table().equals(clusters)
        with LocalEngine() as engine:
            write_clusters(seen, str(tmp_path / "c.jsonl"), engine)
            written = undust.read(tmp_path / "c.jsonl").table if len(clusters) else clusters
            assert written["url"].to_pylist() == clusters["url"].to_pylist()
            assert engine.collect(seen).num_rows == len(plain)
        assert judged(seen) == judged(expected)


def test_columns_that_are_no_observations() -> None:
    """Other columns do not matter; one that cannot be converted is named in one sentence."""
    seen = pa.table(
        {"url": ["http://a.test/"], "site": [7], "more": [[{"x": 1}]], "time": ["2026-11-15T00:23:57Z"]}
    )
    assert undust.find_duplicates(seen).summary.urls == 1
    wrong = seen.set_column(3, "time", pa.array(["soon"]))
    with pytest.raises(SourceError, match="the column 'time' cannot be taken for timestamp"):
        undust.find_duplicates(wrong)
