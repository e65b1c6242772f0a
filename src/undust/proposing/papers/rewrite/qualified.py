"""The rules that qualify: enough support, few enough false positives, and what makes some redundant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.judging.verdict import Candidate
from undust.proposing.papers.rewrite.maps import ALPHA, ANY, HEX, INT, offsets_of
from undust.proposing.papers.rewrite.measures import PairCounts, Sites, measure
from undust.proposing.papers.rewrite.pairs import KEY_ABSENT, Rules

if TYPE_CHECKING:
    from undust.proposing.papers.rewrite.closure import Generation
    from undust.proposing.papers.rewrite.maps import Ints, Maps
    from undust.proposing.papers.rewrite.sampling import SampledPairs
    from undust.rules import Rule


class LearnedCodes(NamedTuple):
    """What was learned, in codes: all generations of rules, with what it takes to read them."""

    maps: Maps
    pairs: SampledPairs
    site: Sites
    generations: list[Generation]
    cut: int


class Wanted(NamedTuple):
    """What a rule needs."""

    min_support: int
    max_fpr: float
    is_typed: bool
    is_measured: bool
    """Whether the support is that of Problem 6, measured on all URLs, and not that of Algorithm 3, the pairs
    that were come across: those are fewer, but known without measuring."""


@dataclass(frozen=True, eq=False)
class Qualified:
    """The rules of all generations that qualify, with what was measured of them."""

    rules: Rules
    measured: PairCounts
    covering: Ints
    covered: Ints
    generation: Ints
    false: int

    @classmethod
    def of(cls, learned: LearnedCodes, wanted: Wanted) -> Qualified:
        """Return the rules with enough support and few enough false pairs."""
        least = 1 if wanted.is_measured else wanted.min_support
        numbers, parts, start = [], [], 0
        for generation in learned.generations:
            enough = np.flatnonzero(generation.rules.supports >= least)
            number = np.full(len(generation.rules), -1, np.int64)
            number[enough] = np.arange(start, start + len(enough))
            numbers.append(number)
            parts.append(generation.rules.take(enough))
            start += len(enough)
        rules = _joined(parts)
        if wanted.is_typed:
            _narrow(rules, learned.maps, learned.pairs)
        measured = measure(learned.site, rules)
        supported = measured.pairs >= wanted.min_support
        good = supported & (measured.fpr <= wanted.max_fpr)
        place = np.where(good, np.cumsum(good) - 1, -1)
        above, below = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number, before, generation in zip(numbers[1:], numbers, learned.generations[1:], strict=False):
            edges = np.stack((number[generation.covering], before[generation.covered]))
            edges = edges[:, (edges >= 0).all(axis=0)]
            edges = place[edges]
            above.append(edges[0][(edges >= 0).all(axis=0)])
            below.append(edges[1][(edges >= 0).all(axis=0)])
        stays = np.flatnonzero(good)
        wildcards = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return cls(
            rules.take(stays),
            measured.take(stays),
            np.concatenate(above),
            np.concatenate(below),
            wildcards[stays],
            int((supported & ~good).sum()),
        )

    @cached_property
    def general(self) -> list[int]:
        """The rules with a wildcard; the others are about one URL, however many spellings it has."""
        return np.flatnonzero(self.generation > 0).tolist()

    def support(self, at: int) -> Ints:
        """Return the pairs behind a rule."""
        return self.rules.support[self.rules.support_offsets[at] : self.rules.support_offsets[at + 1]]

    def candidate(self, at: int, rule: Rule) -> Candidate:
        """Return a rule with what was seen of it."""
        same, pages = int(self.measured.same[at]), int(self.measured.pages[at])
        return Candidate((rule,), same, "pairs", pages, float(self.measured.fpr[at]))

    def not_covered(self, is_said: list[bool]) -> list[int]:
        """Return the rules without a more general one that can be written and is no worse."""
        said = np.array(is_said, np.bool_)
        own = np.where(said, self.measured.fpr, np.inf)
        above = np.full(len(own), np.inf)
        for number in range(int(self.generation.max(initial=0)), -1, -1):
            edges = self.generation[self.covering] == number
            best = np.minimum(own, above)[self.covering[edges]]
            np.minimum.at(above, self.covered[edges], best)
        useful = ~(above <= self.measured.fpr)
        return [at for at in self.general if useful[at]]


def _joined(parts: list[Rules]) -> Rules:
    return Rules(
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.context for part in parts]),
        np.concatenate([part.action for part in parts]),
        offsets_of(np.concatenate([part.supports for part in parts])),
        np.concatenate([part.support for part in parts]),
    )


def _narrow(rules: Rules, maps: Maps, pairs: SampledPairs) -> None:
    """Write the narrowest kind of wildcard that covers all that was seen, in place of the bare one."""
    kinds = {kind: maps.is_of(kind) for kind in (HEX, ALPHA, INT)}
    closed = {maps.key_names.index(name) for name in ("scheme", "host") if name in maps.key_names}
    for rule in range(len(rules)):
        at = np.arange(rules.offsets[rule], rules.offsets[rule + 1])
        at = at[rules.context[at] != KEY_ABSENT]
        sources = pairs.left[rules.support[rules.support_offsets[rule] : rules.support_offsets[rule + 1]]]
        for place, entry in enumerate(at):
            if rules.context[entry] != ANY or int(rules.keys[entry]) in closed:
                continue
            values = maps.values[maps.offsets[sources] + place]
            for kind, fits in kinds.items():
                if fits[values].all():
                    rules.context[entry] = kind
