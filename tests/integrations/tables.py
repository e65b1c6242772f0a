"""URLs and rules that the tests of tables share, with every kind of value that a column may hold."""

from __future__ import annotations

from bench.sites import site

SHOP = site("shop", 2_000)
RULES = SHOP.rules
URLS: list[str | None] = [
    *SHOP.truth()["url"].to_pylist(),
    None,
    "",
    "no url",
    "http://é.test/ü x",
    "HTTP://A.test:80",
]
"""More than fit into one vector of DuckDB, which has 2,048 rows, once they are doubled."""
CANONICALIZE = RULES.compile()
FORMS = [None if url is None else CANONICALIZE(url) for url in URLS]
KEYS = [None if url is None else CANONICALIZE.key(url) for url in URLS]
