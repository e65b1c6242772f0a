"""Kinds of pages that are another one at every fetch: histories with their "two minutes ago", counters.

A rule that is right elsewhere seems to fail there, whichever it is. In such a place a
page is fetched a few times before its duplicates are skipped, and what happens there says nothing of rules.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from undust.crawling.traps import MOST_TRAP_PLACES, place_of

LEAST_FAILED, FAILED_SHARE = 2, 0.25
"""A place is unstable if this many tests of proven rules failed there, and such a share of them."""
MOST_FETCHES = 3
"""Of one page of such a place beside its first: an endless site has to end even there."""
_WORDS = re.compile(r"[?&;]([A-Za-z_]{1,16}=[A-Za-z]{1,12})(?=$|[&;#])")


@dataclass
class UnstablePlaces:
    """The places of one site where proven rules fail."""

    _tests: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Tests in each place: how many there were, and how many failed."""
    _found: set[str] = field(default_factory=set)
    _fetches: Counter[str] = field(default_factory=Counter)
    """Keys of duplicates that were fetched because of their place."""

    def note(self, url: str, *, is_good: bool) -> bool:
        """Count a test of proven rules; return whether the place of the URL is unstable by it."""
        kind = kind_of(url)
        if kind not in self._tests and len(self._tests) >= MOST_TRAP_PLACES:
            return False
        tests, failed = self._tests.get(kind, (0, 0))
        tests, failed = tests + 1, failed + (not is_good)
        self._tests[kind] = tests, failed
        is_unstable = failed >= LEAST_FAILED and failed > FAILED_SHARE * tests
        is_new = is_unstable and kind not in self._found
        if is_unstable:
            self._found.add(kind)
        return is_new

    def holds(self, url: str) -> bool:
        """Return whether a URL is in such a place."""
        return bool(self._found) and kind_of(url) in self._found

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
