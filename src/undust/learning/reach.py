"""How far a rule reaches: no further than it was seen to, and several narrow rules as one.

A rule that drops a folder was proved on the folders of its proofs. That all of them are words says nothing
about a folder called `index.php`, which may be a program. And that every page of a German manual is that of
the French one says nothing about the front pages of the two. If whatever proves a rule names a product, it
may be wrong of lists. Where nothing is known a page is kept.

Narrow rules that differ in a single word become one. A part with many values, each of them proved to be idle
alone, is idle whatever it says: it is left open, if that holds on all pages. Otherwise the rule names exactly
the values that were proved, which does what the narrow rules did and can be read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from string import ascii_letters, digits
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow.compute as pc

from undust.edits import ShapeCapture, rewrite_from
from undust.learning.bounds import kind_and_bits
from undust.learning.texts import OPEN, pieces_of, with_conditions, with_sides
from undust.proposing.idle_parts import is_plain
from undust.searching.objective import RISK, Objective

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.edits import Rewrite
    from undust.learning.state import Effect, State
    from undust.rules import Rule


FORGOTTEN = "{*}"
BELOW = "/{p**}"
_FOLDER = re.compile(r"(?:^|/)[^{}/]+/")
"""A segment without any capture, with more behind it."""
OPEN_QUERY = re.compile(r"\{\w+\*\*\}$")
"""What else may be in a query, and is written again."""
_COMMON = 0.5
"""A parameter that this share of URLs has is not typical of the few that prove a rule."""
_SHARED = 24
"""At most this many parameters that all proofs have are looked at, in the order of their names."""
_CLASSES = tuple(f"{{*:{name}}}" for name in ("int", "date", "uuid", "hex", "word"))
"""From narrow to wide; a name of letters alone is the same kind of name as one with a hyphen."""
_FEW = 3
"""At least this many rules are merged into one."""
_OF_PAGE = 3
"""URLs of one page that count, of those that a rule for a part of a value brings together."""
MANY = 5
"""With this many values, a part may have any value."""
LONGEST_LIST = 240
_NAME = "w"
"""Of the capture, where what differs is written again; rules that are learned have no other of this name."""
_PIECES = re.compile(r"(\{[^{}]*\}|[/?&=]+)")
_OF_A_WORD = frozenset(f"{ascii_letters}{digits}%")
_NAMED = re.compile(rf"\{{{_NAME}[:*}}]")
_SPECIAL = re.compile(r"[{}|*]")
UNPROVED = 0.02
"""Of the URLs that a rule changes, at most this share may have a parameter that it removes untested."""
_OF_SOME_FOLDERS = re.compile(r"\{(?:p|rest):lower\}|\{p(?:\*\*)?\}/[^{}/?]+(?=\?)")
"""Capitals, and a last segment: what may mean nothing in one folder, and much in another."""


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
    if not path.endswith(BELOW) or not _FOLDER.search(path.partition("://")[2].partition("/")[2]):
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
    said = tuple(_named(query, *(condition.rpartition("?")[2] for condition in rule.when)))
    rare = [
        (count, name)
        for name in sorted(shared)[:_SHARED]
        if not any(_is_one_of(name, each) for each in said)
        and (count := _having(state, name)) < _COMMON * len(state.images)
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


def proofs_of(state: State, effect: Effect) -> list[str]:
    """Return the URLs that a rule sends to others of their page."""
    return state.some_texts(effect.sources[effect.merging & ~effect.failing])


def holds_in_all_folders(state: State, effect: Effect, rule: Rule) -> bool:
    """Return whether a rule about capitals or a last segment was right in nearly all folders where it acts.

    In one folder names are written with and without capitals, and in another they distinguish two links.
    """
    if not any(map(_OF_SOME_FOLDERS.search, (rule.source, rule.target or ""))):
        return True
    proved = set(map(_home, proofs_of(state, effect)))
    homes = list(map(_home, state.some_texts(effect.sources)))
    return sum(home not in proved for home in homes) <= UNPROVED * len(homes)


@lru_cache(maxsize=10_000)
def _home(url: str) -> tuple[str, str]:
    """Return the first folder of a URL and the names of its parameters; many candidates ask about one URL."""
    pieces = pieces_of(url.lower())
    return pieces.segments[0] if len(pieces.segments) > 1 else "", "&".join(sorted(pieces.names))


def shortens_safely(rule: Rule, witnesses: int, lost: int, max_fpr: float) -> bool:
    """Return whether a rule that removes a part of a value or a segment was right often enough.

    `title=Augusta` may show what `title=Augusta,_Aushra` does, where no other page begins so; of other names
    that says little. How many are enough follows from what is known of such rules on other sites.
    """
    if rule.kind != "rewrite" or not _shortens(edit := rewrite_from(rule)):
        return True
    return RISK.rate(kind_and_bits(rule)[0], edit, witnesses, lost) <= Objective.under(max_fpr).most


def witnesses_of(state: State, effect: Effect) -> int:
    """Return how many URLs show that a rule is right, of each page only a few.

    A page that shows itself with several texts in place of what a rule removes (`date=2001-09-04`,
    `date=2001-09-17`) says more than one with a single one.
    """
    proving = state.page_of_image[effect.sources[effect.merging & ~effect.failing]]
    return max(effect.pages, int(np.minimum(np.unique(proving, return_counts=True)[1], _OF_PAGE).sum()))


def _shortens(edit: Rewrite) -> bool:
    """Return whether an edit removes any text beside what it keeps of a value; a named text is a value."""
    kept = {capture.name for capture in edit.target.captures()}
    for run in edit.source.runs():
        is_kept = [isinstance(piece, ShapeCapture) and piece.name in kept for piece in run]
        names = [str(piece).endswith("=") for piece in ("", *run)]
        removed = [isinstance(piece, ShapeCapture) and piece.name not in kept for piece in run]
        if any(is_kept) and any(one and not name for one, name in zip(removed, names, strict=False)):
            return True
    return False


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
