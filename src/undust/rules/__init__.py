"""The one rule language: rules, sets of them, and the function that a set is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust._core import Counts, Program
from undust.rules.compiled import Canonicalizer, Explanation, Step, acting
from undust.rules.language import Rule, asked
from undust.rules.ruleset import RuleSet, load
from undust.urls.url import suffixes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    Rules = str | PathLike[str] | RuleSet | Canonicalizer
    """The path of a rule file, its rules, or those compiled."""


__all__ = ["Canonicalizer", "Counts", "Explanation", "Rule", "RuleSet", "Step", "load"]


def canonicalizer(rules: Rules) -> Canonicalizer:
    """Return the function that rules are; a file is read, a set compiled."""
    if isinstance(rules, Canonicalizer):
        return rules
    return (rules if isinstance(rules, RuleSet) else load(rules)).compile()


def program_of(rules: Iterable[Rule]) -> Program:
    """Return rules as the core runs them, without a set around them: a learner makes thousands.

    What rules merge is judged, so those for comparing only act like all others.
    """
    return asked(Program, acting([rule.said | {"fetch": True} for rule in rules]), suffixes())
