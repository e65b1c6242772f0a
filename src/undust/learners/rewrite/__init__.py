"""Rewrite rules by generalization: context and transformation over keys and values.

A. Dasgupta, R. Kumar, A. Sasturkar: De-duping URLs via rewrite rules, KDD 2008. A pair of URLs of one page
makes a rule that turns one into the other; rules that differ in a single key add up to one with a wildcard
there, generation by generation (`closure`), as far as a filter allows (`filters`). `maps`, `pairs`,
`measures` and `wording` say in their heads what the paper leaves open and how it is settled.

Support is counted in pairs of URLs (A25), and a rule's false positive rate is that of the paper: pairs of
different pages among the pairs (u, r(u)), on the data it was learned from (A24).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.candidates import Candidate, Proposal
from undust.errors import UndustError
from undust.learners.rewrite.closure import generalize
from undust.learners.rewrite.filters import ByEstimate, ByValues, Ideal
from undust.learners.rewrite.maps import maps_of
from undust.learners.rewrite.measures import Sites
from undust.learners.rewrite.pairs import choose_pairs, rules_of_pairs
from undust.learners.rewrite.qualified import Learned, Qualified, Wanted
from undust.learners.rewrite.wording import NAME, Wording, entries_of

if TYPE_CHECKING:
    from undust.duplicates import SiteClusters
    from undust.learners.rewrite.filters import Filter
    from undust.learners.rewrite.pairs import Chosen, Rules
    from undust.learners.rewrite.wording import RuleClass

__all__ = ["FILTERS", "NAME", "RewriteOptions", "learn", "propose_rewrites"]

FILTERS = ("fanout", "entropy", "estimate", "ideal")


@dataclass(frozen=True)
class RewriteOptions:
    """As published, where something was published."""

    filter: str = "fanout"
    """Which generalizations are made: `fanout`, `entropy`, `estimate` or `ideal`."""
    fanout: int = 10
    """Different values that a wildcard takes (published: 10, and 30)."""
    min_entropy: float = 0.9
    """Of the largest possible; for `entropy`."""
    min_values: int = 5
    """For `entropy`."""
    min_support: int = 3
    """Pairs of URLs behind a rule (not published)."""
    max_fpr: float = 0.1
    """False pairs among the pairs of a rule, on the data it was learned from (not published)."""
    host_labels: bool = False
    """Whether each label of the host is a key, so that mirrors can be found."""
    typed: bool = False
    """Whether a wildcard is `int`, `alpha` or `hex` where all the values behind it are."""
    sample: int = 50
    """How many URLs of a cluster are compared with each other."""
    max_pairs: int = 2_000_000
    """How many pairs of a site are compared."""
    budget: int = 20_000_000
    """How many pairs all supports together may hold."""
    constant_share: float = 0.5
    """On more than this share of its pages a value must have been seen, to be written for a wildcard."""
    keep_covered: bool = False
    """Whether to propose rules too that a more general one, no worse, makes superfluous."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.filter not in FILTERS:
            message = f"rewrite.filter={self.filter} is no filter; there are {', '.join(FILTERS)}"
            raise UndustError(message)


def learn(site: SiteClusters, options: RewriteOptions) -> Learned:
    """Return all rules that pairs of the site's URLs add up to (Algorithm 5 without its last line)."""
    maps = maps_of(site, host_labels=options.host_labels)
    pairs = choose_pairs(maps, options.sample, options.max_pairs, options.seed)
    rules = rules_of_pairs(maps, pairs)
    of_site = Sites(maps)
    generations, cut = generalize(rules, maps.open, _filter(options, of_site, pairs, rules), options.budget)
    return Learned(maps, pairs, of_site, generations, cut)


def propose_rewrites(site: SiteClusters, options: RewriteOptions) -> Proposal:
    """Return the rules with enough support and few enough false positives, the best first."""
    learned = learn(site, options)
    needs = Wanted(options.min_support, options.max_fpr, options.typed, options.filter == "ideal")
    kept = Qualified.of(learned, needs)
    words = Wording(site.site, learned.maps, learned.pairs, options.constant_share)
    said = [words.rule(entries_of(kept.rules, at), kept.support(at)) for at in range(len(kept.rules))]
    useful = list(range(len(said)))
    if not options.keep_covered:
        useful = kept.not_covered([rule is not None for rule in said])
    classes: Counter[RuleClass] = Counter()
    found: dict[str, Candidate] = {}
    for at in useful:
        rule = said[at]
        if rule is None:
            continue
        candidate = kept.candidate(at, rule)
        known = found.get(str(rule))
        if known is None:
            classes[words.rule_class(entries_of(kept.rules, at))] += 1
        if known is None or _merit(known) > _merit(candidate):
            found[str(rule)] = candidate
    cut = {
        "pairs of URLs that were not compared": learned.pairs.left_out,
        "rules beyond the budget": learned.cut,
        "rules with too many false pairs": kept.false,
        "rules without a value known to work": sum(rule is None for rule in said),
        "rules that a more general one covers": len(said) - len(useful),
    }
    notes = [f"{count} of {len(found)} rules are {kind}" for kind, count in sorted(classes.items())]
    candidates = tuple(sorted(found.values(), key=_merit))
    return Proposal(candidates, {what: many for what, many in cut.items() if many}, tuple(notes))


def _merit(candidate: Candidate) -> tuple[int, int, int, str]:
    # Of two directions that say the same, the one that shrinks the URL comes first.
    target = candidate.rules[0].target or ""
    return -candidate.pages, -candidate.support, len(target), candidate.text


def _filter(options: RewriteOptions, site: Sites, pairs: Chosen, rules: Rules) -> Filter:
    if options.filter == "ideal":
        return Ideal(site, rules, options.max_fpr, options.budget)
    if options.filter == "estimate":
        return ByEstimate(site, pairs, options.max_fpr)
    if options.filter == "entropy":
        return ByValues(options.min_values, options.min_entropy)
    return ByValues(options.fanout)
