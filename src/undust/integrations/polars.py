"""Polars: the rules as expressions.

    import undust.integrations.polars
    frame.with_columns(key=pl.col("url").undust.key("rules.json"))

Columns cross over as Arrow, uncopied, and the core works on them with all threads.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from undust.extras import require

require("polars", "1.20", extra="polars")

import polars as pl  # noqa: E402 -- loaded once it is known to be there

from undust.rules import canonicalizer  # noqa: E402

if TYPE_CHECKING:
    from undust.rules import Rules

TEXTS_IN_OTHER_FORM = (pl.Categorical, pl.Enum, pl.Null)
"""Any other type that is not text is an error, which the core raises."""


def canonicalize(urls: pl.Expr, rules: Rules, *, threads: int | None = None) -> pl.Expr:
    """Return the expression for the canonical form of URLs; rules are read now, not when it is evaluated."""
    return _mapped(urls, rules, threads, keys=False)


def key(urls: pl.Expr, rules: Rules, *, threads: int | None = None) -> pl.Expr:
    """Return the expression for the keys of URLs."""
    return _mapped(urls, rules, threads, keys=True)


def _mapped(urls: pl.Expr, rules: Rules, threads: int | None, *, keys: bool) -> pl.Expr:
    batch = canonicalizer(rules).batch
    most = threads or os.cpu_count() or 1

    def apply(column: pl.Series) -> pl.Series:
        texts = column.cast(pl.String) if column.dtype in TEXTS_IN_OTHER_FORM else column
        return pl.Series(column.name, batch(texts, keys=keys, threads=most), pl.String)

    return urls.map_batches(apply, return_dtype=pl.String, is_elementwise=True)


@pl.api.register_expr_namespace("undust")
class UndustExpressions:
    """What `pl.col(…).undust` offers."""

    def __init__(self, urls: pl.Expr) -> None:
        self._urls = urls

    def canonicalize(self, rules: Rules, *, threads: int | None = None) -> pl.Expr:
        """Return the canonical form of each URL."""
        return canonicalize(self._urls, rules, threads=threads)

    def key(self, rules: Rules, *, threads: int | None = None) -> pl.Expr:
        """Return the key of each URL."""
        return key(self._urls, rules, threads=threads)
