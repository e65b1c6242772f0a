"""Rules that version 0.1 learned and that went wrong, each with a small input that shows how.

The files in `rules_of_0_1` are as commit 750f9ca wrote them from two crawls of test installations, without
their examples. The inputs are made here: they have the forms of those sites and none of their pages.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from undust.rules import Rule, RuleSet, load

FOLDER = Path(__file__).parent / "rules_of_0_1"
STORE = "http://store.opencart-site.test"
DOCS = "http://docs.docs-site.test"
SHOP = "http://shop.test"


def opencart() -> tuple[RuleSet, pa.Table]:
    """A shop: products in categories, and lists of several pages."""
    pages: dict[str, str] = {}
    for n in range(40):
        pages[f"{STORE}/c-books?product_id={n}"] = f"product {n}"
        pages[f"{STORE}/?product_id={n}&route=product/product"] = f"product {n}"
    for n in range(12):
        listed = f"{STORE}/?path={n}&route=product/category"
        pages |= {listed: f"list {n}", f"{listed}&limit=15&page=1": f"list {n}"}
        pages |= {f"{listed}&limit=15&page={page}": f"list {n}, {page}" for page in (2, 3)}
    pages[f"{STORE}/c-books"] = "books"
    return load(FOLDER / "opencart.json"), table_of(pages)


def docs() -> tuple[RuleSet, pa.Table]:
    """A manual in two languages; what is not translated is shown in English."""
    pages: dict[str, str] = {}
    for n in range(24):
        pages[f"{DOCS}/docs/2.4/mod/m{n}"] = f"m{n}"
        pages[f"{DOCS}/manual/ru/mod/m{n}"] = f"m{n}" if n % 2 else f"м{n}"
        pages[f"{DOCS}/docs/2.4/mod/m{n}?utm_source={n}"] = f"m{n}"
    return load(FOLDER / "docs.json"), table_of(pages)


def shop() -> tuple[RuleSet, pa.Table]:
    """Articles with a form for the printer, which knows no colours."""
    text = "rewrite {s}://{h}/p/{*:word}/{a:int}?{rest**} -> {s}://{h}/print.php?id={a}&{rest}"
    known = Rule.parse(text, site="shop.test").to_json()
    rule = Rule.from_json(known | {"support": 60, "false_positives": 0, "fpr_upper": 0.05, "saves": 30})
    pages: dict[str, str] = {}
    for n in range(30):
        pages |= {f"{SHOP}/p/name{'abc'[n % 3]}/{n}": f"p{n}", f"{SHOP}/print.php?id={n}": f"p{n}"}
        pages |= {f"{SHOP}/p/name/{n}?color={name}": f"p{n} {name}" for name in ("red", "blue")}
    return RuleSet([rule]), table_of(pages)


def table_of(pages: dict[str, str]) -> pa.Table:
    """What a crawl of these pages saw."""
    return pa.table({"url": list(pages), "digest": list(pages.values()), "status": [200] * len(pages)})
