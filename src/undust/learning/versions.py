"""Whether a number that a rule removes may name a version of the page.

A wiki shows every revision of a page at `?title=Tea&oldid=417`. A revision differs from the page as little
as two fetches of one page do, so content does not show whether it matters. The URLs can: a number that
does not matter is seen with several values on one page (`sid=1`, `sid=2`), or with one value on several pages
(`print=1`). A number that belongs to one page, and is the only one there, may name a version of it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.rules import program_of

if TYPE_CHECKING:
    from undust.learning.state import Effect, State
    from undust.rules import Rule

    Numbers = tuple[str, ...]

IDLE_NUMBERS, IDLE_SHARE = 3, 0.15
"""URLs, and share of the URLs that lose a number, which must show that the number does not matter."""
LOSING_SHARE = 0.5
"""Share of the changed URLs that must lose a number before the rule is one about numbers."""
_NUMBER = re.compile(r"(?<![^\W_])\d{1,9}(?![^\W_])")
"""Longer numbers are times and tokens."""


def may_name_versions(state: State, effect: Effect, rule: Rule) -> bool:
    """Return whether a rule removes numbers that were never seen to be without meaning."""
    sources = state.some_texts(effect.sources)
    becomes = program_of([rule]).batch(state.images.take(pa.array(effect.sources)))
    moves = [
        (lost, target)
        for source, target in zip(sources, pa.array(becomes).to_pylist(), strict=True)
        if (lost := _lost_numbers(source, target))
    ]
    if len(moves) < LOSING_SHARE * len(sources):
        return False
    values: defaultdict[str, set[Numbers]] = defaultdict(set)
    targets: defaultdict[Numbers, set[str]] = defaultdict(set)
    for lost, target in moves:
        values[target].add(lost)
        targets[lost].add(target)
    idle = sum(len(values[target]) > 1 or len(targets[lost]) > 1 for lost, target in moves)
    return idle < max(IDLE_NUMBERS, IDLE_SHARE * len(moves))


def _lost_numbers(source: str, target: str) -> Numbers:
    """Return the numbers of a URL that its target does not have.

    >>> _lost_numbers("http://a.test/wiki?title=Tea&oldid=417", "http://a.test/Tea")
    ('417',)
    """
    lost = Counter(_NUMBER.findall(source)) - Counter(_NUMBER.findall(target))
    return tuple(sorted(lost.elements()))
