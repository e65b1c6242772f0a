"""Pages that name their canonical URL: a page that was fetched under another URL need not be fetched again.

Such a statement is believed in the places of a site where it proved right: some of the URLs that pages name
are fetched and compared with those pages. Where one shows another page, no statement of that place counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undust.crawling.rule_tests import RuleTest
from undust.crawling.traps import MOST_TRAP_PLACES, place_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Canonicals:
    """The canonical URLs that the pages of one site name."""

    named: dict[str, str] = field(default_factory=dict)
    """URLs that were fetched, with what each names, where that is another URL."""
    _by_key: dict[str, str] = field(default_factory=dict)
    """The keys of what is named, each with the URL that names it."""
    _tests: dict[str, RuleTest] = field(default_factory=dict)
    """How the statements of each place did."""

    def add(self, url: str, target: str, key: Callable[[str], str]) -> None:
        """Take what a page says."""
        self.named[url] = target
        self._by_key.setdefault(key(target), url)

    def rekey(self, keys: Callable[[list[str]], list[str]]) -> None:
        """Use the keys of other rules."""
        self._by_key = {}
        for key, url in zip(keys(list(self.named.values())), self.named, strict=True):
            self._by_key.setdefault(key, url)

    def page_for(self, key: str) -> str | None:
        """Return the URL under which the page of a key was fetched, if what it says is believed."""
        url = self._by_key.get(key)
        if url is None:
            return None
        test = self._tests.get(place_of(url))
        return None if test is not None and test.fails else url

    def covers(self, key: str) -> bool:
        """Return whether the page of a key was fetched, by a statement of a kind that proved right."""
        url = self.page_for(key)
        test = self._tests.get(place_of(url)) if url is not None else None
        return test is not None and test.is_proven

    def chance(self, url: str, explore: float) -> float:
        """Return the chance that what a URL names is fetched to test its statement."""
        test = self._tests.get(place_of(url))
        if test is None or not test.is_proven:
            return 1.0
        return test.usual_chance(explore)

    def note(self, url: str, *, is_good: bool) -> bool:
        """Count a test of what a URL names; return whether statements of its place have failed by it."""
        place = place_of(url)
        test = self._tests.get(place)
        if test is None:
            if len(self._tests) >= MOST_TRAP_PLACES:
                return False
            test = self._tests[place] = RuleTest(0)
        had_failed = test.fails
        test.note(url, is_good=is_good)
        return test.fails and not had_failed
