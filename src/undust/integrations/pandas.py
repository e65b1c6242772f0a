"""pandas: the rules on a series of URLs.

    import undust.integrations.pandas
    frame["key"] = frame["url"].undust.key("rules.json")

A series that is stored in Arrow, as texts are since pandas 3, is handed over as it is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from undust.extras import require

require("pandas", "2.2", extra="pandas")

import pandas as pd  # noqa: E402 -- loaded once it is known to be there
import pyarrow as pa  # noqa: E402

from undust.rules import canonicalizer  # noqa: E402

if TYPE_CHECKING:
    from undust.rules import Rules


def canonicalize(urls: pd.Series, rules: Rules, *, threads: int | None = None) -> pd.Series:
    """Return the canonical form of URLs, under the same index and name."""
    return _mapped(urls, rules, threads, keys=False)


def key(urls: pd.Series, rules: Rules, *, threads: int | None = None) -> pd.Series:
    """Return the keys of URLs, under the same index and name."""
    return _mapped(urls, rules, threads, keys=True)


def _mapped(urls: pd.Series, rules: Rules, threads: int | None, *, keys: bool) -> pd.Series:
    texts = pa.Array.from_pandas(urls)
    if pa.types.is_dictionary(texts.type) or pa.types.is_null(texts.type):
        texts = texts.cast(pa.large_string())
    done = canonicalizer(rules).batch(texts, keys=keys, threads=threads or os.cpu_count() or 1)
    # The canonical forms of categories are others, so these become the texts they are made of.
    dtype = urls.dtype.categories.dtype if isinstance(urls.dtype, pd.CategoricalDtype) else urls.dtype
    return pd.Series(done, index=urls.index, name=urls.name, dtype=dtype)


@pd.api.extensions.register_series_accessor("undust")
class UndustSeries:
    """What `series.undust` offers."""

    def __init__(self, urls: pd.Series) -> None:
        self._urls = urls

    def canonicalize(self, rules: Rules, *, threads: int | None = None) -> pd.Series:
        """Return the canonical form of each URL."""
        return canonicalize(self._urls, rules, threads=threads)

    def key(self, rules: Rules, *, threads: int | None = None) -> pd.Series:
        """Return the key of each URL."""
        return key(self._urls, rules, threads=threads)
