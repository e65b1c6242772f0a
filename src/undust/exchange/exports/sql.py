"""SQL: one `CASE` expression over a column `url`, in the dialect of DuckDB.

The expression does one step; where one rule leads to another, apply it until nothing changes, for instance
with a recursive query. RE2 has no look ahead, so conditions are terms beside the expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.exchange.exports.contract import STANDARD_SCOPE, ExportedText, Target
from undust.exchange.exports.dialects import as_is, replacement
from undust.exchange.exports.expressible import said
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM, numbered
from undust.exchange.exports.literals import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.steps import ExpressionStep

_HEAD = """\
-- Written by undust, for DuckDB: one step for the column url; repeat it until nothing changes.
CASE
"""


def write(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the expression."""
    found, refused = said(rules, lean=True)
    lines = [f"WHEN NOT {_matches(STANDARD_FORM + '$')} OR {_matches(NOT_STANDARD)} THEN url\n"]
    for each in found:
        lines.append(f"-- {each.numbered}\n")
        lines += [f"WHEN {_condition(step)} THEN {_result(step)}\n" for step in each.steps]
    return ExportedText(f"{_HEAD}{''.join(lines)}ELSE url\nEND\n", tuple(refused))


def _matches(expression: str) -> str:
    return f"regexp_matches(url, {quoted(f'^(?:{expression})')})"


def _condition(step: ExpressionStep) -> str:
    terms = [_matches(f"{numbered(step.pieces)[0]}$"), *map(_matches, step.needs)]
    terms += [f"NOT ({' AND '.join(map(_matches, texts))})" for texts in step.forbids]
    if step.filled is not None and step.may_stay:
        terms.append(f"{_result(step)} <> url")
    if step.may_have_dots:
        dots = r"^https?://[^?]*/\.\.?(?:[/?]|$)"
        terms.append(f"NOT regexp_matches({_result(step)}, {quoted(dots)})")
    return " AND ".join(terms)


def _result(step: ExpressionStep) -> str:
    if step.filled is None:
        return "url"
    expression, _ = numbered(step.pieces)
    text = replacement(step, "\\{}".format, as_is)
    return f"regexp_replace(url, {quoted(f'^{expression}$')}, {quoted(text)})"


SQL = Target("sql", "a CASE expression over a column url, for DuckDB", STANDARD_SCOPE, write)
