"""Rewrite rules by generalization: context and transformation over keys and values.

A. Dasgupta, R. Kumar, A. Sasturkar: De-duping URLs via rewrite rules, KDD 2008. A pair of URLs of one page
makes a rule that turns one into the other; rules that differ in a single key add up to one with a wildcard
there, generation by generation (`closure`), as far as a filter allows. The docstrings of `maps`, `pairs`,
`closure`, `measures` and `qualified` say what the paper leaves open and how it is settled.

Support is counted in pairs of URLs (A25), and a rule's false positive rate is that of the paper: pairs of
different pages among the pairs (u, r(u)), on the data it was learned from (A24).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.errors import UndustError
from undust.judging.verdict import Candidate, Proposal
from undust.proposing.papers.rewrite.closure import ByEstimate, ByValues, Ideal, generalize
from undust.proposing.papers.rewrite.maps import maps_of
from undust.proposing.papers.rewrite.measures import Sites
from undust.proposing.papers.rewrite.pairs import choose_pairs, rules_of_pairs
from undust.proposing.papers.rewrite.qualified import (
    REWRITE_NAME,
    LearnedCodes,
    Qualified,
    Wanted,
    Wording,
    entries_of,
)

if TYPE_CHECKING:
    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.rewrite.closure import Filter
    from undust.proposing.papers.rewrite.maps import Maps
    from undust.proposing.papers.rewrite.pairs import Rules, SampledPairs
    from undust.proposing.papers.rewrite.qualified import RuleClass
    from undust.rules import Rule

__all__ = [
    "FILTERS",
    "REWRITE_NAME",
    "ProposedRules",
    "RewriteOptions",
    "learn",
    "learn_from",
    "propose_rewrites",
    "tell",
]

FILTERS = ("fanout", "covered", "entropy", "estimate", "ideal")
FULL_SIZE = 20_000
"""URLs in clusters of a site for which the fan-out is meant; the paper's hosts had 21,700 on the mean."""
LEAST_FANOUT = 3
"""Of any size: with two values a rule would follow from any two pages that differ at one key."""


@dataclass(frozen=True)
class RewriteOptions:
    """As published, where something was published."""

    filter: str = "fanout"
    """Which generalizations are made: `fanout`, `covered`, `entropy`, `estimate` or `ideal`."""
    fanout: int = 10
    """Different values that a wildcard takes (published: 10, and 30)."""
    scaled: bool = False
    """Whether the fan-out shrinks with the square root of the site below 20,000 URLs in clusters, to 3."""
    min_entropy: float = 0.9
    """Of the largest possible; for `entropy`."""
    min_values: int = 5
    """For `entropy`."""
    min_support: int = 3
    """Pairs of URLs that support a rule (not published)."""
    max_fpr: float = 0.1
    """False pairs among the pairs of a rule, on the data it was learned from (not published)."""
    host_labels: bool = False
    """Whether each label of the host is a key, so that mirrors can be found."""
    typed: bool = False
    """Whether a wildcard is `int`, `alpha` or `hex` where all its values are."""
    sample: int = 50
    """How many URLs of a cluster are compared with each other; from ten times as many on, twice as many."""
    max_pairs: int = 2_000_000
    """How many pairs of a site are compared."""
    budget: int = 20_000_000
    """How many pairs all supports together may hold."""
    constant_share: float = 0.5
    """On more than this share of its pages a value must have been seen, to be written for a wildcard."""
    keep_covered: bool = False
    """Whether to propose rules too that a more general one, no worse, makes redundant."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.filter not in FILTERS:
            message = f"rewrite.filter={self.filter} is not a filter; there are {', '.join(FILTERS)}"
            raise UndustError(message)


def learn(site: SiteClusters, options: RewriteOptions) -> LearnedCodes:
    """Return all rules that pairs of the site's URLs add up to (Algorithm 5 without its last line)."""
    return learn_from(maps_of(site, host_labels=options.host_labels), options)


def fanout_of(options: RewriteOptions, urls: int) -> int:
    """Return the fan-out for a site with this many URLs in clusters.

    >>> [fanout_of(RewriteOptions(scaled=True), urls) for urls in (500, 5_000, 20_000, 1_000_000)]
    [3, 5, 10, 10]

    """
    if not options.scaled:
        return options.fanout
    return min(options.fanout, max(LEAST_FANOUT, round(options.fanout * math.sqrt(urls / FULL_SIZE))))


def learn_from(maps: Maps, options: RewriteOptions) -> LearnedCodes:
    """Return the same for URLs that are maps already."""
    sizes = np.bincount(maps.clusters, minlength=1)
    options = replace(options, fanout=fanout_of(options, int(sizes[sizes > 1].sum())))
    # One more than the values of a wildcard, because a URL is not a source of its own target.
    needed = {"fanout": options.fanout, "covered": options.fanout, "entropy": options.min_values}
    alike = needed.get(options.filter, 2) + 1
    pairs = choose_pairs(maps, options.sample, options.max_pairs, options.seed, min(alike, options.sample))
    rules = rules_of_pairs(maps, pairs)
    of_site = Sites(maps)
    generations, cut = generalize(rules, maps.open, _filter(options, of_site, pairs, rules), options.budget)
    return LearnedCodes(maps, pairs, of_site, generations, cut)


def propose_rewrites(site: SiteClusters, options: RewriteOptions) -> Proposal:
    """Return the rules with enough support and few enough false positives, the best first."""
    told = tell(learn(site, options), site.site, options)
    classes = Counter(kind for _, kind in told.rules)
    notes = [f"{count} of {len(told.rules)} rules are {kind}" for kind, count in sorted(classes.items())]
    return Proposal(tuple(candidate for candidate, _ in told.rules), told.cut, tuple(notes))


class ProposedRules(NamedTuple):
    """The rules that are proposed, the best first, each with its class; and what was excluded."""

    rules: list[tuple[Candidate, RuleClass]]
    cut: dict[str, int]


def tell(learned: LearnedCodes, site: str, options: RewriteOptions) -> ProposedRules:
    """Return what was learned in our language (the last line of Algorithm 5, and Problem 6)."""
    needs = Wanted(options.min_support, options.max_fpr, options.typed, options.filter == "ideal")
    kept = Qualified.of(learned, needs)
    words = Wording(site, learned.maps, learned.pairs, options.constant_share)
    said, unsaid, useful = _said(kept, words, keep_covered=options.keep_covered)
    found: dict[str, tuple[Candidate, RuleClass]] = {}
    for at, rule in said.items():
        # A constant may also be the words for a wildcard: such a rule stays once, as the better of the two.
        candidate, text = kept.candidate(at, rule), str(rule)
        if text not in found or _merit(candidate) < _merit(found[text][0]):
            found[text] = candidate, words.rule_class(entries_of(kept.rules, at))
    cut = {
        "pairs of URLs that were not compared": learned.pairs.left_out,
        "rules beyond the budget": learned.cut,
        "rules with too many false pairs": kept.false,
        "rules without a value known to work": unsaid,
        "rules that a more general one covers": len(kept.general) - useful,
        "rules of a single URL": len(kept.rules) - len(kept.general),
    }
    ordered = sorted(found.values(), key=lambda each: _merit(each[0]))
    return ProposedRules(ordered, {what: many for what, many in cut.items() if many})


def _said(kept: Qualified, words: Wording, *, keep_covered: bool) -> tuple[dict[int, Rule], int, int]:
    """Return the rules worth writing, by number; how many cannot be written, and how many are useful.

    Whether a rule is useful depends on what can be written above it, and writing takes time. So most are
    written only once they are known to be useful, and where one cannot be written, those below it are tried.
    """
    every = kept.general
    can_say = [False] * len(kept.rules)
    for at in every:
        can_say[at] = words.can_say(entries_of(kept.rules, at), kept.support(at))
    said: dict[int, Rule | None] = {}
    while True:
        useful = every if keep_covered else kept.not_covered(can_say)
        fresh = [at for at in useful if at not in said and can_say[at]]
        for at in fresh:
            said[at] = words.rule(entries_of(kept.rules, at), kept.support(at))
            can_say[at] = said[at] is not None
        if all(can_say[at] for at in fresh):
            rules = {at: rule for at in useful if (rule := said.get(at)) is not None}
            return rules, sum(not can_say[at] for at in every), len(useful)


def _merit(candidate: Candidate) -> tuple[int, int, int, str]:
    # Of two directions of one rule, the one that shrinks the URL comes first.
    target = candidate.rules[0].target or ""
    return -candidate.pages, -candidate.support, len(target), candidate.text


def _filter(options: RewriteOptions, site: Sites, pairs: SampledPairs, rules: Rules) -> Filter:
    if options.filter == "ideal":
        return Ideal(site, rules, options.max_fpr, options.budget)
    if options.filter == "estimate":
        return ByEstimate(site, pairs, options.max_fpr)
    if options.filter == "entropy":
        return ByValues(options.min_values, options.min_entropy)
    return ByValues(options.fanout, counts_covered=options.filter == "covered")
