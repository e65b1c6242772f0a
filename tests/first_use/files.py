"""Rule files, crawls and lists as a new user has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SITE = "shop.test"
DROP = "rewrite {{s}}://{{h}}/{{p**}}?{{**:{}}}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}"


def rules_of(*texts: str, site: str = SITE) -> RuleSet:
    """Rules of one site."""
    return RuleSet([Rule.parse(text, site=site) for text in texts])


def rule_file(folder: Path, *texts: str) -> Path:
    """Write rules of one site."""
    path = folder / "rules.json"
    rules_of(*texts).save(path)
    return path


def crawl_file(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write observations as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def items(count: int, *queries: str) -> list[dict[str, Any]]:
    """Pages of a shop, each plain and with every query; `{n}` is a number of its own."""
    return [
        {
            "url": f"http://{SITE}/item/{n}{query.format(n=(n + 3) * 7919)}",
            "digest": f"item {n}",
            "size": 5000 + n,
        }
        for n in range(count)
        for query in ("", *queries)
    ]
