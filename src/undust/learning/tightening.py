"""Lets what a rule forgets be of the kind it was seen to forget, and nothing else.

A rule that drops a folder was proved on the folders of its proofs. That all of them are words says nothing
about a folder called `index.php`, which may be a program, and where nothing is known a page is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.learning.writing import with_sides

if TYPE_CHECKING:
    from undust.learning.state import State
    from undust.rules import Rule

FORGOTTEN = "{*}"
CLASSES = tuple(f"{{*:{name}}}" for name in ("int", "date", "uuid", "hex", "word"))
"""From narrow to wide; a name of letters alone is no other kind of name than one with a hyphen."""


def tightened(rule: Rule, state: State) -> Rule:
    """Return a rule whose forgotten parts have the narrowest class with which it does all it did."""
    does = state.effect(rule)
    pieces = rule.source.split(FORGOTTEN)
    forgotten = [FORGOTTEN] * (len(pieces) - 1)
    for place in range(len(forgotten)):
        trials = {}
        for name in CLASSES:
            parts = [*forgotten[:place], name, *forgotten[place + 1 :], ""]
            source = "".join(text for pair in zip(pieces, parts, strict=True) for text in pair)
            if narrow := with_sides(rule, source, rule.target or ""):
                trials[name] = narrow
        effects = state.effects(list(trials.values()), does.touched)
        for (name, narrow), effect in zip(trials.items(), effects, strict=True):
            if effect.saved >= does.saved and effect.pages >= does.pages:
                forgotten[place], rule = name, narrow
                break
    return rule
