"""What one rule says about another: refinement and composition.

Refinement is DustBuster's (Bar-Yossef, Keidar, Schonfeld, section 4.3): a rule with more context on
both sides, alike, says nothing new where the shorter one holds. Composition is one rule that does the
work of two in a row, so that a chain learned in steps needs one pass.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from undust.rules.language import Rule
from undust.rules.reasoning.chains import chained

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(r"[A-Za-z0-9]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)

Tokens = tuple[str, ...]
_START, _END = "^ start", "$ end"  # no token of a text is longer than one character and has a space


@lru_cache(1 << 16)
def tokens_of(text: str) -> Tokens:
    """Return the tokens of one side of a `replace` rule; an anchor is a token of its own.

    >>> tokens_of("^http://a%20b")
    ('^ start', 'http', ':', '/', '/', 'a', '%20', 'b')
    """
    start, text = text.startswith("^"), text.removeprefix("^")
    end, text = text.endswith("$"), text.removesuffix("$")
    return (_START,) * start + tuple(_TOKEN.findall(text)) + (_END,) * end


def refines(rule: Rule, other: Rule) -> bool:
    """Whether `rule` is `other` with the same text added around both sides, in either direction."""
    if rule.kind != "replace" or other.kind != "replace":
        return False
    sides = tokens_of(rule.source), tokens_of(rule.target or "")
    shorter = tokens_of(other.source), tokens_of(other.target or "")
    return _refines(sides, shorter) or _refines(sides, shorter[::-1])


def is_opposite(rule: Rule, other: Rule) -> bool:
    """Whether `rule` undoes `other`: the same two texts, the other way round."""
    kinds = rule.kind == other.kind == "replace"
    return kinds and (rule.source, rule.target) == (other.target, other.source)


def _refines(sides: tuple[Tokens, Tokens], shorter: tuple[Tokens, Tokens]) -> bool:
    (source, target), (inner, image) = sides, shorter
    if len(source) - len(inner) != len(target) - len(image):
        return False
    return any(
        source[:place] + image + source[place + len(inner) :] == target for place in _places(inner, source)
    )


def _places(inner: Tokens, outer: Tokens) -> Iterator[int]:
    return (
        place for place in range(len(outer) - len(inner) + 1) if outer[place : place + len(inner)] == inner
    )


def compose(first: Rule, second: Rule) -> tuple[Rule, ...]:
    """Return the rules that do in one step what `first` and then `second` do; none if there is no such rule.

    >>> first = Rule.parse('replace "/story_" -> "/story.php3?id="', site="forum.test")
    >>> second = Rule.parse('replace ".php3?" -> "?"', site="forum.test")
    >>> [str(rule) for rule in compose(first, second)]
    ['replace "/story_" → "/story?id="']

    Two texts can overlap in several ways, so `replace` rules may have several compositions. Conditions
    test a URL between the two steps, which one rule cannot see: rules that have any do not compose,
    and neither do rules of different sites.
    """
    conditions = (*first.when, *first.unless, *second.when, *second.unless)
    if first.site != second.site or conditions or first.except_sites != second.except_sites:
        return ()
    if first.kind == second.kind == "replace":
        return tuple(_compose_texts(first, second))
    if first.kind == second.kind == "rewrite":
        target = chained(first.source, first.target or "", second.source, second.target or "")
        if target is not None:
            return (Rule(first.site, "rewrite", first.source, target, except_sites=first.except_sites),)
    return ()


def _compose_texts(first: Rule, second: Rule) -> Iterator[Rule]:
    source, middle = tokens_of(first.source), tokens_of(first.target or "")
    wanted, target = tokens_of(second.source), tokens_of(second.target or "")
    for shift in range(1 - len(wanted), len(middle)):
        start, end = max(shift, 0), min(shift + len(wanted), len(middle))
        if middle[start:end] != wanted[start - shift : end - shift]:
            continue
        before, after = wanted[: start - shift], wanted[end - shift :]
        left = before + source + after
        right = middle[:start] + target + middle[end:]
        if left != right and _START not in left[1:] and _END not in left[:-1]:
            yield Rule(
                first.site, "replace", _text_of(left), _text_of(right), except_sites=first.except_sites
            )


def _text_of(tokens: Tokens) -> str:
    return "".join({_START: "^", _END: "$"}.get(token, token) for token in tokens)
