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
    if not isinstance(rows, list) or not rows or not all(map(_is_row, rows)):
        message = "the data to compare has no rows of methods; give what `undust compare --json` printed"
        raise UndustError(message)
    return {
        "sites": compared.get("sites"),
        "train_urls": compared.get("train_urls"),
        "test_urls": compared.get("test_urls"),
        "test_pages": compared.get("test_pages"),
        "rows": [_row(row) for row in rows],
    }


def _is_row(row: Any) -> bool:  # noqa: ANN401 -- any JSON value
    if not isinstance(row, dict) or not set(NEEDED) <= set(row) or not isinstance(row["method"], str):
        return False
    intervals = row["intervals"]
    figures = [row[name] for name in ("removed", "lost", "fpr", "rules", "seconds")]
    return (
        isinstance(intervals, dict)
        and all(
            isinstance(bounds := intervals.get(name), list)
            and len(bounds) == len(("lower", "upper"))
            and all(map(_is_number, bounds))
            for name in ("removed", "lost")
        )
        and all(figure is None or _is_number(figure) for figure in figures)
    )


def _is_number(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int | float) and not isinstance(value, bool)


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    said = {
        name: row.get(name) for name in ("method", "max_fpr", "removed", "lost", "fpr", "rules", "seconds")
    }
    return said | {
        "removed_95": list(row["intervals"]["removed"]),
        "lost_95": list(row["intervals"]["lost"]),
    }
