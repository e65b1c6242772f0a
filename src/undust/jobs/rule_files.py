"""Rule files as commands use them: read whole or for some sites, and what a change puts out of effect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from undust.display import how_many
from undust.errors import RuleError
from undust.files.streams import STANDARD, read_whole
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
    "files_of_rules",
    "is_folder",
    "is_proposed",
    "load",
    "out_of_effect",
    "readable",
    "rules_of",
    "verdicts",
]


def files_of_rules(file: str, sites: str | None) -> list[str]:
    """Return the files that `rules_of` reads: the one of the rules, and the one that lists sites."""
    return [readable(file), *([sites] if sites is not None and not _is_name(sites) else [])]


def rules_of(file: str, sites: str | None) -> RuleSet:
    """Return the rules of a file, or of some of its sites: those that another file lists, or a single one."""
    if sites is None:
        return load(file)
    if not _is_name(sites):
        lines = read_whole(sites, MOST_FILE_BYTES).decode("utf-8", "replace").splitlines()
        return load(file, filter(None, map(str.strip, lines)))
    rules = load(file, [sites])
    if all(rule["site"] == ANY_SITE for rule in rules.raw):
        message = f"{sites}: there is no such file, and {file} has no rules of a site of this name; check it"
        raise RuleError(message)
    return rules


def _is_name(sites: str) -> bool:
    """Return whether this is the name of a site: it has the form of one, and no file is called so."""
    return sites != STANDARD and "." in sites and "/" not in sites and not Path(sites).exists()


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
