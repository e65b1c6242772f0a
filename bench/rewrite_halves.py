"""One site as Dasgupta, Kumar and Sasturkar take it, and their sets of rules learned from one half of it.

URLs without a duplicate are left out, and clusters fall into training and test by the toss of a coin. Rules
are applied as published: where a result has a wildcard, a word is written that no URL has, whether or not a
value is known that could be fetched. False positives are those of the section on experiments: pairs of test
URLs that a rule makes equal, and that are different pages (A18).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

import undust
from undust import _core
from undust.proposing.papers.rewrite import RewriteOptions, learn_from
from undust.proposing.papers.rewrite.maps import Maps, hashes_of, maps_of, offsets_of, spans
from undust.proposing.papers.rewrite.pairs import STAR
from undust.proposing.papers.rewrite.qualified import Qualified, Wanted, Wording, entries_of
from undust.proposing.papers.selection import TrialUrls
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.proposing.papers.rewrite.maps import Ints
    from undust.proposing.papers.rewrite.qualified import KeyEntry, RuleClass
    from undust.rules import Rule

    Bools = NDArray[np.bool_]

MIN_SUPPORT = 10
"""Pairs behind a rule, minS, which is not published: as many as one wildcard needs."""
WILDCARD = "any-value"
"""What is written where the result of a rule has a wildcard."""
SMALL = 9
"""Up to so many URLs a cluster is small."""


class Said(NamedTuple):
    """A rule, its class, how many pairs it comes from, and whether its result can be fetched."""

    rule: Rule
    kind: RuleClass
    support: int
    can_fetch: bool


class Halves:
    """One site as the paper takes it: without single URLs, in two halves, clusters small and large."""

    def __init__(self, labelled: pa.Table) -> None:
        found = max(undust.find_duplicates(labelled).sites, key=lambda each: len(each.node_urls))
        found = found.keeps(found.sizes > 1)
        self.name = found.site
        self.maps = maps_of(found)
        self.measured = TrialUrls(found)
        nodes = np.flatnonzero(found.cluster_of_node >= 0)
        self.rows = np.searchsorted(nodes, self.maps.nodes)
        self.is_small = np.bincount(self.maps.clusters)[self.maps.clusters] <= SMALL
        self.is_test = hashes_of(self.maps.clusters, 7, 7) % np.uint64(2) == 1

    def learned(self, fanout: int, chosen: Bools, min_support: int = MIN_SUPPORT) -> list[Said]:
        """Return what is learned from some of the training half."""
        options = RewriteOptions(fanout=fanout)
        learned = learn_from(part(self.maps, chosen & ~self.is_test), options)
        kept = Qualified.of(learned, Wanted(min_support, 1.0, is_typed=False, is_measured=False))
        words = Wording(self.name, learned.maps, learned.pairs, options.constant_share)
        said: dict[str, Said] = {}
        for at in kept.general:
            entries = entries_of(kept.rules, at)
            rule = words.written(entries, self._wildcards(entries))
            if rule is not None:
                support = kept.support(at)
                kind, can_fetch = words.rule_class(entries), words.can_say(entries, support)
                said.setdefault(str(rule), Said(rule, kind, len(support), can_fetch))
        return list(said.values())

    def _wildcards(self, entries: list[KeyEntry]) -> dict[int, str | None]:
        """Return a word for each wildcard of a result: rules of ours have none there, the paper's do."""
        names = {entry.key: self.maps.key_names[entry.key] for entry in entries if entry.action == STAR}
        return {key: f"any.{self.name}" if name == "host" else WILDCARD for key, name in names.items()}

    def learn_all(self) -> dict[str, list[Said]]:
        """Return the rule sets of the paper, and remember what each rule does and how often it is wrong."""
        small, large = self.is_small, ~self.is_small
        r1, r2 = self.learned(10, small), self.learned(10, large)
        sets = {"R1": r1, "R2": r2, "R3": r1 + r2, "R4": self.learned(30, small) + self.learned(30, large)}
        sets = {name: _once(rules) for name, rules in sets.items()}
        every = {str(each.rule): each.rule for rules in sets.values() for each in rules}
        images = self.measured.images([[rule] for rule in every.values()])
        self.images = dict(zip(every, images, strict=True))
        self.fpr = {text: self._false_on_test(*of_rule) for text, of_rule in self.images.items()}
        return sets

    def _false_on_test(self, rows: Ints, image: Ints) -> float:
        """Return the share of different pages among the pairs of test URLs that a rule makes equal."""
        count = len(self.measured.urls)
        is_test = np.zeros(count, np.bool_)
        is_test[self.rows[self.is_test]] = True
        rows, image = rows[is_test[rows]], image[is_test[rows]]
        # A URL of the training half is not there, and so gets a number beyond all others.
        is_there = (image >= count) | is_test[np.minimum(image, count - 1)]
        beyond = count + int(image.max(initial=0)) + 1
        return self.measured.fpr_of(rows, np.where(is_there, image, image + beyond))

    def within(self, rules: Iterable[Said], max_fpr: float) -> list[Said]:
        """Return the rules with at most so many false positives."""
        return [each for each in rules if self.fpr[str(each.rule)] <= max_fpr]

    def left(self, rules: Iterable[Said], chosen: Bools) -> tuple[int, int]:
        """Return how many URLs there are among the chosen, and how many when those of one image are one.

        The paper does not say in which order rules are applied, and rules that lead to and fro undo each
        other in any order: so a URL and what becomes of it under any rule count as one.
        """
        done = [self.images[str(each.rule)] for each in rules]
        is_chosen = np.zeros(len(self.measured.urls), np.bool_)
        is_chosen[self.rows[chosen]] = True
        rows = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in done)])
        image = np.concatenate([np.zeros(0, np.int64), *(each[1] for each in done)])
        rows, image = rows[is_chosen[rows]], image[is_chosen[rows]]
        count = max(len(is_chosen), int(image.max(initial=0)) + 1)
        part = pa.array(_core.components(rows, image, count)).to_numpy()
        return int(is_chosen.sum()), len(np.unique(part[: len(is_chosen)][is_chosen]))

    def left_in_a_row(self, rules: Iterable[Said]) -> tuple[int, int]:
        """Return the same for all URLs where rules are applied one after the other, the best first."""
        keys = RuleSet([each.rule for each in rules]).compile().batch(self.measured.urls, keys=True)
        return len(keys), len(keys.unique())


def part(maps: Maps, kept: Bools) -> Maps:
    """Return some rows of maps."""
    rows = np.flatnonzero(kept)
    lengths = np.diff(maps.offsets)[rows]
    entries = spans(maps.offsets[rows], lengths)
    return replace(
        maps,
        offsets=offsets_of(lengths),
        keys=maps.keys[entries],
        values=maps.values[entries],
        nodes=maps.nodes[rows],
        clusters=maps.clusters[rows],
        known=maps.known[rows],
    )


def _once(rules: Iterable[Said]) -> list[Said]:
    found: dict[str, Said] = {}
    for each in sorted(rules, key=lambda each: -each.support):
        found.setdefault(str(each.rule), each)
    return list(found.values())
