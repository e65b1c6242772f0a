"""What rules do to all URLs of the site: support and false positives, for many rules at once.

Rules that differ in their constants only share a skeleton: the same keys, the same wildcards, the same
references. For a skeleton the sources and targets are rows of one shape each, and a rule's image of a row
is a sum of hashes: one part of the row, one of the rule. So the pairs (u, v) with v = r(u) of a whole
skeleton are one join, and nothing is ever applied to a single URL.

As defined in the paper (definitions 4 and 5) with the readings of A18 and A24: where r(u) has a wildcard,
v matches it; a URL and itself are not a pair; and a pair is false if u and v are of different clusters and
the content of both is known. Where it is not known, a pair of different clusters is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from undust.proposing.papers.rewrite.maps import counted, distinct, hashes_of, spans, sums
from undust.proposing.papers.rewrite.pairs import FIRST_REFERENCE, KEY_ABSENT, STAR, source_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.proposing.papers.rewrite.maps import Bools, Codes, Hashes, Ints, Maps
    from undust.proposing.papers.rewrite.pairs import Rules

_AT_ONCE = 1 << 21
_LITERAL, _CONSTANT, _VALUE = 0, 0, -8


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Of each rule: pairs of one page, pairs of different pages, URLs in the context, distinct pages."""

    same: Ints
    different: Ints
    matching: Ints
    pages: Ints

    def take(self, rules: Ints) -> PairCounts:
        """Return what was measured of some of the rules."""
        return PairCounts(self.same[rules], self.different[rules], self.matching[rules], self.pages[rules])

    @property
    def pairs(self) -> Ints:
        """The support as defined, false pairs included."""
        return self.same + self.different

    @cached_property
    def fpr(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The share of false pairs; of no pairs, 0."""
        return self.different / np.maximum(self.pairs, 1)


class Sites:
    """The rows of a site by their shape: which keys they have."""

    def __init__(self, maps: Maps) -> None:
        self.maps = maps
        self._hashed: dict[tuple[bytes, int], Hashes] = {}
        self.kinds: dict[int, Bools] = {}
        shapes = sums(hashes_of(maps.keys, 0, 0), maps.offsets)
        self._order = np.argsort(shapes, kind="stable")
        found, first = np.unique(shapes[self._order], return_index=True)
        last = np.append(first[1:], len(shapes))[: len(first)]
        spans_of = zip(first.tolist(), last.tolist(), strict=True)
        self._of: dict[int, tuple[int, int]] = dict(zip(found.tolist(), spans_of, strict=True))

    def rows(self, keys: Codes) -> Ints:
        """Return the rows that have exactly these keys."""
        shape = int(hashes_of(keys, 0, 0).sum(dtype=np.uint64))
        start, end = self._of.get(shape, (0, 0))
        return self._order[start:end]

    def hashed(self, keys: Codes, place: int) -> Hashes:
        """Return a number for the value of each row of a shape at the `place`-th of its keys.

        The last ones are kept, for rules of one shape follow each other.
        """
        name = (keys.tobytes(), place)
        if name not in self._hashed:
            if sum(map(len, self._hashed.values())) > _AT_ONCE:
                self._hashed.clear()
            self._hashed[name] = hashes_of(keys[place], self.column(self.rows(keys), place), _VALUE)
        return self._hashed[name]

    def column(self, rows: Ints, place: int) -> Codes:
        """Return the value of rows of one shape at the `place`-th of their keys."""
        return self.maps.values[self.maps.offsets[rows] + place]

    def covers(self, kind: int, values: Codes) -> Bools:
        """Return which values a wildcard covers."""
        if kind not in self.kinds:
            self.kinds[kind] = self.maps.is_of(kind)
        return self.kinds[kind][values]


def measure(site: Sites, rules: Rules) -> PairCounts:
    """Return the support and the false positives of each rule on the whole site."""
    counts = np.zeros((4, len(rules)), np.int64)
    for members in _skeletons(rules):
        counts[:, members] = _Skeleton(site, rules, members).counts()
    return PairCounts(*counts)


def matching(site: Sites, rules: Rules) -> Ints:
    """Return how many URLs have the context of each rule."""
    count = np.zeros(len(rules), np.int64)
    for members in _skeletons(rules):
        skeleton = _Skeleton(site, rules, members)
        count[members] = skeleton.last - skeleton.first
    return count


def in_context(site: Sites, rules: Rules, owners: Ints, rows: Ints) -> Bools:
    """Return whether each row has the context of the rule at the same place."""
    fits = np.zeros(len(rows), np.bool_)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(len(rules) + 1))
    number = np.full(len(site.maps), -1, np.int64)
    for members in _skeletons(rules):
        skeleton = _Skeleton(site, rules, members)
        lengths = starts[members + 1] - starts[members]
        at = order[spans(starts[members], lengths)]
        number[skeleton.rows] = np.arange(len(skeleton.rows))
        place = number[rows[at]]
        first, last = (np.repeat(each, lengths) for each in (skeleton.first, skeleton.last))
        fits[at] = (place >= first) & (place < last)
        number[skeleton.rows] = -1
    return fits


def _skeletons(rules: Rules) -> Iterator[Ints]:
    if not len(rules):
        return
    context = np.where(rules.context >= 0, _LITERAL, rules.context)
    action = np.where(rules.action >= 0, _CONSTANT, rules.action)
    kind = sums(hashes_of(rules.keys, context, action), rules.offsets)
    shape = sums(hashes_of(rules.keys, rules.context == KEY_ABSENT, 0), rules.offsets)
    order = np.lexsort((kind, shape))
    starts = np.flatnonzero(np.diff(kind[order], prepend=~kind[order[:1]]))
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        yield order[start:end]


class _Skeleton:
    """Rules of one skeleton, and the rows that have the context of each: `first` to `last` in `rows`."""

    def __init__(self, site: Sites, rules: Rules, members: Ints) -> None:
        self.site, self.members = site, members
        width = int(rules.offsets[members[0] + 1] - rules.offsets[members[0]])
        entries = rules.offsets[members][:, None] + np.arange(width)
        self.keys = rules.keys[entries[0]]
        self.context, self.action = rules.context[entries], rules.action[entries]
        self._find_sources()

    def _find_sources(self) -> None:
        here = np.flatnonzero(self.context[0] != KEY_ABSENT)
        self.source_keys = self.keys[here]
        rows = self.site.rows(self.source_keys)
        of_row = np.zeros(len(rows), np.uint64)
        of_rule = np.zeros(len(self.members), np.uint64)
        fits = np.ones(len(rows), np.bool_)
        for place, at in enumerate(here):
            if self.context[0, at] >= 0:
                of_row += self.site.hashed(self.source_keys, place)
                of_rule += hashes_of(self.keys[at], self.context[:, at], _VALUE)
            else:
                fits &= self.site.covers(int(self.context[0, at]), self.site.column(rows, place))
        rows, of_row = rows[fits], of_row[fits]
        order = np.argsort(of_row, kind="stable")
        self.rows, of_row = rows[order], of_row[order]
        self.first = np.searchsorted(of_row, of_rule, "left")
        self.last = np.searchsorted(of_row, of_rule, "right")

    def counts(self) -> Ints:
        """Return pairs of one page, of different pages, matching URLs and pages, of each rule."""
        lengths = self.last - self.first
        found = np.zeros((4, len(self.members)), np.int64)
        found[2] = lengths
        targets, image_of_row, image_of_rule, own = self._images()
        ends = np.cumsum(lengths)
        start = 0
        while start < len(lengths):
            # Not all matches at once: a rule may match a million URLs.
            reach = ends[start - 1] if start else 0
            end = max(start + 1, int(np.searchsorted(ends, reach + _AT_ONCE, "right")))
            some = slice(start, end)
            rule = np.repeat(np.arange(start, end), lengths[some])
            at = spans(self.first[some], lengths[some])
            image = image_of_row[at] + image_of_rule[rule]
            same, different = targets.met(image, self.rows[at], is_own=own[at] == image)
            found[0] += np.bincount(rule, weights=same, minlength=len(lengths)).astype(np.int64)
            found[1] += np.bincount(rule, weights=different, minlength=len(lengths)).astype(np.int64)
            found[3] += self._pages(rule, at, same, len(lengths))
            start = end
        return found

    def _pages(self, rule: Ints, at: Ints, same: Ints, count: int) -> Ints:
        clusters = self.site.maps.clusters
        met = same > 0
        both = distinct(rule[met] * (int(clusters.max(initial=0)) + 1) + clusters[self.rows[at[met]]])
        return np.bincount(both // (int(clusters.max(initial=0)) + 1), minlength=count)

    def _images(self) -> tuple[_Targets, Hashes, Hashes, Hashes]:
        there = np.flatnonzero(self.action[0] != KEY_ABSENT)
        target_keys = self.keys[there]
        rows = self.site.rows(target_keys)
        of_target = np.ones(len(rows), np.uint64)
        of_row = np.ones(len(self.rows), np.uint64)
        of_rule = np.zeros(len(self.members), np.uint64)
        fits = np.ones(len(rows), np.bool_)
        for place, at in enumerate(there):
            key, action = self.keys[at], int(self.action[0, at])
            if action == STAR:
                fits &= self.site.covers(STAR, self.site.column(rows, place))
                continue
            of_target += self.site.hashed(target_keys, place)
            if action <= FIRST_REFERENCE:
                source = int(np.searchsorted(self.source_keys, source_key(action)))
                of_row += hashes_of(key, self.site.column(self.rows, source), _VALUE)
            else:
                of_rule += hashes_of(key, self.action[:, at], _VALUE)
        own = np.zeros(len(self.rows), np.uint64)
        if np.array_equal(target_keys, self.source_keys):
            # Sources are targets too: each is met by itself if it is its own image.
            of_any = np.zeros(len(self.site.maps), np.uint64)
            of_any[rows[fits]] = of_target[fits]
            own = of_any[self.rows]
        return _Targets(self.site.maps, rows[fits], of_target[fits]), of_row, of_rule, own


class _Targets:
    """Rows by what rules have to make of others to meet them; all of them and those that are known."""

    def __init__(self, maps: Maps, rows: Ints, image: Hashes) -> None:
        self.maps = maps
        self.same, self.same_counts = counted(_with(image, maps.clusters[rows]))
        known = maps.known[rows]
        self.known, self.known_counts = counted(image[known])
        self.known_same, self.known_same_counts = self.same, self.same_counts
        if not known.all():
            pages = _with(image[known], maps.clusters[rows[known]])
            self.known_same, self.known_same_counts = counted(pages)

    def met(self, image: Hashes, rows: Ints, *, is_own: Bools) -> tuple[Ints, Ints]:
        """Return with how many rows of the same page, and of others, each source would be one."""
        page = _with(image, self.maps.clusters[rows])
        same = _looked_up(self.same, self.same_counts, page)
        known = _looked_up(self.known, self.known_counts, image)
        known_same = (
            same
            if self.known_same is self.same
            else _looked_up(self.known_same, self.known_same_counts, page)
        )
        return same - is_own, np.where(self.maps.known[rows], known - known_same, 0)


def _with(image: Hashes, clusters: Ints) -> Hashes:
    return (image ^ np.uint64(0x9E3779B97F4A7C15)) + hashes_of(clusters, 1, 1) * np.uint64(3)


def _looked_up(found: Hashes, counts: Ints, wanted: Hashes) -> Ints:
    if not len(found):
        return np.zeros(len(wanted), np.int64)
    at = np.minimum(np.searchsorted(found, wanted), len(found) - 1)
    return np.where(found[at] == wanted, counts[at], 0)
