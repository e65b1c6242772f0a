"""Lets a rule reach no further than it was seen to reach.

A rule that drops a folder was proved on the folders of its proofs. That all of them are words says nothing
about a folder called `index.php`, which may be a program. And that every page of a German manual is that of
the French one says nothing about the front pages of the two. If whatever proves a rule names a product, it
may be wrong of lists. Where nothing is known a page is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from undust.learning.make_rule import OPEN, is_plain, with_conditions, with_sides
from undust.learning.url_forms import pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.learning.state import Effect, State
    from undust.rules import Rule

FORGOTTEN = "{*}"
BELOW = "/{p**}"
_NAME = re.compile(r"(?:^|/)[^{}/]+/")
"""A segment without any capture, with more behind it."""
OPEN_QUERY = re.compile(r"\{\w+\*\*\}$")
"""What else may be in a query, and is written again."""
_COMMON = 0.5
"""A parameter that this share of URLs has is not typical of the few that prove a rule."""
_SHARED = 24
"""At most this many parameters that all proofs have are looked at, in the order of their names."""
_CLASSES = tuple(f"{{*:{name}}}" for name in ("int", "date", "uuid", "hex", "word"))
"""From narrow to wide; a name of letters alone is the same kind of name as one with a hyphen."""


def tightened(rule: Rule, state: State) -> Rule:
    """Return a narrow rule that does all it did: classes of what it removes, folders, a parameter."""
    does = state.effect(rule)
    pieces = rule.source.split(FORGOTTEN)
    forgotten = [FORGOTTEN] * (len(pieces) - 1)
    for place in range(len(forgotten)):
        trials = {}
        for name in _CLASSES:
            parts = [*forgotten[:place], name, *forgotten[place + 1 :], ""]
            source = "".join(text for pair in zip(pieces, parts, strict=True) for text in pair)
            if narrow := with_sides(rule, source, rule.target or ""):
                trials[name] = narrow
        effects = state.effects(list(trials.values()), does.touched)
        for (name, narrow), effect in zip(trials.items(), effects, strict=True):
            if effect.saved >= does.saved and effect.pages >= does.pages:
                forgotten[place], rule = name, narrow
                break
    return _alike(_below(rule, state, does), state, does)


def _below(rule: Rule, state: State, does: Effect) -> Rule:
    """Return a rule about a folder that leaves the folder itself alone, where that was never seen to do."""
    path, mark, query = rule.source.partition("?")
    before, found, after = (rule.target or "").partition("/{p}")
    if not path.endswith(BELOW) or not _NAME.search(path.partition("://")[2].partition("/")[2]):
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


def _alike(rule: Rule, state: State, does: Effect) -> Rule:
    """Return a rule that asks for the parameter which all its proofs have, if most URLs do without it."""
    query = rule.source.partition("?")[2]
    if not OPEN_QUERY.search(query) or rule.source == OPEN:
        return rule  # it says nothing of the rest, or is about how any URL is written
    proofs = state.some_texts(does.sources[does.merging & ~does.failing])
    shared = set(_names(proofs[0])) if proofs else set()
    for url in proofs:
        shared.intersection_update(_names(url))
        if not shared:
            return rule
    among = {name: _having(state, name) for name in sorted(shared)[:_SHARED]}
    said = tuple(_named(query, *(condition.rpartition("?")[2] for condition in rule.when)))
    rare = [
        (count, name)
        for name, count in among.items()
        if count < _COMMON * len(state.images) and not any(_is_one_of(name, each) for each in said)
    ]
    for _, name in sorted(rare):
        narrow = with_conditions(rule, when=(f"?{name}={{**}}",))
        if narrow is None:
            continue
        effect = state.effect(narrow, does.touched)
        if effect.saved >= does.saved and effect.pages >= does.pages:
            return narrow
    return rule


def _having(state: State, name: str) -> int:
    """Return how many images have a parameter."""
    pattern = rf"^[^?]*\?(?:.*&)?{re.escape(name)}(?:[=&]|$)"
    return int(pc.sum(pc.match_substring_regex(state.images, pattern)).as_py() or 0)


def _named(*queries: str) -> Iterator[str]:
    """Yield the names in the patterns of queries, those with a star for all that start so."""
    for part in (part for query in queries for part in query.split("&")):
        yield from (
            part[1:-1].partition(":")[2].split("|") if part.startswith("{") else [part.partition("=")[0]]
        )


def _is_one_of(name: str, pattern: str) -> bool:
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))


def _names(url: str) -> tuple[str, ...]:
    return tuple(filter(is_plain, pieces_of(url).names))
