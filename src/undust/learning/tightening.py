"""Lets a rule reach no further than it was seen to reach.

A rule that drops a folder was proved on the folders of its proofs. That all of them are words says nothing
about a folder called `index.php`, which may be a program. And that every page of a German manual is that of
the French one says nothing about the front pages of the two. Where nothing is known a page is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undust.learning.writing import with_sides

if TYPE_CHECKING:
    from undust.learning.state import Effect, State
    from undust.rules import Rule

FORGOTTEN = "{*}"
BELOW = "/{p**}"
NAME = re.compile(r"(?:^|/)[^{}/]+/")
"""A segment without any capture, with more behind it."""
CLASSES = tuple(f"{{*:{name}}}" for name in ("int", "date", "uuid", "hex", "word"))
"""From narrow to wide; a name of letters alone is no other kind of name than one with a hyphen."""


def tightened(rule: Rule, state: State) -> Rule:
    """Return the narrowest rule that does all it did, by the classes of what it forgets and by folders."""
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
    return _below(rule, state, does)


def _below(rule: Rule, state: State, does: Effect) -> Rule:
    """Return a rule about a folder that leaves the folder itself alone, where that was never seen to do."""
    path, mark, query = rule.source.partition("?")
    before, found, after = (rule.target or "").partition("/{p}")
    if not path.endswith(BELOW) or not NAME.search(path.partition("://")[2].partition("/")[2]):
        return rule
    if not found or "{p" in before + after or "?" in before:
        return rule  # what is read as `{x}` has to be written, and as a path
    if path == f"{before}{BELOW}":
        return rule  # it says nothing about the folder
    source = f"{path.removesuffix(BELOW)}/{{x}}{BELOW}{mark}{query}"
    narrow = with_sides(rule, source, f"{before}/{{x}}/{{p}}{after}")
    if narrow is None:
        return rule
    effect = state.effect(narrow, does.touched)
    return narrow if effect.saved >= does.saved and effect.pages >= does.pages else rule
