"""Several narrow rules that are one: they differ in a single word, so the word is opened or listed.

A part with many values, each of them proved to be idle alone, is idle whatever it says: it is left open,
if that holds on all pages. Otherwise the rule names exactly the values that were proved, which does what
the narrow rules did and can be read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from string import ascii_letters, digits
from typing import TYPE_CHECKING, NamedTuple

from undust.learning.make_rule import with_sides

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.rules import Rule

_FEW = 3
"""At least this many rules are merged into one."""
MANY = 5
"""With this many values, a part may have any value."""
LONGEST_LIST = 240
_NAME = "w"
"""Of the capture, where what differs is written again; rules that are learned have no other of this name."""
_PIECES = re.compile(r"(\{[^{}]*\}|[/?&=]+)")
_OF_A_WORD = frozenset(f"{ascii_letters}{digits}%")
_NAMED = re.compile(rf"\{{{_NAME}[:*}}]")
_SPECIAL = re.compile(r"[{}|*]")


class Wider(NamedTuple):
    """A rule in place of several."""

    rule: Rule
    places: tuple[int, ...]
    """Where the rules stand that it is made of."""


class _Hole(NamedTuple):
    """Two sides with one word left out, and how the right side writes it."""

    before: str
    after: str
    target: tuple[str, ...]
    """The pieces of the right side around the word; one piece if it is not written."""
    form: str


_Group = tuple[str, tuple[str, ...], tuple[str, ...], _Hole]
"""Site, conditions, and the sides."""


def wider(rules: Sequence[Rule]) -> Iterator[Wider]:
    """Yield what may replace several rules, most rules first, and of one group the widest first."""
    groups: defaultdict[_Group, dict[str, int]] = defaultdict(dict)
    for place, rule in enumerate(rules):
        if rule.kind == "rewrite" and not _NAMED.search(rule.source):
            for word, hole in _holes(rule.source, rule.target or ""):
                groups[rule.site, rule.when, rule.unless, hole].setdefault(word, place)
    ranked = sorted(
        ((-len(words), sorted(words.values()), hole, words) for (*_, hole), words in groups.items()),
        key=lambda group: group[:3],
    )
    for _, places, hole, words in ranked:
        if len(words) >= _FEW:
            first = rules[places[0]]
            for source, target in _sides(hole, sorted(words)):
                if found := with_sides(first, source, target):
                    yield Wider(found, tuple(places))


def _holes(source: str, target: str) -> Iterator[tuple[str, _Hole]]:
    """Yield each word of the left side that could be another, with the sides without it."""
    pieces = _PIECES.split(source)
    start = 0
    for number, piece in enumerate(pieces):
        before, after = source[:start], source[start + len(piece) :]
        start += len(piece)
        is_name = before.endswith(("?", "&"))
        # The first slash behind those of the scheme ends the host.
        if number % 2 or not piece or is_name or before.count("/") < 3 or _SPECIAL.search(piece):  # noqa: PLR2004
            continue
        yield piece, _Hole(before, after, (target,), "")
        forms = {piece.lower(): ":lower", piece: ""}
        for written, form in forms.items():
            if around := _around(target, written):
                yield piece, _Hole(before, after, around, form)


def _around(target: str, word: str) -> tuple[str, str] | None:
    """Return what stands around the one place where a word stands as a whole; None if there is no such."""
    pieces = _PIECES.split(target)
    found = [number for number, piece in enumerate(pieces) if number % 2 == 0 and piece == word]
    if len(found) != 1:
        return None
    before, after = "".join(pieces[: found[0]]), "".join(pieces[found[0] + 1 :])
    return (before, after) if before.count("/") >= 3 else None  # noqa: PLR2004 -- as on the left


def _sides(hole: _Hole, words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield both sides, open and then with a list of the words."""
    start, end = _shared(words)
    inner = [word[len(start) : len(word) - len(end)] for word in words]
    is_written = len(hole.target) > 1
    name = _NAME if is_written else "*"
    if len(words) >= MANY or is_written:
        kind = ":int" if all(each.isdigit() and each.isascii() for each in inner) else ""
        yield _filled(hole, start, f"{name}{kind}", end)
    listed = "|".join(inner)
    if len(listed) <= LONGEST_LIST:
        yield _filled(hole, start, f"{name}:{listed}", end)


def _filled(hole: _Hole, start: str, capture: str, end: str) -> tuple[str, str]:
    source = f"{hole.before}{start}{{{capture}}}{end}{hole.after}"
    if len(hole.target) == 1:
        return source, hole.target[0]
    shown = (start.lower(), end.lower()) if hole.form else (start, end)
    return source, f"{hole.target[0]}{shown[0]}{{{_NAME}{hole.form}}}{shown[1]}{hole.target[1]}"


def _shared(words: list[str]) -> tuple[str, str]:
    """Return with which whole words and signs all begin, and end."""
    start = _beginning(words)
    end = _beginning([word[len(start) :][::-1] for word in words])[::-1]
    return start, end


def _beginning(words: list[str]) -> str:
    """Return what all words begin with, up to a sign, and less than any whole word."""
    first, last = min(words), max(words)
    shortest = min(map(len, words)) - 1
    same = next((at for at in range(shortest) if first[at] != last[at]), shortest)
    end = next((at for at in range(same, 0, -1) if first[at - 1] not in _OF_A_WORD), 0)
    return first[:end]
