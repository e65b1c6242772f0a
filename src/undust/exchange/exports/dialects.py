"""Steps printed in one dialect: expressions with look ahead, and texts that are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.expressions import Ref, escaped, numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.exchange.exports.expressions import Filled
    from undust.exchange.exports.steps import ExpressionStep


def expression(step: ExpressionStep, shields: str = "") -> str:
    """Return one expression that matches exactly where the step acts; `shields` come first."""
    body, numbers = numbered(step.pieces)
    guards = shields + guard(step)
    if step.filled is None or not step.may_stay:
        return f"^{guards}{body}$"
    same = written(step.filled, numbers, lambda number: rf"(?:\{number})", escaped)
    return f"^{guards}(?={body}$)(?!{same}$).*$"


def guard(step: ExpressionStep) -> str:
    """Return look aheads for what a URL must and must not begin with."""
    needs = "".join(f"(?={need})" for need in step.needs)
    return needs + "".join(f"(?!{_all_of(texts)})" for texts in step.forbids)


def _all_of(texts: tuple[str, ...]) -> str:
    return texts[0] if len(texts) == 1 else "".join(f"(?={text})" for text in texts)


def shield(step: ExpressionStep) -> str:
    """Return a look ahead that keeps away from the URLs that a `keep` keeps."""
    body, _ = numbered(step.pieces)
    return f"(?!{guard(step)}{body}$)"


def replacement(step: ExpressionStep, reference: Callable[[int], str], literal: Callable[[str], str]) -> str:
    """Return what a step writes, in the words of a dialect."""
    _, numbers = numbered(step.pieces)
    return written(step.filled or (), numbers, reference, literal)


def written(
    filled: Filled, numbers: dict[str, int], reference: Callable[[int], str], literal: Callable[[str], str]
) -> str:
    """Return literals and references in the words of a dialect."""
    return "".join(
        reference(numbers[part.name]) if isinstance(part, Ref) else literal(part) for part in filled
    )


_MOST_DIGITS = 9


def require_single_digits(step: ExpressionStep) -> None:
    """Refuse a step with more groups than one digit can name."""
    if len(numbered(step.pieces)[1]) > _MOST_DIGITS:
        message = f"it writes more than {_MOST_DIGITS} pieces again"
        raise CannotExpress(message)


def as_is(text: str) -> str:
    """Return a literal that needs no escaping."""
    return text
