"""Guesses: from two URLs with one text to rules that may explain it, each of which has to pass tests.

The learner of whole inputs wants several pages before it proposes anything. A crawl that waits for them
fetches most duplicates first. One pair is enough for a guess, and a guess that is wrong costs nothing: the
URLs that test it would have been fetched without it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from undust.crawling.places import RuleUse
from undust.crawling.rule_tests import (
    CHOICE_PAGES,
    FEW_PAGES,
    MOST_FAILING,
    NUMBER_PAGES,
    VISIT_PAGES,
    RuleTest,
    name_visits,
)
from undust.edits import DROP, Guard, ShapeCapture, making
from undust.proposing import differences_of, parts_of
from undust.proposing.idle_parts import is_plain
from undust.proposing.places import differing, respellings
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from undust._core import Program
    from undust.crawling.fetched import Fetched
    from undust.edits import Edit
    from undust.proposing import SeenParts
    from undust.rules import Rule


GUESS = "guess"
"""What `learned_by` says of such a rule."""
MOST_DIFFERENT = 3
"""Parameters in which two URLs of a guess may differ."""
LONGEST_VALUE = 40
"""Characters of a value that is written."""
_COUNTS = re.compile(r"=(?!0*[01]\b)\d{1,4}&?$")
"""Of a parameter: a number above one that may count pages."""
_WORD = re.compile(r"[A-Za-z_.]{1,16}")
"""A segment that is not the name of a page."""
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")
MOST_OPEN_PAIRS = 400
"""Of one site that wait for a guess."""
MOST_GUESSED = 2_000
"""Rules of one site that are tried, those that failed included."""
MOST_AT_A_TIME = 150
MOST_VERDICTS = 200
"""Pairs of fetched URLs that a guess is tested on at once."""
LEAST_IN_COMMON = 2
"""Pairs that must show a difference of a kind that single pairs do not suggest."""
LEAST_GROWTH, GUESSING_SHARE = 4, 50
"""Guesses are made after four more observations, or a fiftieth more if that is more."""


def guesses(one: str, other: str) -> Iterator[Edit]:
    """Yield the edits that may make one of two URLs of a page the other, the most general first.

    >>> print(next(guesses("http://a.test/i?id=1&sid=4f1e", "http://a.test/i?id=1")).text)
    rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}
    """
    left, right = sorted((parts_of(one), parts_of(other)), key=lambda parts: (len(str(parts)), parts))
    if left[:3] == right[:3]:
        yield from _of_queries(left, right)
    elif left[1:] == right[1:]:
        yield making.scheme_to("https")
    elif (left.scheme, *left[2:]) == (right.scheme, *right[2:]):
        yield making.host_to(right.host, left.host)
        yield making.host_to(left.host, right.host)
    elif (*left[:2], left.query) == (*right[:2], right.query):
        yield from _of_paths(left, right)
    yield from _of_numbers(left, right)


def _of_queries(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    ours, theirs = Counter(left.query), Counter(right.query)
    if ours == theirs:
        yield making.respelled("sorted")
    elif set(ours) == set(theirs):
        yield making.respelled("unique")
    different = sorted((ours - theirs) + (theirs - ours))
    names = {text.partition("=")[0] for text in different}
    names = {name for name in names if is_plain(name)}
    if not names or len(names) > MOST_DIFFERENT:
        return
    heads = Counter(name.partition("_")[0] for name in names if "_" in name)
    yield from (making.dropped(f"{head}_*") for head, count in sorted(heads.items()) if head and count > 1)
    yield from (making.dropped(name) for name in sorted(names))
    for text in different:
        name, equals, value = text.partition("=")
        if is_plain(name) and len(value) <= LONGEST_VALUE:
            yield making.dropped_value(name, value if equals else None)
    for form in ("plain", "lower"):
        yield making.respelled(form)


def _of_paths(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    short, long = left.segments, right.segments
    if len(short) > len(long):
        short, long = long, short
    if [*filter(None, short)] == [*filter(None, long)]:
        yield making.swapped("//", "/")
        yield making.without_slash()
    for form, same in (("lower", str.lower), ("plain", unquote)):
        if [*map(same, short)] == [*map(same, long)]:
            yield making.respelled(form, path=True)
    yield from _of_segments(short, long)


def _of_segments(short: tuple[str, ...], long: tuple[str, ...]) -> Iterator[Edit]:
    if long[:-1] == short:
        yield making.last_segment_dropped(long[-1], slash=False)
    if short[-1] == "" and long[:-1] == short[:-1]:
        yield making.last_segment_dropped(long[-1], slash=True)
    if long[1:] == short and _WORD.fullmatch(long[0]):
        yield making.first_segment_dropped(long[0])
    if len(long) > 1 and (long[0], *long[2:]) == short and _WORD.fullmatch(long[1]):
        yield making.second_segment_dropped(long[1])
    if short[:-1] == long[:-1]:
        for name, bare in ((short[-1], long[-1]), (long[-1], short[-1])):
            ending = _ENDING.search(name)
            if ending and name == bare + ending[0]:
                yield making.ending_dropped(ending[0])


def _of_numbers(left: SeenParts, right: SeenParts) -> Iterator[Edit]:
    if found := differing(left, right):
        yield from respellings(left, found)


def needed_tests(edit: Edit, values: Collection[str]) -> int:
    """Return for how many pages a guess must hold, by what it leaves out on the site.

    A text that is another one nearly every time names a visit. One of few may be a choice, which changes
    long lists and leaves short ones as they are: that takes many pages to see. A small number counts the
    pages of a list, and where there is no such page many sites show another one.
    """
    if edit.operation == DROP and any(map(_COUNTS.search, values)):
        return NUMBER_PAGES
    if edit.operation != DROP or not (edit.removes or edit.defaults):
        return FEW_PAGES
    return VISIT_PAGES if name_visits(set(values), len(values)) else CHOICE_PAGES


def narrowed(edit: Edit, url: str) -> Iterator[Edit]:
    """Yield an edit that fails elsewhere for URLs like one: in its folder, or with its parameters.

    >>> found = narrowed(making.dropped("order"), "http://a.test/ticket/7?order=id")
    >>> next(found).text.partition(" when ")[2]
    '/ticket/{**}'
    """
    parts = parts_of(url)
    if len(parts.segments) > 1 and parts.segments[0]:
        yield edit.guarded(when=[Guard(path=((parts.segments[0],), (ShapeCapture(is_many=True),)))])


@dataclass
class Guessing:
    """The guesses of one site."""

    site: str
    tried: set[str] = field(default_factory=set)
    """Ids of all rules that were guessed, or refuted at once."""
    _pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    _examined: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of forms from which all guesses were tried."""
    _open: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of forms that nothing explains yet."""
    _next: int = 0

    def add(self, one: str, other: str) -> None:
        """Take two URLs of one page that no rule makes one."""
        if len(self._pairs) < MOST_OPEN_PAIRS:
            self._pairs[one, other] = None

    def is_due(self, observed: int) -> bool:
        """Return whether to guess now."""
        return bool(self._pairs) and observed >= self._next and len(self.tried) < MOST_GUESSED

    def found(self, program: Program, keys: dict[str, str], fetched: Fetched) -> list[tuple[Rule, RuleTest]]:
        """Return new rules that explain pairs and that nothing fetched contradicts, with their tests.

        Args:
            program: The rules of the moment.
            keys: The keys of what was fetched, each with one URL.
            fetched: What the URLs showed.

        """
        self._next = len(fetched) + max(LEAST_GROWTH, len(fetched) // GUESSING_SHARE)
        offered = self._offered(program)
        trial = _Trial(list(keys), list(keys.values()), fetched)
        found: dict[str, tuple[Rule, RuleTest]] = {}
        for forms, edits in offered.items():
            self._examined.add(forms)
            for edit in edits:
                chosen = self._tried(edit, forms, trial)
                if chosen is not None:
                    found[chosen[0].id] = chosen
                    break
                if any(known.id in found for known in edit.rules(self.site) or ()):
                    break
        for edit, forms in self._common():
            if (chosen := self._tried(edit, forms, trial)) is not None:
                found[chosen[0].id] = chosen
        return list(found.values())

    def _common(self) -> Iterator[tuple[Edit, tuple[str, str]]]:
        """Yield what several pairs have in common, each with one of them."""
        forms = list(self._open)
        urls = [url for pair in forms for url in pair]
        pairs = [(2 * number, 2 * number + 1, number) for number in range(len(forms))]
        for edit in differences_of(urls, pairs, LEAST_IN_COMMON):
            rules = edit.rules(self.site)
            if not rules or len(rules) > 1 or rules[0].id in self.tried or edit.makes_up:
                continue
            key = program_of(rules).key
            merged = next((pair for pair in forms if key(pair[0]) == key(pair[1])), None)
            if merged is not None:
                yield edit, merged

    def _offered(self, program: Program) -> dict[tuple[str, str], list[Edit]]:
        """Return pairs of forms that differ, with what may explain them."""
        offered: dict[tuple[str, str], list[Edit]] = {}
        self._open = []
        for pair in list(self._pairs):
            one, other = map(program.canonical, pair)
            if one == other or program.key(pair[0]) == program.key(pair[1]):
                del self._pairs[pair]
                continue
            self._open.append((one, other))
            if (one, other) not in self._examined and len(offered) < MOST_AT_A_TIME:
                offered[one, other] = list(guesses(one, other))
        if len(self._pairs) >= MOST_OPEN_PAIRS:
            self._pairs.clear()
        return offered

    def _tried(self, edit: Edit, forms: tuple[str, str], trial: _Trial) -> tuple[Rule, RuleTest] | None:
        for each in self._one_and_narrower(edit, forms):
            rules = each.rules(self.site)
            if not rules or len(rules) > 1 or rules[0].id in self.tried:
                continue
            rule = replace(rules[0], learned_by=GUESS)
            program = program_of([rule])
            if program.key(forms[0]) != program.key(forms[1]):
                return None
            self.tried.add(rule.id)
            if (test := trial.of(rule.id, program, each)) is not None:
                return replace(rule, support=test.support), test
        return None

    def _one_and_narrower(self, edit: Edit, forms: tuple[str, str]) -> Iterator[Edit]:
        yield edit
        yield from narrowed(edit, max(forms, key=len))


@dataclass
class _Trial:
    """What was fetched, for guesses to be tested on."""

    keys: list[str]
    urls: list[str]
    fetched: Fetched

    def __post_init__(self) -> None:
        self._column = pa.array(self.keys, pa.large_string())
        self._place = {key: row for row, key in enumerate(self.keys)}

    def of(self, id_: str, program: Program, edit: Edit) -> RuleTest | None:
        """Return how a rule does on all that was fetched; None if it fails."""
        rows = np.unique(np.asarray(pa.array(program.touched(self._column)[0]))).tolist()
        moved = pa.array(program.batch(self._column.take(pa.array(rows, pa.int64())), keys=True)).to_pylist()
        now = dict(zip(rows, moved, strict=True))
        first: dict[str, int] = {}
        test = RuleTest(0)
        pages: set[int] = set()
        for row, key in now.items():
            other = self._place.get(key)
            if other is None or now.get(other, key) != key:
                other = first.setdefault(key, row)
            if other == row or test.good + test.bad >= MOST_VERDICTS:
                continue
            url, cover = self.urls[row], self.urls[other]
            if not self.fetched.distinguishes(self.fetched.record(url)):
                continue
            verdict = self.fetched.compare(url, cover)
            if verdict == "same":
                pages.add(other)
                test.good += 1
                test.holds(RuleUse.between(id_, self.keys[row], key, is_pair=other in now))
            elif verdict == "different":
                test.bad += 1
                if test.bad > MOST_FAILING * MOST_VERDICTS:
                    return None
        if test.bad > MOST_FAILING * (test.good + test.bad) or not pages:
            return None
        some = islice(now.items(), MOST_VERDICTS)
        values = [RuleUse.between(id_, self.keys[row], key).value for row, key in some]
        test.needed = needed_tests(edit, values)
        test.support, test.good, test.bad = len(pages), 0, 0
        return test
