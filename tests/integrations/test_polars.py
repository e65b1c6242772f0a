"""The expressions, in a real Polars."""

from __future__ import annotations

import polars as pl
import pytest

from tests.integrations.tables import FORMS, KEYS, RULES, URLS
from undust.integrations.polars import canonicalize, key

FRAME = pl.DataFrame({"url": URLS})


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_expressions_give_what_python_gives(engine: str) -> None:
    """Row by row, in either engine, nulls and odd texts included."""
    lazy = FRAME.lazy().select(form=canonicalize(pl.col("url"), RULES), key=key(pl.col("url"), RULES))
    done = lazy.collect(engine=engine)  # type: ignore[call-overload]  # it is one of two words
    assert done["form"].to_list() == FORMS
    assert done["key"].to_list() == KEYS


def test_there_is_a_namespace() -> None:
    """As plugins of Polars have it; in a group, over slices, and with another number of threads."""
    columns = pl.col("url")
    one = FRAME.slice(5, 100).select(columns.undust.key(RULES, threads=2))  # type: ignore[attr-defined]
    assert one["url"].to_list() == KEYS[5:105]
    counted = FRAME.group_by(columns.undust.canonicalize(RULES)).len()  # type: ignore[attr-defined]
    assert dict(counted.iter_rows()) == {form: FORMS.count(form) for form in set(FORMS)}


def test_texts_in_another_form_are_texts() -> None:
    """Categories and columns of nothing but nulls; a number is told."""
    categories = FRAME.select(pl.col("url").cast(pl.Categorical))
    assert categories.select(key(pl.col("url"), RULES))["url"].to_list() == KEYS
    nothing = pl.DataFrame({"url": [None, None]}).select(key(pl.col("url"), RULES))
    assert nothing["url"].to_list() == [None, None]
    assert nothing.schema == {"url": pl.String}
    empty = FRAME.clear().select(key(pl.col("url"), RULES))
    assert empty.schema == {"url": pl.String}
    with pytest.raises(Exception, match="expected a column of strings"):
        pl.DataFrame({"url": [1]}).select(key(pl.col("url"), RULES))
