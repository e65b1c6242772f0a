"""Classes of pages that change between fetches: rules that hold everywhere else seem to fail there.

Edit forms with locks, lists with counters and clocks: under two forms of one URL their text differs,
though the forms mean the same. Where rules that hold elsewhere fail together, the URLs are kept as they
are, so that the rules themselves can stay simple and few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from undust.learning.make_rule import keeping, with_conditions
from undust.learning.narrowing import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.learning.state import Effect, State
    from undust.rules import Rule

_BY = "volatile"
_PAGES = 15
"""A rule holds elsewhere if it does so for this many pages …"""
_FAILING = 0.15
"""… and fails for no more than this share."""
FAILURES, _RULES, RATE, _SHARE = 5, 2, 0.3, 0.5
"""A class is unstable with this many failures, of this many rules, at this rate, if it is not the site."""
HOME = "/"
_TRIED = 6
WORTH = 2
"""What the rules remove elsewhere against what they would have removed there."""


def volatile_class(
    state: State, rules: Sequence[Rule], is_good: Callable[[Effect, Rule], bool]
) -> Rule | None:
    """Return a `keep` for the class of URLs where rules that hold elsewhere fail most, if there is one.

    Where pages are compared by likelihood, a class needs a witness: a URL of it that was seen to change.
    """
    fails: dict[str, Counter[int]] = defaultdict(Counter)
    holds: Counter[str] = Counter()
    failing: list[Rule] = []
    for rule, effect in zip(rules, state.effects(rules), strict=True):
        if effect.pages < _PAGES or not 0 < effect.lost <= _FAILING * (effect.lost + effect.pages):
            continue
        for pattern, count in counted(state.some_texts(effect.sources[effect.failing])).items():
            fails[pattern][len(failing)] += count
        holds += counted(state.some_texts(effect.sources[effect.merging & ~effect.failing]))
        failing.append(rule)
    shares = counted(state.texts) if fails else Counter()
    changing = counted(state.pages.changing) if fails and state.pages.has_blocks else None
    for pattern in _suspects(fails, holds, shares, len(state.texts)):
        if changing is not None and not changing[pattern]:
            continue
        spared = [with_conditions(rule, unless=(pattern,)) for rule in failing]
        sayable = [rule for each, rule in zip(spared, failing, strict=True) if each]
        effects = zip(state.effects(list(filter(None, spared))), sayable, strict=True)
        gain = sum(effect.saved for effect, rule in effects if is_good(effect, rule))
        if gain > WORTH * holds[pattern]:
            return keeping(rules[0].site, _BY, as_whole(pattern))
    return None


def _suspects(
    fails: dict[str, Counter[int]], holds: Counter[str], shares: Counter[str], urls: int
) -> list[str]:
    found = []
    for pattern, by_rule in fails.items():
        total = by_rule.total()
        rate = total / (total + holds[pattern])
        if pattern == HOME:
            continue  # with its open query it would be every URL that carries its page in a parameter
        if total >= FAILURES and len(by_rule) >= _RULES and rate >= RATE and shares[pattern] < _SHARE * urls:
            found.append((-total * rate, pattern))
    return [pattern for _, pattern in sorted(found)[:_TRIED]]


def as_whole(condition: str) -> str:
    """Return the pattern of a whole URL that says what a condition says.

    >>> as_whole("?do=edit")
    '{s}://{h}/{p**}?do=edit&{rest**}'
    """
    head, mark, query = condition.partition("?")
    scheme, _, rest = head.rpartition("://")
    host, slash, path = rest.partition("/")
    written = path if slash else "{p**}"
    return f"{scheme or '{s}'}://{host or '{h}'}/{written}?{query + '&' if mark else ''}{{rest**}}"
