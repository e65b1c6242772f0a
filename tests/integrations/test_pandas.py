"""The accessor, in a real pandas, and other Arrow objects."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from tests.integrations.tables import FORMS, KEYS, RULES, URLS
from undust.integrations.pandas import canonicalize, key

INDEX = range(10, 10 + len(URLS))


def plain(series: pd.Series) -> list[str | None]:
    """The values, whatever the series has for a missing one."""
    return [None if pd.isna(value) else value for value in series]


@pytest.mark.parametrize("dtype", ["str", "string", "category", object, pd.ArrowDtype(pa.string())])
def test_a_series_gives_what_python_gives(dtype: object) -> None:
    """Under its index and its name, in its type; categories become texts."""
    urls = pd.Series(URLS, index=INDEX, name="url", dtype=dtype)
    done = key(urls, RULES)
    assert plain(done) == KEYS
    assert list(done.index) == list(INDEX)
    assert done.name == "url"
    assert done.dtype == (urls.dtype.categories.dtype if dtype == "category" else urls.dtype)
    assert plain(canonicalize(urls, RULES)) == FORMS


def test_there_is_an_accessor() -> None:
    """As extensions of pandas have it, on a part of a series too."""
    urls = pd.Series(URLS, dtype="str")
    assert plain(urls[5:90].undust.key(RULES)) == KEYS[5:90]
    assert plain(urls.undust.canonicalize(RULES, threads=1)) == FORMS


def test_what_is_no_text_is_told() -> None:
    """A column of numbers has no URLs; one without a value has none either, and that is no mistake."""
    with pytest.raises(ValueError, match="expected a column of strings"):
        key(pd.Series([1, 2]), RULES)
    assert plain(key(pd.Series([None, None]), RULES)) == [None, None]
    assert plain(key(pd.Series([], dtype="str"), RULES)) == []


class Foreign:
    """A column of a library that only knows the protocol."""

    def __init__(self, column: pa.Array | pa.ChunkedArray, *, as_stream: bool) -> None:
        self._column = column
        if as_stream:
            self.__arrow_c_stream__ = self._column.__arrow_c_stream__
        else:
            self.__arrow_c_array__ = self._column.__arrow_c_array__


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_any_arrow_object_will_do(kind: pa.DataType) -> None:
    """Arrays and streams of chunks, by the PyCapsule protocol alone."""
    column = pa.array(URLS, kind)
    canonicalizer = RULES.compile()
    assert canonicalizer.batch(Foreign(column, as_stream=False), keys=True).to_pylist() == KEYS
    chunks = pa.chunked_array([column[:7], column[7:]])
    assert canonicalizer.batch(Foreign(chunks, as_stream=True), threads=2).to_pylist() == FORMS
