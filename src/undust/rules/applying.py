"""Rules given in any form, as the function that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.rules.compiled import Canonicalizer
from undust.rules.ruleset import RuleSet, load

if TYPE_CHECKING:
    from os import PathLike

    Rules = str | PathLike[str] | RuleSet | Canonicalizer
    """The path of a rule file, its rules, or those compiled."""


def canonicalizer(rules: Rules) -> Canonicalizer:
    """Return the function that rules are; a file is read, a set compiled."""
    if isinstance(rules, Canonicalizer):
        return rules
    return (rules if isinstance(rules, RuleSet) else load(rules)).compile()
