"""Tests within a crawl: fetched duplicates that agree with the page by a rule or a canonical URL, or do not.

A rule is tested by the first URLs that it would skip, and again where something is new: what it removes,
or the place of the site, until it has held for several of them. Later the chance of a test is proportional
to the upper bound of the rule's error rate, on the whole and in the place of the URL. The choice depends
on the seed and the URL alone, so that it is the same in every run.

The canonical URL that a page names is believed in the places of a site where it proved right: some of the
URLs that pages name are fetched and compared with those pages. Where one shows another page, no statement of
that place counts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from zlib import crc32

from undust.crawling.places import MOST_TRAP_PLACES, RuleUse, changed, in_pairs, place_of, setting_of
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from undust.crawling.places import Step

    Question = tuple[str, str, str]
    """The id of a rule, the URL that is known, and a text that the rule leaves out."""


EXPLORE = 0.1
"""The chance that a URL is fetched to test a rule, for an upper bound of 1."""
MOST_FAILING = 0.04
"""The share of tests of a rule that may fail; its support when it was learned counts as tests that passed."""
FIRST_TESTS = 3
"""A rule with less support is tested by each URL that it would skip, until it passed this many tests."""
MOST_UNCLEAR, UNCLEAR_SHARE = 4, 0.5
"""A rule is given up after this many tests that neither prove nor refute it, if it is not proven, or if they
are such a share of those that prove it."""
MOST_BLIND = 40
"""A rule that is not proven is given up after this many tests in which nothing could be compared; more than
there are before sketches are known."""
SUSPECTED, SUSPECTED_TESTS, SUSPECTED_FAILURES = 0.5, 12, 3
"""After a failure a rule is tested with this chance for this many tests; such a number of failures is too
many, however long it was right before: sites change."""
ENOUGH_VALUES, ENOUGH_PLACES, ENOUGH_SETTINGS = 5, 5, 8
"""Where a rule has held for this many different texts that it leaves out, or places, or settings, others are
like them. A setting is the names of the other parameters, and whether two URLs with different texts are one,
or one with and one without. Places alone say little: in each of five folders `id2` may mean nothing beside
`id`, and name the page where it is alone; if each `id` has one, it was not seen whether the text matters."""
VISIT_PAGES, FEW_PAGES, CHOICE_PAGES, NUMBER_PAGES = 4, 5, 12, 25
"""Pages for which a guess must hold: one that leaves out what names a visit, others, one that leaves out a
choice, and one that leaves out small numbers."""
MOST_OF_A_PAGE = 2
"""Fetches for one question, which is what a rule does to duplicates of one page; one that passes is enough.
A text that the rule has not held for is a question of its own, unless it looks random."""
MOST_QUESTIONS = 20_000
"""Such tests of one site that are remembered."""
LEAST_VALUES, MOSTLY = 3, 0.6
_RANDOM = re.compile(r"=(?=[^&]*\d)[A-Za-z0-9_-]{4,}$")
"""A parameter names a visit if it has this many values, such a share of all are different, and such a share
of them looks like this."""
_SPREADING, _MOST = 0x9E3779B97F4A7C15, 2**32 - 1


def name_visits(different: Collection[str], seen: int) -> bool:
    """Return whether different texts name visits: most of those that were seen, and random.

    >>> name_visits({"v=4f1e", "v=92aa", "v=0b1c"}, 3), name_visits({"sort=up", "sort=down"}, 9)
    (True, False)
    """
    are_random = sum(_RANDOM.search(value) is not None for value in different) >= MOSTLY * len(different)
    return are_random and len(different) >= max(LEAST_VALUES, MOSTLY * seen)


@dataclass(slots=True)
class RuleTest:
    """The tests of one rule."""

    support: int
    """Pages that supported it when it was learned."""
    good: int = 0
    bad: int = 0
    recent: int = 0
    """One bit for each of the latest tests, set where it failed."""
    unclear: int = 0
    """Tests in which the texts differed, by an unknown amount."""
    blind: int = 0
    """Tests in which nothing could be compared."""
    proofs: tuple[str, ...] = ()
    """The first URLs that a duplicate was found to agree with: tests count by pages, not by duplicates."""

    needed: int = FIRST_TESTS
    """Pages for which it must have held before it is relied on."""
    values: frozenset[str] = frozenset()
    """Some of the texts that it leaves out, and for which it held."""
    places: frozenset[str] = frozenset()
    """Some of the places of the site where it held."""
    settings: frozenset[str] = frozenset()
    """Some of the settings in which it held."""

    @property
    def is_proven(self) -> bool:
        """Whether it held for enough pages to be relied on."""
        return self.support + len(self.proofs) >= self.needed

    @property
    def is_confirmed(self) -> bool:
        """Whether it held for as many pages that were fetched after it was learned."""
        return len(self.proofs) >= self.needed

    def holds(self, use: RuleUse) -> None:
        """Note that it was right for a URL."""
        if len(self.values) < ENOUGH_VALUES:
            self.values |= {use.value}
            # One pair does not show whether a text is another one every time.
            if self.needed == CHOICE_PAGES and name_visits(self.values, self.good + 1):
                self.needed = VISIT_PAGES
        if len(self.places) < ENOUGH_PLACES:
            self.places |= {use.place}
        if len(self.settings) < ENOUGH_SETTINGS:
            self.settings |= {use.setting}

    def is_new(self, before: str, after: str, *, is_pair: bool = False) -> bool:
        """Return whether it has not held often enough, or for nothing like this change of a URL yet."""
        if len(self.settings) < ENOUGH_SETTINGS or len(self.places) < ENOUGH_PLACES:
            place = place_of(after)
            if len(self.places) < ENOUGH_PLACES and place not in self.places:
                return True
            if (
                len(self.settings) < ENOUGH_SETTINGS
                and setting_of(place, is_pair=is_pair) not in self.settings
            ):
                return True
        if len(self.values) < ENOUGH_VALUES and changed(before, after) not in self.values:
            return True
        return not self.is_proven

    def note(self, cover: str, use: RuleUse | None = None, *, is_good: bool) -> None:
        """Count a test against the URL that is known."""
        if is_good and cover not in self.proofs and len(self.proofs) < self.needed:
            self.proofs += (cover,)
        if is_good and use is not None:
            self.holds(use)
        self.good += is_good
        self.bad += not is_good
        self.recent = (self.recent << 1 | (not is_good)) & ((1 << SUSPECTED_TESTS) - 1)

    @property
    def fails(self) -> bool:
        """Whether it must not be used any longer."""
        known = self.support + self.good
        if self.blind >= MOST_BLIND and not self.is_proven:
            return True
        if self.unclear >= MOST_UNCLEAR and (not self.is_proven or self.unclear > UNCLEAR_SHARE * known):
            return True
        is_wrong = self.bad > MOST_FAILING * (self.support + self.good + self.bad)
        return is_wrong or self.recent.bit_count() >= SUSPECTED_FAILURES

    def usual_chance(self, explore: float) -> float:
        """Return the same where nothing is new."""
        bound = upper_bound(self.bad, self.support + self.good + self.bad)
        return max(explore * bound, SUSPECTED if self.recent else 0.0)

    @property
    def is_settled(self) -> bool:
        """Whether nothing can be new to it."""
        is_wide = len(self.places) >= ENOUGH_PLACES and len(self.settings) >= ENOUGH_SETTINGS
        return is_wide and len(self.values) >= ENOUGH_VALUES and self.is_proven


@dataclass
class RuleTests:
    """The tests of the rules of one site."""

    seed: int
    explore: float = EXPLORE
    of: dict[str, RuleTest] = field(default_factory=dict)
    """By the id of the rule."""
    needed: dict[str, int] = field(default_factory=dict)
    """Ids of guesses, with the pages for which each must hold."""

    ceiling: float = 0.0
    """The largest chance of any rule where nothing is new."""
    _usual: dict[str, float] = field(default_factory=dict)
    _asked: Counter[Question] = field(default_factory=Counter)
    """How often each question was asked; one that was answered has no fetch left."""
    _passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each rule was right in each place."""
    unsettled: set[str] = field(default_factory=set)
    """Ids of rules to which something may be new."""

    def begin(self, supports: Iterable[tuple[str, int]]) -> None:
        """Keep the tests of the rules that are used from now on, and start those of new ones."""
        known, self.of = self.of, {}
        for id_, support in supports:
            test = known.get(id_)
            needed = self.needed.get(id_, FIRST_TESTS)
            self.of[id_] = replace(test, support=support) if test else RuleTest(support, needed=needed)
        self._usual, self.unsettled = {}, set()
        self._asked = Counter({key: count for key, count in self._asked.items() if key[0] in self.of})
        self._passed = Counter({key: count for key, count in self._passed.items() if key[0] in self.of})
        self._find_chances(self.of)

    def _find_chances(self, ids: Iterable[str]) -> None:
        """Find out anew what tests of some rules cost."""
        for id_ in ids:
            test = self.of[id_]
            self._usual[id_] = test.usual_chance(self.explore) if self.explore else 0.0
            (self.unsettled.discard if test.is_settled else self.unsettled.add)(id_)
        self.ceiling = max(self._usual.values(), default=0.0)

    def may_ask(self, url: str, cover: str, steps: Collection[Step]) -> bool:
        """Return whether a URL may be fetched to test rules: a quick answer for most.

        Args:
            url: The URL.
            cover: The URL that is known.
            steps: All that rules do to both, what they have in common included.

        """
        if self.lot(url) < self.ceiling:
            return True
        lot = self.lot(cover)
        # No place of a rule takes more pages than this share.
        is_drawn = lot < self.explore
        unsettled, of, pairs = self.unsettled, self.of, in_pairs(steps)
        for id_, before, after in steps:
            if id_ in unsettled and of[id_].is_new(before, after, is_pair=id_ in pairs):
                return True
            if is_drawn and self._is_tested_in(id_, after, lot):
                return True
        return False

    def lot(self, url: str) -> float:
        """Return a number from 0 to 1 that depends on the seed and the URL alone."""
        # The product spreads what a checksum leaves in order.
        number = crc32(url.encode("utf-8", "surrogatepass"), self.seed & _MOST) * _SPREADING
        return (number >> 32 & _MOST) / _MOST

    def chance(self, steps: Collection[Step], questions: Mapping[str, Question], cover: str) -> float:
        """Return the chance that a URL is fetched to test what rules do to it and to the URL that is known.

        Args:
            steps: What rules do to both until they are one; those of the URL first.
            questions: What each of them asks.
            cover: The URL that is known.

        """
        most, seen, lot, pairs = 0.0, set(), self.lot(cover), in_pairs(steps)
        for id_, before, after in steps:
            if id_ in seen:
                continue
            seen.add(id_)
            test = self.of[id_]
            if self._asked.get(questions[id_], 0) >= MOST_OF_A_PAGE:
                if test.recent:
                    most = max(most, SUSPECTED)
                continue
            if id_ in self.unsettled and test.is_new(before, after, is_pair=id_ in pairs):
                return 1.0
            if self._is_tested_in(id_, after, lot):
                return 1.0
            most = max(most, self._usual[id_])
        return most

    def _is_tested_in(self, id_: str, after: str, lot: float) -> bool:
        """Return whether duplicates of a page test a rule because of the place: it may fail only here.

        The page is drawn, not the URL: an endless site has as many URLs of a page as one looks at.
        """
        passed = self._passed.get((id_, place_of(after)), 0)
        is_counted = passed or len(self._passed) < MOST_QUESTIONS
        return bool(is_counted) and lot < self.explore * upper_bound(0, passed) ** 2

    def questions(self, steps: Iterable[Step], cover: str) -> dict[str, Question]:
        """Return what the first step of each rule asks."""
        found: dict[str, Question] = {}
        for id_, before, after in steps:
            if id_ not in found and id_ in self.of:
                found[id_] = self._question(id_, cover, before, after)
        return found

    def _question(self, id_: str, cover: str, before: str, after: str) -> Question:
        """Return what a test would answer: for one page, and for one text while that may matter.

        A text that looks random may be another one at every visit; all of them ask the same. So do texts
        that a proven rule has held for.
        """
        test = self.of[id_]
        if test.needed == VISIT_PAGES or (test.is_proven and len(test.values) >= ENOUGH_VALUES):
            return id_, cover, ""
        text = changed(before, after)
        is_known = _RANDOM.search(text) or (test.is_proven and text in test.values)
        return id_, cover, "" if is_known else text

    def note_asked(self, questions: Mapping[str, Question], *, is_answered: bool = False) -> None:
        """Note that a duplicate is fetched to test rules, or that it showed the same page.

        An endless site asks the same again and again, and a dead page never answers.
        """
        for question in questions.values():
            if len(self._asked) < MOST_QUESTIONS:
                self._asked[question] += MOST_OF_A_PAGE if is_answered else 1

    def note_unclear(self, uses: Iterable[RuleUse], *, is_blind: bool) -> list[str]:
        """Count a test without a result; return the rules that are given up."""
        known = [use.id for use in uses if use.id in self.of]
        for id_ in known:
            self.of[id_].blind += is_blind
            self.of[id_].unclear += not is_blind
        return [id_ for id_ in known if self.of[id_].fails]

    def note(self, uses: Iterable[RuleUse], cover: str, *, is_good: bool) -> list[str]:
        """Count a test of some rules against the URL that is known; return those that fail by it."""
        known = [use for use in uses if use.id in self.of]
        if not is_good and known:
            # The rule with the fewest tests is the most likely to be wrong; if it was not, others follow.
            known = [min(known, key=lambda use: (self.of[use.id].support + self.of[use.id].good, use.id))]
        for use in known:
            self.of[use.id].note(cover, use, is_good=is_good)
            if is_good and len(self._passed) < MOST_QUESTIONS:
                self._passed[use.id, use.place] += 1
        self._find_chances(use.id for use in known)
        return [use.id for use in known if not is_good and self.of[use.id].fails]


@dataclass
class Canonicals:
    """The canonical URLs that the pages of one site name."""

    named: dict[str, str] = field(default_factory=dict)
    """URLs that were fetched, with what each names, where that is another URL."""
    form: Callable[[str], str] = str
    """Returns what the rules of the moment make of a URL."""
    _by_key: dict[str, str] = field(default_factory=dict)
    """The keys of what is named, each with the URL that names it."""
    _tests: dict[str, RuleTest] = field(default_factory=dict)
    """How the statements of each place did; a list that is sorted names the list that is not, and for short
    ones that is right, so they take as many pages as a choice."""

    def add(self, url: str, target: str, key: Callable[[str], str]) -> None:
        """Take what a page says."""
        self.named[url] = target
        self._by_key.setdefault(key(target), url)

    def rekey(self, keys: Callable[[list[str]], list[str]]) -> None:
        """Use the keys of other rules."""
        self._by_key = {}
        for key, url in zip(keys(list(self.named.values())), self.named, strict=True):
            self._by_key.setdefault(key, url)

    def _tests_of(self, url: str) -> list[RuleTest]:
        """Return the tests of the places of a URL: its own, and the one where it is without what rules drop.

        A page names the same under each session id and campaign: these do not make other places.
        """
        found = (self._tests.get(place) for place in self._places(url))
        return [test for test in found if test is not None]

    def _places(self, url: str) -> dict[str, None]:
        return dict.fromkeys((place_of(url), place_of(self.form(url))))

    def page_for(self, key: str) -> str | None:
        """Return the URL under which the page of a key was fetched, if what it says is believed."""
        url = self._by_key.get(key)
        return None if url is None or any(test.fails for test in self._tests_of(url)) else url

    def covers(self, key: str) -> bool:
        """Return whether the page of a key was fetched, by a statement of a kind that proved right."""
        url = self.page_for(key)
        return url is not None and any(test.is_proven for test in self._tests_of(url))

    def chance(self, url: str, explore: float) -> float:
        """Return the chance that what a URL names is fetched to test its statement."""
        proven = [test.usual_chance(explore) for test in self._tests_of(url) if test.is_proven]
        return min(proven, default=1.0)

    def note(self, url: str, *, is_good: bool) -> bool:
        """Count a test of what a URL names; return whether statements of its place have failed by it."""
        has_failed = False
        for place in self._places(url):
            test = self._tests.get(place)
            if test is None:
                if len(self._tests) >= MOST_TRAP_PLACES:
                    continue
                test = self._tests[place] = RuleTest(0, needed=CHOICE_PAGES)
            had_failed = test.fails
            test.note(url, is_good=is_good)
            has_failed |= test.fails and not had_failed
        return has_failed
