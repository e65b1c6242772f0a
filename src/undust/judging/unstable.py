"""Pages that change between fetches: which ones, and how many more than can be seen.

Where one fetch is all that is known of a URL, a page that changes looks like two pages, and the rule that
brings its URLs together looks wrong. Of a page with three URLs or more that are brought together by different
rules it can be seen: all of them differ, and no single rule is the reason. Of a page with two URLs one rule
always can be. How many of those change is known from the others, as far as pages with two URLs are like them:

* Lists have many URLs, and change more often than articles. So pages with three URLs are looked at apart
  from all with three and more.
* No rule fails less often than pages change. So the rules that fail least on pages with two URLs, those of a
  third of these pages, show how often these change at most. What others fail more often is stated as lost.
* The lowest of these three rates is too low by chance. Unless it is surely lower than that of all pages that
  show whether they change, that one is taken. Pages with two URLs, where rules may be wrong, are not in it.
* In parts of a site where many of the merged URLs differ, rules may be wrong there and nowhere else. Nothing
  is taken from these, and nothing is excused there.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from undust.rules import program_of
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from undust._core import Program
    from undust.judging.site import PairEvidence
    from undust.judging.state import KeyState

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

_RIGHT, _FAILING = 10, 0.2
"""A rule holds that merges one page's URLs under at least this many keys, others under at most this share."""
_LOOKED_AT, _COMPARED = 24, 6
"""URLs of one key that are compared with each other: where a page is lost, and where pages are counted."""
SEEN, SEEN_CHANGING, MIXED = 30, 3, 2
"""This many pages must show whether they change, and this many do so, before any conclusion. This many times
as many may have URLs of which only some agree: two wrong rules leave far more of these."""
_TWO, _THREE = 2, 3
_SURELY_LESS = 0.95
"""So sure must it be that some pages change less often than all that show it, before their rate is taken; two
sorts of pages are tried."""
_BETTER = 1 / 3
"""The share of the pages with two URLs that the rules which fail least must be the only reason of."""
_DIFFERING = 5
"""Keys of one part of a site with different pages, from which on their share is looked at."""
_SECTION = re.compile(r"[^/]*//[^/?]*(?:/[^/?]*)?")
_NAME = re.compile(r"[?&]([^=&]*)")


@dataclass(frozen=True)
class ChangingPages:
    """How many pages of one site change between fetches, where it can be seen and where it cannot."""

    seen: int = 0
    """Pages that show whether they change …"""
    changing: int = 0
    """… and how many of these do."""
    expected: float = 0.0
    """Of the checked pages that do not show it: how many are expected to change …"""
    deviation: float = 0.0
    """… and the standard deviation of that number."""

    def __add__(self, other: ChangingPages) -> ChangingPages:
        """Return both, of which the rates are not independent."""
        return ChangingPages(
            self.seen + other.seen,
            self.changing + other.changing,
            self.expected + other.expected,
            self.deviation + other.deviation,
        )

    def as_counts(self) -> dict[str, Any]:
        """Return the numbers by the names that `CheckedPages` has for them."""
        return {
            "seen": self.seen,
            "changing": self.changing,
            "expected": round(self.expected, 6),
            "variance": round(self.deviation**2, 6),
        }


class _UrlGroup(NamedTuple):
    """URLs with one key that all say what they show."""

    key: int
    urls: int
    blamed: frozenset[int]
    """The rules that bring them together, if all of them hold; none if one does not."""
    would_show: bool
    """Whether it would be seen if the page changed."""
    same: bool
    """Whether all are one page …"""
    apart: bool
    """… or each is another."""


class MergedUrls:
    """The URLs that rules bring together, and which rules are the reason.

    Args:
        state: Where the URLs stand.
        under: The keys under which different pages lie.

    """

    def __init__(self, state: KeyState, under: Ints) -> None:
        self._state, self._under = state, np.unique(under)
        self._program = program_of(state.rules)
        rows, rules = (np.asarray(pa.array(some), np.int64) for some in self._program.used(state.site.urls))
        self._holding = _holding(state, rows, rules, self._under)
        self._order = np.argsort(state.key, kind="stable")
        self._ends = np.cumsum(state.urls_of_key)

    def unexplained(self) -> Ints:
        """Return the keys under which all URLs differ for no single rule's fault: what they show changes.

        Two rules that hold elsewhere would have to be wrong at once, on this one page.
        """
        found = [key for key in self._under.tolist() if self._is_unexplained(self._rows(key)[:_LOOKED_AT])]
        return np.array(found, np.int64)

    def changing(self, evidence: PairEvidence, checked: Bools, before: Bools) -> ChangingPages:
        """Return how many pages change, and how many of the checked ones may do so unseen.

        Args:
            evidence: What is known of pairs of URLs, also of pages that are known to change.
            checked: Of each page whether it is checked.
            before: The same of earlier trials: what seems lost in both counts once.

        """
        groups = self._in_calm_sections(list(self._groups(evidence)))
        seen = [group for group in groups if group.would_show]
        changing = sum(group.apart for group in seen)
        found = ChangingPages(len(seen), changing)
        mixed = sum(not group.apart and not group.same for group in seen)
        if mixed > MIXED * changing:
            return found
        three, better = [group for group in seen if group.urls == _THREE], _of_better_rules(groups)
        if min(map(len, (seen, three, better))) < SEEN:
            return found
        apart, count = _changing_of(seen, (three, better))
        if apart < SEEN_CHANGING:
            return found
        # The distribution of which the lower limits of Clopper and Pearson are the quantiles.
        rate = apart / (count + 1)
        deviation = (rate * (1 - rate) / (count + 2)) ** 0.5
        unseen = self._expected_to_be_checked(
            [group for group in groups if group.blamed and not group.would_show], checked, before
        )
        return ChangingPages(len(seen), changing, unseen * rate, unseen * deviation)

    def _expected_to_be_checked(self, groups: list[_UrlGroup], checked: Bools, before: Bools) -> float:
        """Return under how many more keys a checked page would be lost if the pages of all of them changed.

        Each URL of a page that changes looks like a page of its own, and is drawn by itself. One of them is
        not lost: the one that the others lie under.
        """
        keys = np.array([group.key for group in groups], np.int64)
        pages = self._state.page_of_key[keys]
        left = 1.0 - float(before[pages].mean()) if len(keys) else 1.0
        after = 1.0 - float((before | checked)[pages].mean()) if len(keys) else 1.0
        return sum(left ** (group.urls - 1) - after ** (group.urls - 1) for group in groups)

    def _rows(self, key: int) -> Ints:
        end = int(self._ends[key])
        return self._order[end - int(self._state.urls_of_key[key]) : end]

    def _fetches(self, rows: Ints) -> Ints:
        """Return those that show something of their own; a URL that redirects does not."""
        fetched = self._state.site.fetched[rows]
        own = (fetched == rows) | ~np.isin(fetched, rows)
        kept: Ints = rows[own][np.sort(np.unique(fetched[own], return_index=True)[1])]
        return kept

    def _groups(self, evidence: PairEvidence) -> Iterator[_UrlGroup]:
        for key in np.flatnonzero(self._state.urls_of_key > 1).tolist():
            rows = self._fetches(self._rows(key))[:_COMPARED]
            if len(rows) < _TWO:
                continue
            left, right = np.triu_indices(len(rows), 1)
            ratios = evidence.ratios(rows[left], rows[right])
            if (ratios == 0).any():
                continue
            differ = ratios < 0
            blamed = self._blamed(rows)
            every = frozenset[int]().union(*blamed)
            holding = every if every <= self._holding else frozenset[int]()
            yield _UrlGroup(
                key,
                len(rows),
                holding,
                bool(holding) and not set.intersection(*blamed),
                not differ.any(),
                bool(differ.all()),
            )

    def _in_calm_sections(self, groups: list[_UrlGroup]) -> list[_UrlGroup]:
        """Return those of parts of the site where few differ: elsewhere rules may be wrong."""
        texts = self._state.keys.take(pa.array([group.key for group in groups], pa.int64())).to_pylist()
        sections = [_section(text) for text in texts]
        every = Counter(sections)
        differ = Counter(section for section, group in zip(sections, groups, strict=True) if not group.same)
        calm = {
            section
            for section, count in every.items()
            if differ[section] < _DIFFERING or differ[section] <= _FAILING * count
        }
        return [group for section, group in zip(sections, groups, strict=True) if section in calm]

    def _is_unexplained(self, rows: Ints) -> bool:
        """Return whether no rule brings together each two URLs that differ, and all that do hold."""
        left, right = np.triu_indices(len(rows), 1)
        differ = self._state.site.evidence.ratios(rows[left], rows[right]) < 0
        blamed = [some for some, is_other in zip(self._blamed(rows), differ, strict=True) if is_other]
        return len(blamed) > 1 and not set.intersection(*blamed) and set.union(*blamed) <= self._holding

    def _blamed(self, rows: Ints) -> list[set[int]]:
        """Return of each two URLs, in order, the rules that bring them together."""
        texts = self._state.site.texts
        ways = [_way(self._program, texts[row]) for row in rows.tolist()]
        return [_rules_to_where_they_meet(one, other) for one, other in combinations(ways, 2)]


def _changing_of(seen: list[_UrlGroup], others: tuple[list[_UrlGroup], ...]) -> tuple[int, int]:
    """Return how many pages change, and of how many: all seen, or some that surely change less often."""
    told = [(sum(group.apart for group in some), len(some)) for some in (seen, *others)]
    (apart, count), least = told[0], min(told[1:], key=lambda each: each[0] / each[1])
    return (apart, count) if upper_bound(*least, _SURELY_LESS) >= apart / count else least


def _of_better_rules(groups: list[_UrlGroup]) -> list[_UrlGroup]:
    """Return pages with two URLs of which only those rules are the reason that fail least on such pages.

    The rules are chosen on every other page and the pages taken from between, and the other way round: those
    that failed least by chance do not count as better.
    """
    two = [group for group in groups if group.urls == _TWO and group.blamed]
    return [*_of_least_failing(two[::2], two[1::2]), *_of_least_failing(two[1::2], two[::2])]


def _of_least_failing(chosen_on: list[_UrlGroup], others: list[_UrlGroup]) -> list[_UrlGroup]:
    """Return those of other pages that the best rules are the only reason of: a share of them, or none."""
    tried: dict[int, list[bool]] = defaultdict(list)
    for group in chosen_on:
        for rule in group.blamed:
            tried[rule].append(group.apart)
    better: set[int] = set()
    for rule in sorted(tried, key=lambda rule: (sum(tried[rule]) / len(tried[rule]), rule))[:-1]:
        better.add(rule)
        found = [group for group in others if group.blamed <= better]
        if len(found) >= _BETTER * len(others):
            return found
    return []


def _section(key: str) -> str:
    """Return the part of a site that a key is of: its first folder, and the names of its parameters.

    >>> _section("http://a.test/shop/12?page=3&sort=up"), _section("http://a.test/12")
    ('http://a.test/shop page sort', 'http://a.test/12')
    """
    start = _SECTION.match(key)
    path, _, query = key.partition("?")
    names = sorted(_NAME.findall(f"?{query}")) if query else []
    return " ".join((start.group() if start else path, *names))


def _holding(state: KeyState, rows: Ints, rules: Ints, keys: Ints) -> set[int]:
    """Return the rules that merge URLs under many keys, few of them with different pages."""
    width = len(state.keys)
    merged = state.urls_of_key[state.key[rows]] > 1
    pairs = np.unique(rules[merged] * width + state.key[rows[merged]])
    tried = np.bincount(pairs // width, minlength=len(state.rules))
    failed = np.bincount(pairs[np.isin(pairs % width, keys)] // width, minlength=len(state.rules))
    return set(np.flatnonzero((tried - failed >= _RIGHT) & (failed <= _FAILING * tried)).tolist())


def _way(program: Program, url: str) -> dict[str, frozenset[int]]:
    """Return each text on the way from a URL to its key, and the rules that led there."""
    normalized, steps, _, compared, masks, _, _ = program.explain(url)
    way, used = {normalized: frozenset[int]()}, frozenset[int]()
    for rule, text in (*steps, *compared, *masks):
        used |= {rule}
        way.setdefault(text, used)
    return way


def _rules_to_where_they_meet(
    one: Mapping[str, frozenset[int]], other: Mapping[str, frozenset[int]]
) -> set[int]:
    """Return the rules on both ways up to the first text of both; those behind it did not merge the URLs."""
    met = next((text for text in one if text in other), None)
    if met is not None:
        return set(one[met] | other[met])
    return set().union(*one.values(), *other.values())
