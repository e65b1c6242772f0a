"""Pairs of a regular expression and a replacement, as JSON for Python's `re` and PCRE, and as SQL for DuckDB.

The JSON says how to use it: a URL that `standard_form` does not match is left alone; then the first pair
that matches is applied, again and again until none matches. A pair without a replacement ends it.

The SQL is one `CASE` expression over a column `url`. It does one step; where one rule leads to another, apply
it until nothing changes, for instance with a recursive query. RE2 has no look ahead, so conditions are terms
beside the expression.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust.exchange.exports.contract import STANDARD_SCOPE, ExportedText, Target
from undust.exchange.exports.expressible import said
from undust.exchange.exports.expressions import (
    NOT_STANDARD,
    STANDARD_FORM,
    STANDARD_FORM_AT_ONCE,
    numbered,
    quoted,
)
from undust.exchange.exports.statements import as_is, expression, replacement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.contract import ExportedRule
    from undust.exchange.exports.steps import ExpressionStep
    from undust.rules import Rule

HOW = (
    "Leave a URL alone if standard_form does not match it. Else take the first pair that matches, write its "
    "replacement, and start again with the result, until no pair matches or one without a replacement does."
)

HOW_TO_FETCH = (
    'Pairs with "fetch": false are for comparing only: pass over them to find the URL to fetch, and take '
    "them too to find what URLs are compared by."
)


def write_regex(rules: Sequence[ExportedRule]) -> ExportedText:
    """Return the pairs as JSON."""
    found, refused = said(rules)
    pairs = [
        {"rule": each.numbered.id, "text": str(each.rule), **_use(each.rule), **_pair(step)}
        for each in found
        for step in each.steps
    ]
    is_compared = any(not each.rule.fetch for each in found)
    content = {
        "format": "undust-regex",
        "version": 1,
        "how": f"{HOW} {HOW_TO_FETCH}" if is_compared else HOW,
        "standard_form": rf"^(?!{NOT_STANDARD}){STANDARD_FORM_AT_ONCE}$(?!\n)",
        "pairs": pairs,
    }
    return ExportedText(json.dumps(content, indent=2, ensure_ascii=False) + "\n", tuple(refused))


def _use(rule: Rule) -> dict[str, bool]:
    return {} if rule.fetch else {"fetch": False}


def _pair(step: ExpressionStep) -> dict[str, Any]:
    pattern = expression(step)
    if step.filled is None:
        return {"pattern": pattern, "python": None, "pcre": None}
    return {
        "pattern": pattern,
        "python": replacement(step, r"\g<{}>".format, lambda text: text.replace("\\", r"\\")),
        "pcre": replacement(step, "${{{}}}".format, lambda text: text.replace("$", r"\$")),
    }


REGEX = Target(
    "regex",
    "pairs of regular expressions, for Python's re and for PCRE, as JSON",
    STANDARD_SCOPE,
    write_regex,
)


_HEAD = """\
-- Written by undust, for DuckDB: one step for the column url; repeat it until nothing changes.
CASE
"""


def write_sql(rules: Sequence[ExportedRule]) -> ExportedText:
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


SQL = Target("sql", "a CASE expression over a column url, for DuckDB", STANDARD_SCOPE, write_sql)
