"""Conditions under which a rule that fails somewhere holds: host, segments, endings, parameters."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from math import exp, inf, lgamma
from typing import TYPE_CHECKING

from undust.learning.texts import pieces_of
from undust.proposing.idle_parts import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.learning.texts import UrlPieces

BY_CHANCE = 0.00002
"""Several dozen conditions are tried for each rule; one that separates by luck must be rarer than this."""
EXCEPTIONS = 3
"""A rule has at most this many of them, each with at least this many failures."""
FEW_FAILURES = 0.02
LEAST_FAILURES, LOST_FOR_SAVED, _TOGETHER = 2, 5, 0.002
"""A rule that is good has an exception where it fails at least this often, at most this many times what fails
there held."""
LONGEST_VALUE, LONGEST_SEGMENT = 40, 24
VALUE_PREFIX = re.compile(r"[A-Za-z0-9]{1,16}[:,._-](?=[^;&/])")
"""What a site writes before a name or a number: `File:`, `topic,`, `msg_`."""
_RUN = re.compile(r"[^;&]+")
_REMEMBERED = 1 << 17
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,6}$")


@lru_cache(_REMEMBERED)
def conditions_of(url: str) -> tuple[str, ...]:
    """Return the conditions that hold for a URL, as patterns, each once."""
    pieces = pieces_of(url)
    found = (f"{{s}}://{pieces.host}", *_of_path(pieces.segments), *_of_query(pieces))
    return tuple(dict.fromkeys(found))


def _of_path(segments: tuple[str, ...]) -> Iterator[str]:
    first, *others = segments
    if not others:
        yield f"/{first}"
        return
    if first:
        yield f"/{first}/{{**}}"
        if len(others) > 1 and others[0]:
            yield f"/{first}/{others[0]}/{{**}}"
            if _RUN.fullmatch(first):
                yield f"/{{*}}/{others[0]}/{{**}}"
    # A run never crosses a semicolon or an ampersand.
    yield "/" + "/".join(_RUN.sub("{*}", segment) for segment in segments)
    last = segments[-1]
    if _RUN.fullmatch(last) and (ending := _ENDING.search(last)) and ending.start():
        yield f"/{{**}}/{{*}}{ending[0]}"
    if _RUN.fullmatch(last) and (prefix := VALUE_PREFIX.match(last)):
        yield f"/{{**}}/{prefix[0]}{{*}}"
    if len(last) < LONGEST_SEGMENT:
        yield f"/{{**}}/{last}"


def _of_query(pieces: UrlPieces) -> Iterator[str]:
    for parameter in pieces.query:
        name, equals, value = parameter.partition("=")
        if not is_plain(name):
            continue
        if ";" in value:
            # Text after a semicolon is not a parameter of its own in the rule language.
            yield f"?{name}={_open(value)}"
            yield f"?{name}={';'.join('{*}' * bool(part) for part in value.split(';'))}"
            continue
        yield f"?{name}={{**}}"
        if equals and not value:
            yield f"?{name}="
        elif equals:
            yield from _of_value(name, value)


def _of_value(name: str, value: str) -> Iterator[str]:
    if len(value) < LONGEST_VALUE:
        yield f"?{name}={value}"
    if prefix := VALUE_PREFIX.match(value):
        yield f"?{name}={prefix[0]}{{*}}"
    if (ending := _ENDING.search(value)) and ending.start():
        yield f"?{name}={{*}}{ending[0]}"
    if value.isdigit() and value.isascii():
        yield f"?{name}={{*:int}}"


def _open(value: str) -> str:
    """Return a value with semicolons in which names are written and values are open."""
    first, *others = value.split(";")
    return ";".join(["{*}" if first and "=" not in first else _named(first), *map(_named, others)])


def _named(part: str) -> str:
    name, equals, value = part.partition("=")
    return f"{name}={{*}}" if equals and value else part


def counted(urls: Iterable[str]) -> Counter[str]:
    """Return of how many URLs each condition holds."""
    counts: Counter[str] = Counter()
    for url in urls:
        counts.update(conditions_of(url))
    return counts


def where_it_holds(good: Sequence[str], bad: Sequence[str], least: int, most: int = 6) -> list[str]:
    """Return conditions under which nearly nothing fails, those that keep most first."""
    holds, fails = counted(good), counted(bad)
    found = [
        (-count, pattern)
        for pattern, count in holds.items()
        if count >= least and fails[pattern] <= FEW_FAILURES * count and fails[pattern] < len(bad)
    ]
    return [pattern for _, pattern in sorted(found)[:most]]


def exceptions(good: Sequence[str], bad: Sequence[str]) -> tuple[str, ...]:
    """Return conditions that cover what fails and little of what holds; none if there are no such."""
    holds, fails = [set(conditions_of(url)) for url in good], [set(conditions_of(url)) for url in bad]
    chosen: list[str] = []
    while fails and len(chosen) < EXCEPTIONS:
        ours, theirs = Counter(c for some in holds for c in some), Counter(c for some in fails for c in some)
        best = max(theirs, key=lambda condition: (theirs[condition] - ours[condition] / 2, condition))
        if theirs[best] <= ours[best] / 2 or theirs[best] < EXCEPTIONS:
            return ()
        chosen.append(best)
        holds = [some for some in holds if best not in some]
        fails = [some for some in fails if best not in some]
    is_worth_it = not fails and 3 * len(holds) > len(good)
    return tuple(chosen) if is_worth_it else ()


def worst_exception(good: Sequence[str], bad: Sequence[str]) -> str | None:
    """Return the condition that holds for failures more often than luck would have it; None if none does."""
    holds, fails = counted(good), counted(bad)
    total, failures = len(good) + len(bad), len(bad)
    found = [
        (fails[pattern] * LOST_FOR_SAVED - holds[pattern], pattern)
        for pattern in fails
        if fails[pattern] >= LEAST_FAILURES
        and fails[pattern] * LOST_FOR_SAVED > holds[pattern]
        and all_by_chance(total, failures, fails[pattern] + holds[pattern], fails[pattern]) < _TOGETHER
    ]
    return max(found)[1] if found else None


def all_by_chance(trials: int, failures: int, drawn: int, found: int) -> float:
    """Return the chance of finding this many failures or more among trials drawn at random."""
    most = min(drawn, failures)
    return min(1.0, sum(exp(_drawn(trials, failures, drawn, some)) for some in range(found, most + 1)))


def _drawn(trials: int, failures: int, drawn: int, found: int) -> float:
    """Return the logarithm of the hypergeometric probability."""
    if drawn - found > trials - failures:
        return -inf
    return _choose(failures, found) + _choose(trials - failures, drawn - found) - _choose(trials, drawn)


def _choose(total: int, some: int) -> float:
    return lgamma(total + 1) - lgamma(some + 1) - lgamma(total - some + 1)


def by_chance(trials: int, failures: int, kept: int) -> float:
    """Return how likely a condition that has nothing to do with it would leave out every failure.

    Of all trials, `kept` ones drawn at random contain none of the failures (hypergeometric).

    >>> round(by_chance(trials=10, failures=2, kept=5), 3)
    0.222
    """
    if kept <= 0 or trials - kept < failures:
        return 1.0
    return exp(_drawn(trials, failures, kept, 0))
