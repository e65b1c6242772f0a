"""Observations as text, for golden files and for comparing two readings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.reading.observations import Observations


def rows_of(observations: Observations) -> list[dict[str, object]]:
    """The rows, each with what is known of it, times as text."""
    rows = []
    for row in observations.table.to_pylist():
        known = {name: value for name, value in row.items() if value is not None}
        if "time" in known:
            known["time"] = known["time"].strftime("%Y-%m-%dT%H:%M:%S.%fZ").replace(".000000", "")
        rows.append(known)
    return rows


def rendered(observations: Observations) -> str:
    """One line a row, then the report without the names of files."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows_of(observations)]
    for file in observations.files:
        lines.append(f"-- rows: {file.rows}, format: {file.format}")
        lines += [str(remark) for remark in file.remarks]
    return "\n".join(lines) + "\n"
