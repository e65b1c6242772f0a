"""What a person gives to a verb, checked before any work: a wrong value raises one sentence.

The command has checked its options; calls from Python are checked here.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

from undust.errors import UndustError
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable


def require_demands(max_fpr: object, min_support: object = None) -> None:
    """Raise unless these can be demanded of a rule; nan is not a share either."""
    if not isinstance(max_fpr, Real) or not 0 <= float(max_fpr) <= 1:
        message = f"max_fpr is {max_fpr!r}; give a number from 0 to 1, such as 0.01"
        raise UndustError(message)
    if min_support is not None and not (isinstance(min_support, Integral) and int(min_support) >= 1):
        message = f"min_support is {min_support!r}; give a whole number from 1 on, or leave it out"
        raise UndustError(message)


def require_rules(update: object) -> None:
    """Raise unless these are rules from before, or none."""
    if update is not None and not isinstance(update, RuleSet):
        message = f"update is {update!r} and no rules; load them first, with undust.load(path)"
        raise UndustError(message)


def names_of(methods: Iterable[str]) -> tuple[str, ...]:
    """Return the names of methods; a single one need not be in a list.

    >>> names_of("tree"), names_of(["tree", "substring"])
    (('tree',), ('tree', 'substring'))
    """
    return (methods,) if isinstance(methods, str) else tuple(methods)
