"""The one rule language: rules, sets of them, and the function that a set is."""

from undust.rules.compiled import Canonicalizer, Counts, Explanation, Step
from undust.rules.language import Rule
from undust.rules.ruleset import RuleSet, load

__all__ = ["Canonicalizer", "Counts", "Explanation", "Rule", "RuleSet", "Step", "load"]
