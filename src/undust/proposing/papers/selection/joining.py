"""Two candidates in a row as one, in the rule language."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from undust.rules.reasoning.algebra import compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.judging.verdict import Candidate
    from undust.rules import Rule


def joined(chain: Sequence[Candidate], mapped: Sequence[Sequence[Rule]]) -> Candidate:
    """Return one candidate for a chain of them; `mapped` are the rules of each that lead on.

    The own forms of what lies between are left behind with it. A rule that cannot be composed stays as
    it is: the next one takes over where it leads, only a step later.
    """
    first, last = chain[0], chain[-1]
    if len(chain) == 1:
        return first
    rules: list[Rule] = list(mapped[0])
    for nexts in mapped[1:]:
        rules = [_continued(rule, nexts) for rule in rules]
    own = [rule for rule in last.rules if rule not in mapped[-1]]
    learned_by = first.rules[0].learned_by
    named = [replace(rule, learned_by=learned_by) for rule in rules]
    return replace(first, rules=tuple(dict.fromkeys((*named, *own))), fpr=None)


def _continued(rule: Rule, nexts: Sequence[Rule]) -> Rule:
    for other in nexts:
        found = compose(rule, other)
        if len(found) == 1 and found[0].source == rule.source:
            return found[0]
    return rule
