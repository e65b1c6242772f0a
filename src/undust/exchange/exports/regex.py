"""Pairs of a regular expression and a replacement, for Python's `re` and for PCRE.

The file says how to use them: a URL that `standard_form` does not match is left alone; then the first pair
that matches is applied, again and again until none matches. A pair without a replacement ends it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from undust.exchange.exports.contract import STANDARD_SCOPE, ExportedText, Target
from undust.exchange.exports.dialects import expression, replacement
from undust.exchange.exports.expressible import said
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE

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


def write(rules: Sequence[ExportedRule]) -> ExportedText:
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
    "regex", "pairs of regular expressions, for Python's re and for PCRE, as JSON", STANDARD_SCOPE, write
)
