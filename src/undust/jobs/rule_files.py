"""Rule files as commands use them: read whole or for some sites, and what a change puts out of effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.display import how_many
from undust.files.streams import read_whole
from undust.rules import Canonicalizer, Explanation, Rule, RuleSet, Step, load
from undust.rules.compiled import OrderedRules, dependents
from undust.rules.files import MOST_FILE_BYTES, is_folder, readable
from undust.rules.language import ANY_SITE, is_proposed
from undust.rules.verdict import decision, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ANY_SITE",
    "Canonicalizer",
    "Explanation",
    "OrderedRules",
    "Rule",
    "RuleSet",
    "Step",
    "cost_of",
    "decision",
    "is_folder",
    "is_proposed",
    "load",
    "out_of_effect",
    "readable",
    "rules_of",
    "verdicts",
]


def rules_of(file: str, sites_file: str | None) -> RuleSet:
    """Return the rules of a file, or of some of its sites."""
    if sites_file is None:
        return load(file)
    lines = read_whole(sites_file, MOST_FILE_BYTES).decode("utf-8", "replace").splitlines()
    return load(file, filter(None, map(str.strip, lines)))


def out_of_effect(before: RuleSet, after: RuleSet) -> list[Rule]:
    """Return the rules that a change puts out of effect though active: a rule that they need is off."""
    off = {rule.id for rule in before} - {rule.id for rule in after if rule.status == "active"}
    active = {rule.id for rule in after if rule.status == "active"}
    return [rule for rule in dependents(list(before), off) if rule.id in active]


def cost_of(rules: Sequence[Rule]) -> str:
    """Return what rules that are out of effect removed, in a sentence."""
    removed = sum(rule.saves or 0 for rule in rules)
    counted = f"; removed when learned: {how_many(removed, 'URL')}" if removed else ""
    return f"{how_many(len(rules), 'rule')} out of effect, since what is needed is off{counted}"
