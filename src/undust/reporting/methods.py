"""Methods side by side, from what `undust compare --json` printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Mapping

NEEDED = ("method", "removed", "lost", "fpr", "rules", "seconds", "intervals")


def methods_from(compared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows that the page shows, or say what is wrong with the data."""
    rows = compared.get("rows")
    fits = isinstance(rows, list) and all(isinstance(row, dict) and set(NEEDED) <= set(row) for row in rows)
    if not fits or not rows:
        message = "the data to compare has no rows of methods; give what `undust compare --json` printed"
        raise UndustError(message)
    return {
        "sites": compared.get("sites"),
        "train_urls": compared.get("train_urls"),
        "test_urls": compared.get("test_urls"),
        "test_pages": compared.get("test_pages"),
        "rows": [_row(row) for row in rows],
    }


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    said = {
        name: row.get(name) for name in ("method", "max_fpr", "removed", "lost", "fpr", "rules", "seconds")
    }
    return said | {
        "removed_95": list(row["intervals"]["removed"]),
        "lost_95": list(row["intervals"]["lost"]),
    }
