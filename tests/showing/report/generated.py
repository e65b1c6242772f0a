"""A small shop whose rules need each other: alone, one of them merges pages that are different."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa

from undust.rules import Rule, RuleSet

SITE = "shop.test"
OPEN = "rewrite {s}://{h}/{p**}?"
RULES = (
    "rewrite {s}://{h}/list/{a:int}?item={b:int}&{rest**} -> {s}://{h}/item/{b}?{rest}",
    OPEN + "item={**}&{rest**} -> {s}://{h}/{p}?{rest}",
    OPEN + "sid={**}&{rest**} -> {s}://{h}/{p}?{rest}",
    OPEN + "page={**}&{rest**} -> {s}://{h}/{p}?{rest} when ?page=1",
    "rewrite {s}://www.shop.test/{p**}?{rest**} -> {s}://shop.test/{p}?{rest}",
)


def rules() -> RuleSet:
    """The rules of the shop; the second loses pages without the first, which takes most of its URLs."""
    return RuleSet([Rule.parse(text, site=SITE) for text in RULES], name="rules.json")


def rows(*, labels: bool = False, items: int = 24) -> list[dict[str, Any]]:
    """URLs of the shop with the content, or the label, of each; some have neither."""
    draw = random.Random(11)
    found: list[tuple[str, str | None]] = []
    for n in range(items):
        found += [
            (f"http://shop.test/item/{n}", f"item {n}"),
            (f"http://www.shop.test/item/{n}", f"item {n}"),
        ]
        found += [(f"http://shop.test/item/{n}?sid={draw.randbytes(5).hex()}", f"item {n}") for _ in range(2)]
        found += [
            (f"HTTP://shop.test:80/item/{n}", f"item {n}"),
            (f"http://shop.test/item/{n}?page=1", f"item {n}"),
        ]
        found.append((f"http://shop.test/list/{n % 3}?item={n}", f"item {n}"))
        found.append((f"http://shop.test/news?item={n}", "news"))
    found += [(f"http://shop.test/list/{n}", f"list {n}") for n in range(3)]
    found += [(f"http://shop.test/old/{n}", None) for n in range(7)]
    if labels:
        return [{"url": url, "cluster": page} for url, page in found]
    return [
        {"url": url, "digest": page, "sketch": None if page is None else _sketch(page), "size": 5000}
        for url, page in found
    ]


def _sketch(page: str) -> list[int]:
    draw = random.Random(page)
    return [draw.getrandbits(32) for _ in range(32)]


def table(*, labels: bool = False) -> pa.Table:
    """The same as a table."""
    return pa.Table.from_pylist(rows(labels=labels))
