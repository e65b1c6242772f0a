"""Which rule comes first, as each paper has it, and which one says nothing new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.rules.reasoning.algebra import is_opposite, refines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undust.judging.verdict import Verdict
    from undust.rules import Rule


def as_proposed(_: Verdict) -> tuple[float, ...]:
    """Return the key of an order that changes nothing."""
    return ()


def _most_specific(verdict: Verdict) -> tuple[float, ...]:
    wildcards = sum(rule.source.count("{") for rule in verdict.candidate.rules)
    return wildcards / len(verdict.candidate.rules), verdict.fpr, -verdict.support


def _most_support(verdict: Verdict) -> tuple[float, ...]:
    return (-verdict.support,)


PUBLISHED_ORDERS: Mapping[str, Callable[[Verdict], tuple[float, ...]]] = {
    "substring": as_proposed,
    "rewrite": _most_specific,
    "tree": as_proposed,
    "alignment": _most_support,
}
"""What comes first: the likeliest (DustBuster), the most specific, then the lower fpr and the higher
support (rewrite rules; our reading, the paper is silent), the rule that selection kept (pattern tree),
the highest validated support (DUSTER)."""


def chosen(verdicts: Sequence[Verdict], methods: Sequence[str]) -> list[Verdict]:
    """Return the accepted ones of a site, learner by learner and each as its paper has it."""
    rank = {name: place for place, name in enumerate(methods)}

    def key(verdict: Verdict) -> tuple[Any, ...]:
        method = verdict.candidate.rules[0].learned_by or ""
        return rank.get(method, len(rank)), PUBLISHED_ORDERS.get(method, as_proposed)(verdict)

    return without_redundant(sorted((verdict for verdict in verdicts if verdict.accepted), key=key))


def without_redundant(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts without those that DustBuster would not have tried any more.

    Of a substitution and its opposite the first counts, the one that shrinks URLs if both are valid; one
    that says the same as another with more context is redundant, before it and after it (Fig. 5, A8c).
    """
    kept: list[Verdict] = []
    taken: list[Rule] = []
    for verdict in verdicts:
        rule = verdict.candidate.rules[0]
        if len(verdict.candidate.rules) > 1 or rule.kind != "replace":
            kept.append(verdict)
        elif not any(is_opposite(rule, other) or _refines(rule, other) for other in taken):
            kept.append(verdict)
            taken.append(rule)
    return [one for one in kept if not any(_refines(one.candidate.rules[0], wide) for wide in taken)]


def _refines(narrow: Rule, wide: Rule) -> bool:
    # A rule that refines another contains its sides unchanged; that is quick to see, and rare.
    sides, (one, other) = (narrow.source, narrow.target or ""), (wide.source, wide.target or "")
    may = (one in sides[0] and other in sides[1]) or (other in sides[0] and one in sides[1])
    return may and narrow is not wide and refines(narrow, wide)
