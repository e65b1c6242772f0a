"""What the core says against a rule, as an error with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

from undust._core import RuleProblem
from undust.errors import InvalidRule

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


class Problem(InvalidRule):
    """What is wrong with one rule: its number in the set, the field and the column, as far as known."""

    def __init__(
        self, message: str, field: str | None = None, column: int | None = None, number: int | None = None
    ) -> None:
        self.message = message
        self.field = field
        self.column = column
        self.number = number
        places = (
            "" if number is None else f"rule {number}",
            "" if field is None else f'"{field}"',
            "" if column is None else f"column {column}",
        )
        place = ", ".join(filter(None, places))
        super().__init__(f"{place}: {message}" if place else message)


def asked(question: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the core's answer; what it says against a rule becomes a `Problem`."""
    try:
        return question(*args, **kwargs)
    except RuleProblem as error:
        # The core counts from 0; at column 0 is also what concerns the field as a whole.
        column = error.column + 1 if error.column else None
        number = error.rule + 1 if error.rule >= 0 else None
        raise Problem(str(error), error.field or None, column, number) from None
