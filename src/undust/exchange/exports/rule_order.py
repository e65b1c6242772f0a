"""Which rule may act on what another one wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.exchange.exports.overlap import may_meet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.exchange.exports.parts import Parts
    from undust.exchange.exports.statements import ExpressedRule


def edges_between(found: Sequence[ExpressedRule]) -> list[frozenset[int]]:
    """Return for each rule of a site the rules that may act on its result, itself included."""
    return [
        frozenset(
            later for later, other in enumerate(found) if _may_follow(each, other, is_before=later < place)
        )
        for place, each in enumerate(found)
    ]


def _may_follow(each: ExpressedRule, other: ExpressedRule, *, is_before: bool) -> bool:
    """Whether `other` may act on the result of `each`.

    If it is tried before, it had nothing to do until then; and no `keep` before both kept it from acting.
    """
    if other is each:
        return each.acts_on_own_result
    if is_before:
        return may_wake(each, other)
    return each.image is not None and may_meet(each.image, other.source)


def may_wake(each: ExpressedRule, other: ExpressedRule) -> bool:
    """Whether `other` may act on the result of `each`, and had nothing to do before."""
    if each.image is None or not each.touches.meet(_without_safe(each, other)):
        return False
    return may_meet(each.image, other.source)


def _without_safe(each: ExpressedRule, other: ExpressedRule) -> Parts:
    """Return what `other` watches; not the query, if it needs parameters and `each` only takes some away."""
    # If `other` moves a parameter to the front, taking that one away lets another take its place.
    is_safe = each.only_takes_parameters and other.needs_parameters
    if is_safe and (not other.settles or each.takes_none_of(other)):
        return replace(other.watches, names=other.watches.names - {"query"})
    return other.watches
