"""A shop: a slug that nobody reads, facets in any order, a sort that is the default and some that are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.fields import Listed, Number, Title
from bench.sites.model import DROP_QUERY, DROP_TRACKING, NOTHING, TRACKING, Extra, Family, Form, Kind

if TYPE_CHECKING:
    from bench.sites.fields import Digits

_COLOURS = ("any", "red", "blue", "green")
_SIZES = ("any", "s", "m", "l")


def _short(digits: Digits) -> Digits:
    # One list in six has a single entry, and is the same in any order.
    return {"sort": np.where(digits["n"] % 6 == 1, 0, digits["sort"])}


SHOP = Kind(
    name="shop",
    about="products with irrelevant slugs, facets in any order, a default sort, tracking",
    like="shop",
    families=(
        Family(
            "product",
            share=36,
            fields={
                "n": Number(start=1000, step=7),
                "slug": Title(None),
                "old": Title(None, suffix="-new"),
            },
            forms=(
                Form("/{slug}/dp/{n}", 3),
                Form("/dp/{n}", 2),
                Form("/{old}/dp/{n}"),
                Form("/index.php?route=product&product_id={n}", 2),
                Form("/index.php?product_id={n}&route=product"),
                Form("/?route=product&product_id={n}", 0.5),
            ),
        ),
        Family(
            "list",
            share=18,
            fields={
                "n": Number(start=20),
                "sort": Listed("sort", ("position", "price", "name")),
                "colour": Listed("colour", _COLOURS),
                "size": Listed("size", _SIZES),
            },
            small={"sort": 3, "colour": 4, "size": 4},
            rolls="sort",
            same=_short,
            canonical_forgets=("sort",),
            forms=(
                Form("/c/{n}", 2),
                Form("/c/{n}?sort={sort}", 2),
                Form("/c/{n}?colour={colour}&size={size}"),
                Form("/c/{n}?size={size}&colour={colour}"),
                Form("/c/{n}?colour={colour}&size={size}&sort={sort}"),
                Form("/c/{n}?sort={sort}&size={size}&colour={colour}"),
            ),
        ),
        Family(
            "search",
            share=1,
            fields={"q": Title(joint="+")},
            shows={NOTHING: 0.6},
            forms=(Form("/search?q={q}", 2), Form("/search?q={q}&page=1")),
        ),
        Family(
            "page",
            share=6,
            fields={"n": Number(start=20), "page": Number("page", start=2)},
            small={"page": 3},
            forms=(Form("/c/{n}?page={page}"), Form("/c/{n}?page={page}&limit=15")),
        ),
    ),
    extras=(
        Extra(query="tracking={click}", weight=0.5),
        Extra(query="ref={source}", weight=0.4),
        *TRACKING,
    ),
    true_rules=(
        *DROP_TRACKING,
        "rewrite {s}://{h}/{p**}?{**:tracking|ref}&{rest**} -> {s}://{h}/{p}?{rest}",
        "rewrite {s}://{h}/{*}/dp/{n:int}?{rest**} -> {s}://{h}/dp/{n}?{rest}",
        "rewrite {s}://{h}/index.php?route=product&product_id={n:int}&{rest**} -> {s}://{h}/dp/{n}?{rest}",
        "rewrite {s}://{h}/?route=product&product_id={n:int}&{rest**} -> {s}://{h}/dp/{n}?{rest}",
        "rewrite {s}://{h}/c/{n}?sort=position&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/c/{n}?colour=any&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/c/{n}?size=any&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/{p**}?{rest**} -> {s}://{h}/{p}?{rest:sorted}",
        "rewrite {s}://{h}/c/{n}?limit=15&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/search?page=1&{rest**} -> {s}://{h}/search?{rest}",
    ),
    false_rules=(
        "rewrite {s}://{h}/c/{n}?sort={*}&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/c/{n}?colour={*}&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/c/{n}?page={*}&{rest**} -> {s}://{h}/c/{n}?{rest}",
        "rewrite {s}://{h}/search?q={*}&{rest**} -> {s}://{h}/search?q=x&{rest}",
        "rewrite {s}://{h}/dp/{*:int}?{rest**} -> {s}://{h}/dp/1000?{rest}",
        DROP_QUERY,
    ),
    inexpressible=("a list with a single entry is the same in any order",),
)
