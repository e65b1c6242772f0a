"""What Nutch and Heritrix share: expressions of Java, each applied once, from top to bottom."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from undust.exchange.exports.dialects import expression, replacement
from undust.exchange.exports.expressions import NOT_STANDARD, STANDARD_FORM_AT_ONCE

if TYPE_CHECKING:
    from undust.exchange.exports.steps import ExpressionStep

STANDARD_GUARD = f"(?!{NOT_STANDARD})(?={STANDARD_FORM_AT_ONCE}$)"


def pair(step: ExpressionStep, shields: str) -> tuple[str, str]:
    """Return an expression and a replacement of Java."""
    return expression(step, STANDARD_GUARD + shields), written(step)


def written(step: ExpressionStep) -> str:
    """Return a replacement of Java."""
    return replacement(step, "${}".format, _escaped)


def _escaped(text: str) -> str:
    # A digit behind `$1` would belong to the number of the group.
    start = "\\" if text[:1].isdigit() else ""
    return start + text.replace("\\", r"\\").replace("$", r"\$")


def as_xml(text: str) -> str:
    """Return a text for an element or an attribute."""
    return escape(text, {'"': "&quot;"})


def as_comment(text: str) -> str:
    """Return a text for a comment, which cannot hold two hyphens."""
    return text.replace("--", "- -")
