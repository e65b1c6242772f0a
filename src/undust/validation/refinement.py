"""When a substitution says no more than another one: with more context, or the other way round."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.rules import Rule

Tokens = tuple[str, ...]

START, END = "^start", "^end"
"""No URL has tokens like these."""
_TOKENS = re.compile(r"[A-Za-z0-9]+|%[0-9A-F]{2}|.", re.DOTALL)


def is_opposite(one: Rule, other: Rule) -> bool:
    """Whether a substitution undoes another."""
    return one.kind == other.kind == "replace" and (one.source, one.target) == (other.target, other.source)


def refines(narrow: Rule, wide: Rule) -> bool:
    """Whether a substitution is another one with more context, in either direction (Lemma 6 of DustBuster).

    >>> from undust.rules import Rule
    >>> narrow = Rule("s.test", "replace", "/story?id=", "/story_")
    >>> refines(narrow, Rule("s.test", "replace", "?id=", "_"))
    True
    """
    if not (narrow.kind == wide.kind == "replace"):
        return False
    source, target = tokens_of(narrow.source), tokens_of(narrow.target or "")
    alpha, beta = tokens_of(wide.source), tokens_of(wide.target or "")
    if {source, target} == {alpha, beta}:
        return False
    return _holds(source, target, alpha, beta) or _holds(source, target, beta, alpha)


def _holds(source: Tokens, target: Tokens, alpha: Tokens, beta: Tokens) -> bool:
    around = len(source) - len(alpha)
    if around < 0 or around != len(target) - len(beta):
        return False
    return any(
        source[at : at + len(alpha)] == alpha and target == source[:at] + beta + source[at + len(alpha) :]
        for at in range(around + 1)
    )


@lru_cache(1 << 16)
def tokens_of(side: str) -> Tokens:
    """Return the tokens of one side of a substitution, as the rule language cuts it, anchors included."""
    start = (START,) if side.startswith("^") else ()
    end = (END,) if side.endswith("$") else ()
    inner = side[len(start) : len(side) - len(end)]
    return (*start, *_TOKENS.findall(inner), *end)
