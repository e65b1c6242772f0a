"""The one rule language: rules, sets of them, and the function that a set is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust._core import Counts
from undust.rules.compiled import Canonicalizer, Explanation, Step, program_of
from undust.rules.language import Rule
from undust.rules.ruleset import RuleSet, load

if TYPE_CHECKING:
    from os import PathLike

    Rules = str | PathLike[str] | RuleSet | Canonicalizer
    """The path of a rule file, its rules, or those compiled."""


__all__ = ["Canonicalizer", "Counts", "Explanation", "Rule", "RuleSet", "Step", "load", "program_of"]


def canonicalizer(rules: Rules) -> Canonicalizer:
    """Return the function that rules are; a file is read, a set compiled."""
    if isinstance(rules, Canonicalizer):
        return rules
    return (rules if isinstance(rules, RuleSet) else load(rules)).compile()
