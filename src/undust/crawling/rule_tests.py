"""How each rule does in this crawl: fetched duplicates that agree with the page, and those that do not.

A young rule is tested often and an old one hardly ever: the chance that a URL which would be skipped is
fetched all the same is proportional to the upper bound of the rule's error rate. The choice depends on
the seed and the URL alone, so that it is the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from undust.crawling.traps import place_of
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

EXPLORE = 0.1
"""The chance that a URL is fetched to test a rule, for an upper bound of 1."""
MOST_FAILING = 0.04
"""The share of tests of a rule that may fail; its support when it was learned counts as tests that passed."""
FIRST_TESTS = 3
"""A rule with less support is tested by each URL that it would skip, until it passed this many tests."""
MOST_UNCLEAR = 4
"""A rule that is not proven is given up after this many tests that neither prove nor refute it."""
SUSPECTED, SUSPECTED_TESTS, SUSPECTED_FAILURES = 0.5, 12, 3
"""After a failure a rule is tested with this chance for this many tests; such a number of failures is too
many, however long it was right before: sites change."""
RANGE = 2**64


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
    proofs: tuple[str, ...] = ()
    """The first URLs that a duplicate was found to agree with: tests count by pages, not by duplicates."""

    places: frozenset[str] | None = None
    """Of a guess: the places of the site where it held; it is tested again in every other one."""

    @property
    def is_proven(self) -> bool:
        """Whether it held for enough pages to be relied on."""
        return self.support + len(self.proofs) >= FIRST_TESTS

    def note(self, cover: str, *, is_good: bool) -> None:
        """Count a test against the URL that is known."""
        if is_good and cover not in self.proofs and len(self.proofs) < FIRST_TESTS:
            self.proofs += (cover,)
        if is_good and self.places is not None:
            self.places |= {place_of(cover)}
        self.good += is_good
        self.bad += not is_good
        self.recent = (self.recent << 1 | (not is_good)) & ((1 << SUSPECTED_TESTS) - 1)

    @property
    def fails(self) -> bool:
        """Whether it must not be used any longer."""
        if not self.is_proven and self.unclear >= MOST_UNCLEAR:
            return True
        is_wrong = self.bad > MOST_FAILING * (self.support + self.good + self.bad)
        return is_wrong or self.recent.bit_count() >= SUSPECTED_FAILURES

    def chance(self, explore: float, cover: str | None) -> float:
        """Return the chance that a URL is fetched to test it, against the URL that is known."""
        if not explore:
            return 0.0
        if not self.is_proven and cover not in self.proofs:
            return 1.0
        if self.places is not None and (cover is None or place_of(cover) not in self.places):
            return 1.0
        bound = upper_bound(self.bad, self.good + self.bad)
        return max(explore * bound, SUSPECTED if self.recent else 0.0)


@dataclass
class RuleTests:
    """The tests of the rules of one site."""

    seed: int
    explore: float = EXPLORE
    of: dict[str, RuleTest] = field(default_factory=dict)
    """By the id of the rule."""

    ceiling: float = 0.0
    """The largest chance of any rule."""

    def begin(self, supports: Iterable[tuple[str, int]]) -> None:
        """Keep the tests of the rules that are used from now on, and start those of new ones."""
        known, self.of = self.of, {}
        for id_, support in supports:
            test = known.get(id_)
            self.of[id_] = replace(test, support=support) if test else RuleTest(support)
        self.ceiling = self.chance(self.of)

    def lot(self, url: str) -> float:
        """Return a number from 0 to 1 that depends on the seed and the URL alone."""
        text = b"%d %s" % (self.seed, url.encode("utf-8", "surrogatepass"))
        return int.from_bytes(blake2b(text, digest_size=8).digest()) / RANGE

    def chance(self, ids: Iterable[str], cover: str | None = None) -> float:
        """Return the chance that a URL is fetched to test the rules that make it a duplicate of another."""
        tests = (self.of[id_] for id_ in ids if id_ in self.of)
        return max((test.chance(self.explore, cover) for test in tests), default=0.0)

    def note_unclear(self, ids: Iterable[str]) -> list[str]:
        """Count a test without a result; return the rules that are given up."""
        known = [id_ for id_ in ids if id_ in self.of and not self.of[id_].is_proven]
        for id_ in known:
            self.of[id_].unclear += 1
        return [id_ for id_ in known if self.of[id_].fails]

    def note(self, ids: Iterable[str], cover: str, *, is_good: bool) -> list[str]:
        """Count a test of some rules against the URL that is known; return those that fail by it."""
        known = [id_ for id_ in ids if id_ in self.of]
        if not is_good and known:
            # The rule with the fewest tests is the most likely to be wrong; if it was not, others follow.
            known = [min(known, key=lambda id_: (self.of[id_].support + self.of[id_].good, id_))]
        for id_ in known:
            self.of[id_].note(cover, is_good=is_good)
        self.ceiling = self.chance(self.of)
        return [id_ for id_ in known if not is_good and self.of[id_].fails]
