"""From two URLs with the same text to rules that may explain it: guesses, each of which has to pass tests.

The learner of whole inputs wants several pages before it proposes anything. A crawl that waits for them
fetches every page many times where each link has a new session id. One pair is enough for a guess, and a
guess costs no more than a few tests.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.rules import Rule

GUESS = "guess"
"""What `learned_by` says of such a rule."""
MOST_GUESSES = 100
"""Of one site, those that failed included."""
MOST_DIFFERENT = 2
"""Parameters in which two URLs of a guess may differ."""
FEWEST_VALUES, LEAST_DISTINCT = 5, 0.6
"""A parameter names a visit, not a choice, if it has this many values, this share of all are different, …"""
_RANDOM = re.compile(r"(?=.*\d)[A-Za-z0-9_-]{4,}")
"""… and this share of them looks like this."""
_DROPPED = re.compile(r"\{\*\*:([^|{}]+)\}")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


def guesses(one: str, other: str) -> Iterator[str]:
    """Yield for each parameter in which two keys differ the rule that removes it.

    >>> print(*guesses("http://a.test/i?id=1&sid=4f1e", "http://a.test/i?id=1"))
    rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}
    """
    (left, _, mine), (right, _, its) = one.partition("?"), other.partition("?")
    different = {*mine.split("&")} ^ {*its.split("&")}
    names = sorted({pair.partition("=")[0] for pair in different - {""}})
    if left == right and len(names) <= MOST_DIFFERENT:
        yield from (_without(f"{{**:{name}}}") for name in names if _NAME.fullmatch(name))


def has_many_values(rule: Rule, urls: Iterable[str]) -> bool:
    """Return whether the parameter that a guess removes has another value in most URLs, as session ids have.

    >>> from undust.rules import Rule
    >>> rule = Rule.parse(_without("{**:sid}"), site="a.test")
    >>> has_many_values(rule, [f"http://a.test/?sid=4f{number}e" for number in range(9)])
    True
    >>> has_many_values(rule, [f"http://a.test/?sid=4f{number % 3}e" for number in range(9)])
    False
    """
    name = _DROPPED.search(rule.source)
    if name is None:
        return False
    values = re.compile(rf"[?&;]{re.escape(name[1])}=([^&;#]*)")
    found = Counter(match[1] for url in urls for match in values.finditer(url))
    is_random = sum(_RANDOM.fullmatch(value) is not None for value in found) >= LEAST_DISTINCT * len(found)
    return is_random and len(found) >= max(FEWEST_VALUES, LEAST_DISTINCT * found.total())


def _without(pattern: str) -> str:
    return f"rewrite {{s}}://{{h}}/{{p**}}?{pattern}&{{rest**}} -> {{s}}://{{h}}/{{p}}?{{rest}}"
