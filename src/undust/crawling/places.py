"""Places of a site that need care: traps, where new URLs bring no new pages, and unstable pages.

A place is a host, the first segment of the path, and the names of the parameters, digits left out. It is a
trap (an endless calendar, a growing path, session ids) if many URLs were fetched there and almost none of
the latest ones showed a text that was new.

Other pages change between fetches: histories with their "two minutes ago", counters. A rule that is right
elsewhere seems to fail there, whichever it is. In such a place a page is fetched a few times before its
duplicates are skipped, and what happens there says nothing of rules.

What a rule does to a URL is a step: the URL before and after it, the text that it changes, and the place.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Steps = list[tuple[int, str]]
    Way = tuple[str, Steps, str, Steps, Steps, str, str]
    """What `Program.explain` says of a URL: its forms on the way to its key, which is the last but one."""
    Step = tuple[str, str, str]
    """The id of a rule, and a URL before and after it."""

LEAST_FETCHED = 60
"""URLs that were fetched in a place before it can be a trap."""
WINDOW = 40
"""This many of the latest fetches of a place count …"""
MOST_NEW = 1
"""… and at most this many of them showed a new page."""
MOST_TRAP_PLACES = 4_096
"""Places of one site that are counted; later ones are not."""
_DIGITS = re.compile(r"\d+")
_VALUES = re.compile(r"=[^&;]*")
_SCRIPT = re.compile(r"[A-Za-z_.]{1,16}")
"""The last segment of a path that is not the name of a page."""
LEAST_FAILED, FAILED_SHARE = 2, 0.25
"""A place is unstable if this many tests of proven rules failed there, and such a share of them, whichever
the rules."""
MOST_PLACE_TESTS = 4_096
"""Tests of one site that show which places are unstable; later ones are not counted."""
DOUBTFUL_FETCHES = 8
"""Duplicates that are fetched in a place after a first test has failed there."""
MOST_FETCHES = 3
"""Of one page of such a place beside its first: an endless site has to end even there."""
FORM_PLACE: Final = 2
KEY_PLACE: Final = 5
OUTCOME_PLACE: Final = 6
"""Places in a way: the canonical form, the key, and how it ended."""
_BETWEEN = frozenset("?&/;")
"""Between the parts of a URL that rules leave out."""
_WORDS = re.compile(r"[?&;]([A-Za-z_]{1,16}=[A-Za-z]{1,12})(?=$|[&;#])")


class Trap(NamedTuple):
    """A place with many URLs and almost no pages."""

    site: str
    place: str
    fetched: int
    """URLs that were fetched there."""
    pages: int
    """Different texts among them."""


@dataclass(slots=True)
class PlaceCounts:
    """What was found in one place."""

    fetched: int = 0
    pages: int = 0
    latest: int = 0
    """One bit for each of the latest fetches: whether its page was new."""

    @property
    def is_trap(self) -> bool:
        """Whether almost nothing new was found lately."""
        return self.fetched >= LEAST_FETCHED and self.latest.bit_count() <= MOST_NEW


@dataclass
class Traps:
    """The places of one site."""

    site: str
    skips: bool = False
    """Whether URLs in a trap are skipped."""
    places: dict[str, PlaceCounts] = field(default_factory=dict)
    pages: int = 0
    """Texts that were seen on the site."""

    def note(self, url: str, *, is_new: bool) -> None:
        """Count a page that was fetched."""
        self.pages += is_new
        name = place_of(url)
        place = self.places.get(name)
        if place is None:
            if len(self.places) >= MOST_TRAP_PLACES:
                return
            place = self.places[name] = PlaceCounts()
        place.fetched += 1
        place.pages += is_new
        place.latest = (place.latest << 1 | is_new) & ((1 << WINDOW) - 1)

    def holds(self, url: str) -> bool:
        """Return whether a URL is to be skipped because of where it is."""
        place = self.places.get(place_of(url)) if self.skips else None
        return place is not None and place.is_trap

    def found(self) -> list[Trap]:
        """Return the traps, those with most URLs first."""
        traps = [
            Trap(self.site, name, place.fetched, place.pages)
            for name, place in self.places.items()
            if place.is_trap
        ]
        return sorted(traps, key=lambda trap: (-trap.fetched, trap.place))


@lru_cache(MOST_TRAP_PLACES)
def place_of(url: str) -> str:
    """Return the place of a URL.

    >>> place_of("http://shop.test/calendar2/2031/05?month=5&year=2031")
    'shop.test/calendar0?month&year'
    >>> place_of("http://shop.test/a-red-ball")
    'shop.test/'
    """
    address, _, query = url.partition("#")[0].partition("?")
    host, _, path = address.partition("://")[2].partition("/")
    first, slash, _ = path.lstrip("/").partition("/")
    if not slash and not _SCRIPT.fullmatch(first):
        first = ""
    return _named(host, first, _VALUES.sub("", query) if query else "")


@lru_cache(MOST_TRAP_PLACES)
def _named(host: str, first: str, query: str) -> str:
    """Return the name of a place; most URLs of a site are in few."""
    names = set(query.replace(";", "&").split("&")) - {""}
    ending = f"?{'&'.join(sorted(names))}" if names else ""
    return _DIGITS.sub("0", f"{host.lower()}/{first.partition(';')[0]}{ending}")


def setting_of(place: str, *, is_pair: bool) -> str:
    """Return the names of the parameters of a place, marked where a rule changes both URLs."""
    names = place.partition("?")[2]
    return f"2 {names}" if is_pair else names


class PlaceTest(NamedTuple):
    """One test of proven rules in a place."""

    url: str
    rules: frozenset[str]
    """The rules, and the parameters that they leave out."""
    is_good: bool


class TestCounts(NamedTuple):
    """The tests of one place."""

    tests: int = 0
    failed: int = 0
    common: frozenset[str] = frozenset()
    """The rules and parameters in all that failed."""

    def with_test(self, test: PlaceTest) -> TestCounts:
        """Return the counts with one more."""
        if test.is_good:
            return self._replace(tests=self.tests + 1)
        common = self.common & test.rules if self.failed else test.rules
        return TestCounts(self.tests + 1, self.failed + 1, common)

    @property
    def mostly_pass(self) -> bool:
        """Whether there were tests, and few failed."""
        return self.tests > 0 and self.failed <= FAILED_SHARE * self.tests

    @property
    def often_fail(self) -> bool:
        """Whether more failed than chance explains."""
        return self.failed >= LEAST_FAILED and not self.mostly_pass

    @property
    def are_unstable(self) -> bool:
        """Whether enough failed for pages to change; a rule or parameter in all of them may be the reason."""
        return self.often_fail and not self.common


_NO_TESTS = TestCounts()


@dataclass
class UnstablePlaces:
    """The places of one site where proven rules fail.

    A place with its words (`action=history`) is as unstable as the place with any words, unless its own tests
    mostly pass. There are more rules in these tests, so that no single one explains them.
    """

    _tests: list[PlaceTest] = field(default_factory=list)
    _rules: dict[frozenset[str], frozenset[str]] = field(default_factory=dict)
    """Sets of rules, so that equal ones are kept once."""
    _of_kind: dict[str, TestCounts] = field(default_factory=dict)
    """By places with their words."""
    _of_place: dict[str, TestCounts] = field(default_factory=dict)
    _doubtful: dict[str, int] = field(default_factory=dict)
    """Places where a test failed, which may be chance, with the fetches that are left to find out."""
    _fetches: Counter[str] = field(default_factory=Counter)
    """Keys of duplicates that were fetched because of their place."""
    _are_any: bool = False

    def note(self, test: PlaceTest, form: str) -> bool:
        """Count a test of a URL with this form; return whether its place is unstable by it."""
        if len(self._tests) >= MOST_PLACE_TESTS:
            return False
        test = test._replace(rules=self._rules.setdefault(test.rules, test.rules))
        self._tests.append(test)
        was_unstable = self.holds(form)
        self._count(test, form)
        return self.holds(form) and not was_unstable

    def _count(self, test: PlaceTest, form: str) -> None:
        kind, place = kind_of(form), place_of(form)
        self._of_kind[kind] = self._of_kind.get(kind, _NO_TESTS).with_test(test)
        self._of_place[place] = self._of_place.get(place, _NO_TESTS).with_test(test)
        self._are_any |= self._of_kind[kind].are_unstable or self._of_place[place].are_unstable
        if not test.is_good:
            self._doubtful.setdefault(kind, DOUBTFUL_FETCHES)

    def rename(self, forms: Callable[[list[str]], list[str]]) -> None:
        """Name the places by the forms that other rules give to URLs: what was found there stays known."""
        self._of_kind, self._of_place, self._are_any = {}, {}, False
        for test, form in zip(self._tests, forms([test.url for test in self._tests]), strict=True):
            self._count(test, form)

    def doubts(self, url: str) -> bool:
        """Return whether a duplicate is to be fetched because a test failed in its place, and count it."""
        left = self._doubtful.get(kind_of(url), 0) if self._doubtful else 0
        if left and not self.holds(url):
            self._doubtful[kind_of(url)] = left - 1
            return True
        return False

    def holds(self, url: str) -> bool:
        """Return whether a URL is in such a place."""
        if not self._are_any:
            return False
        own = self._of_kind.get(kind_of(url), _NO_TESTS)
        any_words = self._of_place.get(place_of(url), _NO_TESTS)
        return own.are_unstable or (any_words.are_unstable and not own.mostly_pass)

    def is_silent(self, url: str) -> bool:
        """Return whether tests in the place of a URL say nothing of rules: they fail, and pages change."""
        return self.holds(url) and self._of_kind.get(kind_of(url), _NO_TESTS).often_fail

    def wants(self, url: str, key: str) -> bool:
        """Return whether a duplicate is to be fetched because of its place, and count it."""
        if not self.holds(url) or self._fetches[key] >= MOST_FETCHES:
            return False
        self._fetches[key] += 1
        return True


def kind_of(url: str) -> str:
    """Return the place of a URL, with those of its parameters that are words.

    >>> kind_of("http://wiki.test/page/Main?action=history&sid=4f1e")
    'wiki.test/page?action&sid action=history'
    """
    return " ".join((place_of(url), *sorted(set(_WORDS.findall(url)))))


class RuleUse(NamedTuple):
    """What a rule does to one URL on the way to its key."""

    id: str
    value: str
    """The text that it changes."""
    place: str
    """Where on the site."""
    is_pair: bool = False
    """Whether it does this to the other URL as well, with another text."""

    @classmethod
    def between(cls, id_: str, before: str, after: str, *, is_pair: bool = False) -> RuleUse:
        """Return what a rule did to a URL.

        >>> RuleUse.between("r", "http://a.test/i?sid=5&id=1", "http://a.test/i?id=1")
        RuleUse(id='r', value='sid=5', place='a.test/i?id', is_pair=False)
        """
        return cls(id_, changed(before, after), place_of(after), is_pair)

    @property
    def blamed(self) -> tuple[str, ...]:
        """What a failure may be due to: the rule, or the parameter, which other rules leave out as well."""
        name, is_parameter, _ = self.value.partition("=")
        return (self.id, name) if is_parameter else (self.id,)

    @property
    def setting(self) -> str:
        """The names of the other parameters, and whether two texts are left out or one."""
        return setting_of(self.place, is_pair=self.is_pair)


def changed(before: str, after: str) -> str:
    """Return the part of a URL that is not in what becomes of it, wherever in the query it was.

    >>> changed("a.test/i?sid=5&id=1", "a.test/i?id=1"), changed("a.test/i?id=1&sid=5", "a.test/i?id=1")
    ('sid=5', 'sid=5')
    >>> changed("a.test/i?sort=up&size=1", "a.test/i?size=1")
    'sort=up'
    """
    start, end = _changed_span(before, after)
    # `?s` is the start of both: the part may as well begin a few letters earlier.
    while (
        start and before[start - 1] not in _BETWEEN and start < end and before[start - 1] == before[end - 1]
    ):
        start, end = start - 1, end - 1
    return before[start:end].strip("&?")


def _changed_span(before: str, after: str) -> tuple[int, int]:
    """Return from where to where a text differs from what becomes of it."""
    least = min(len(before), len(after))
    if before[:least] == after[:least]:
        return least, len(before)
    low, high = 0, least - 1
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    start, last, its_last = low, len(before), len(after)
    low, high = 0, least - start
    while low < high:
        middle = (low + high + 1) // 2
        if before[last - middle : last - low] == after[its_last - middle : its_last - low]:
            low = middle
        else:
            high = middle - 1
    return start, last - low


def until_one(mine: list[Step], its: list[Step]) -> list[Step]:
    """Return the steps of two URLs with one key until they are the same.

    A rule that leaves out the same text of both has nothing to do with what they have in common.
    """
    if not (mine and its):
        return mine or its
    mine, its = mine[:], its[:]
    while mine and its and mine[-1][1] == its[-1][1]:
        del mine[-1], its[-1]
    shared = {step[0] for step in mine} & {step[0] for step in its}
    if not shared:
        return mine + its
    ours, theirs = ({(step[0], changed(*step[1:])) for step in steps} for steps in (mine, its))
    both = ours & theirs
    return [step for step in mine + its if step[0] not in shared or (step[0], changed(*step[1:])) not in both]


def all_steps(way: Way, ids: Sequence[str]) -> list[Step]:
    """Return the steps of a URL to its key, by rules with these ids."""
    before = way[0]
    found: list[Step] = []
    for steps in (way[1], way[3], way[4]):
        for rule, after in steps:
            found.append((ids[rule], before, after))
            before = after
    return found


def uses_in(steps: Iterable[Step]) -> list[RuleUse]:
    """Return what each rule does first in some steps."""
    found: dict[str, RuleUse] = {}
    for id_, before, after in steps:
        if id_ not in found:
            found[id_] = RuleUse.between(id_, before, after)
        elif not found[id_].is_pair:
            found[id_] = found[id_]._replace(is_pair=True)
    return list(found.values())


def in_pairs(steps: Iterable[Step]) -> set[str]:
    """Return the ids of the rules that change both URLs."""
    seen: set[str] = set()
    found: set[str] = set()
    for step in steps:
        (found if step[0] in seen else seen).add(step[0])
    return found
