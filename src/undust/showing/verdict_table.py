"""The rules of a file by how much they need a person, as a table and as CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING, Any

from undust.rules.verdict import LEVELS, leading, most_urgent_first, use_of, verdicts
from undust.showing.listing import short_ids, site_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from undust.rules.language import Rule

_STYLES = {"risky": "bold", "look": "bold", "ok": ""}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula."""


def judged_rules(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Return all that a person needs to decide on each rule, the most urgent first."""
    judged = verdicts(rules)
    return [
        {
            "number": place + 1,
            "id": rules[place].id,
            "site": rules[place].site,
            "rule": str(rules[place]),
            "status": rules[place].status,
            "verdict": judged[place].level,
            "reason": judged[place].reason,
            "use": use_of(rules[place]),
            "leads": str(leading(rules[place])) if rules[place].kind != "keep" else "",
            "needs": " ".join(rules[place].needs),
            "removed": rules[place].saves,
            "pairs": rules[place].support,
            "false_pairs": rules[place].false_positives,
            "review": (rules[place].review or {}).get("verdict", ""),
            "by": (rules[place].review or {}).get("by", ""),
            "when": (rules[place].review or {}).get("when", ""),
            "note": (rules[place].review or {}).get("note", ""),
        }
        for place in most_urgent_first(judged)
    ]


def as_csv(rules: Sequence[Rule]) -> bytes:
    """Return the same for spreadsheets."""
    text = io.StringIO(newline="")
    rows = judged_rules(rules)
    names = list(rows[0]) if rows else ["number", "id", "site", "rule", "status", "verdict", "reason"]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:  # noqa: ANN401 -- a text or a number
    # Rules come from strangers' crawls, and a cell that begins so is run by spreadsheets.
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def verdict_lines(rules: Sequence[Rule], styled: Callable[[str, str], str]) -> Iterator[str]:
    """Yield a line and a few more for each rule, the most urgent first, then the counts."""
    short = short_ids(rules)
    for row in judged_rules(rules):
        level = styled(f"{row['verdict']:<8}", _STYLES.get(row["verdict"], "dim"))
        yield f"{level}  {short[row['id']]}  {site_name(row['site'])}: {row['reason']}"
        yield f"          {row['rule']}"
        more = [row["use"]] + [f"results: {row['leads']}"] * (row["leads"] not in {"", "unknown"})
        more += [f"removed {row['removed'] or 0:,} URLs"] * bool(row["removed"])
        more += [f"note: {row['note']}"] * bool(row["note"])
        yield styled(f"          {'; '.join(more)}", "dim")
    counts = Counter(each.level for each in verdicts(rules))
    yield ", ".join(f"{counts[level]:,} {level}" for level in LEVELS if counts[level]) or "no rules"
