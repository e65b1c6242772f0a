"""What `undust.learn(..., details=True)` returns: the rules, how they came about, and where the time went.

Time is processor seconds by stage, those of other processes included.

Of very many sites, sums are held, and what each site with a rule gave is on the disk: its rules are read from
there, once they are wanted, and packed.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from undust.engines import NONE_SET_ASIDE, SetAside
from undust.jobs.records import StoredOutcomes, StoredParts
from undust.judging.checked import CheckedPages, checked_of_sites
from undust.learning import Outcome
from undust.learning.bounds import HeldPairs
from undust.learning.rule_evidence import without_secrets
from undust.privacy.masking import Masks, forgotten_names
from undust.rules.ruleset import with_very_many
from undust.statistics import Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undust.jobs.records import SiteOutcome
    from undust.learning import Drift, RefusedRule, SiteRules
    from undust.learning.generic import ShapeTable
    from undust.learning.single_methods import MethodOutcome
    from undust.rules import Rule, RuleSet

READING, GROUPING, CLUSTERING, LEARNING, GIANTS, ACROSS, WRITING = _NAMES = (
    *("reading", "grouping", "clustering", "learning", "giant sites", "across sites", "writing"),
)
"""The stages of every job; others, such as asking, are counted where they happen."""


def spent() -> float:
    """Return the processor seconds of this process and of those it started that have ended."""
    return sum(os.times()[:4])


class Stages:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(_NAMES, 0.0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Count what is spent in the block, less what other stages count within it."""
        before, inner = spent(), sum(self.seconds.values())
        try:
            yield
        finally:
            counted = sum(self.seconds.values()) - inner
            self.add(name, max(0.0, spent() - before - counted))

    def add(self, name: str, seconds: float) -> None:
        """Add seconds that were measured elsewhere."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def as_json(self) -> dict[str, float]:
        """Return the seconds for machines."""
        return {name: round(seconds, 3) for name, seconds in self.seconds.items()}


@dataclass(frozen=True)
class LearnResult:
    """Rules with what was refused, counts by site, the bound of the set, and the time of each stage.

    >>> import undust
    >>> result = undust.learn(undust.read("examples/shop.jsonl.gz"), details=True)
    >>> result.rules == undust.learn(undust.read("examples/shop.jsonl.gz"))
    True
    >>> sorted(result.sites), sorted(result.sites["teapots.test"])[:3]
    (['teapots.test'], ['candidates', 'canonical_urls', 'checked'])
    >>> print(result.bound)
    at most 4.1 % of pages lost (95 % confidence, 72 pages checked)
    """

    rules: RuleSet
    refused: Mapping[str, tuple[RefusedRule, ...]]
    """By site: candidates that were not accepted, each with its reason; those of most pages first."""
    reasons: Mapping[str, Mapping[str, int]]
    """By site: how many candidates were refused for each reason, also those that `refused` leaves out."""
    sites: Mapping[str, Mapping[str, Any]]
    """Counts by site, as `undust learn --json` prints them under `by_site`."""
    bound: CheckedPages
    """How many pages that nothing was learned from were checked, and how many of them the rules lose."""
    seconds: Mapping[str, float]
    """Processor seconds by stage."""
    drift: Drift | None = None
    """What became of the rules that were given as `update`."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Sites without rules because of an error, each with the reason."""
    summary: Mapping[str, Any] = field(default_factory=dict)
    """The counts of all sites together, as `undust learn --json` prints them."""

    @property
    def fpr_upper(self) -> float:
        """The bound of the whole set: with 95 % confidence, at most this share of pages is lost.

        1 where nothing was checked.
        """
        return self.bound.upper


@dataclass
class Progress:
    """Counts finished sites for a function that wants to know."""

    call: Callable[[int, int, str], object]
    """Gets the number of finished sites, of all sites, and the name of the one that was finished."""
    done: int = 0
    sites: int = 0

    def expect(self, sites: int, rows: int) -> None:  # noqa: ARG002 -- the contract of `Watch`
        """Note how many sites there are."""
        self.sites = sites

    def tell(self, site: str, rows: int) -> None:  # noqa: ARG002 -- the contract of `Watch`
        """Count a finished site."""
        self.done += 1
        self.call(self.done, self.sites, site)


def result_of_outcome(outcome: Outcome, stages: Stages) -> LearnResult:
    """Return the result of learning from all evidence together."""
    return LearnResult(
        outcome.rules,
        {site.site: site.refused for site in outcome.sites},
        {site.site: dict(site.rejected) for site in outcome.sites},
        outcome.by_site(),
        outcome.checked,
        stages.as_json(),
        outcome.drift,
        dict(outcome.failed),
        outcome.as_json(),
    )


def result_of_methods(
    learned: MethodOutcome, rules: RuleSet, refused: Mapping[str, tuple[RefusedRule, ...]], stages: Stages
) -> LearnResult:
    """Return the result of single methods."""
    summary = learned.as_json()
    candidates = Counter(verdict.site for verdict in learned.verdicts)
    own = Counter(rule.site for rule in rules)
    return LearnResult(
        rules,
        refused,
        {site: dict(Counter(one.reason for one in some)) for site, some in refused.items()},
        {site: {"candidates": candidates[site], "rules": own[site]} for site in learned.proposals},
        CheckedPages(),
        stages.as_json(),
        summary=summary,
    )


@dataclass
class CountedSites:
    """Very many sites that were learned from: sums of all, and a text for each of which more is known."""

    stored: StoredOutcomes = field(default_factory=StoredOutcomes)
    sites: int = 0
    urls: int = 0
    pages: int = 0
    candidates: int = 0
    proposed: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    held: HeldPairs = field(default_factory=lambda: HeldPairs(0, 0))
    totals: Totals = field(default_factory=Totals)
    doubts: set[str] = field(default_factory=set)
    has_evidence: bool = False
    sampled: dict[str, dict[str, int]] = field(default_factory=dict)
    checked: dict[str, CheckedPages] = field(default_factory=dict)
    """Of the sites of a sample, by name."""
    unchecked: CheckedPages = field(default_factory=CheckedPages)
    """Of all others together."""

    def add(self, learned: SiteOutcome) -> None:
        """Count a site, and keep what gives its rules."""
        own = learned.rules
        self.sites += 1
        self.urls += own.urls
        self.pages += own.pages
        self.candidates += own.candidates
        self.proposed += len(learned.proposed)
        self.rejected.update(own.rejected)
        self.held = HeldPairs(self.held.pairs + own.held_pairs, self.held.false + own.held_false)
        self.totals += learned.totals
        self.doubts.update(learned.doubts)
        self.has_evidence |= learned.has_evidence
        if own.rules or own.refused or own.sampled or learned.proposed or learned.again:
            self._keep(learned)

    def _keep(self, learned: SiteOutcome) -> None:
        own = learned.rules
        if own.sampled:
            self.sampled[own.site] = {"sampled": own.sampled, "urls": own.urls}
        if own.checked.pages:
            self.checked[own.site] = own.checked
        else:
            self.unchecked += own.checked
        self.stored.add(learned._replace(shown=[]))


@dataclass(frozen=True)
class SitesTogether:
    """What is known of very many sites."""

    shapes: ShapeTable
    """What they say of rules for all sites."""
    quiet: SetAside = NONE_SET_ASIDE
    """Those without duplicates (see `first_look`): of these every URL is a page, and stays."""
    silent: SetAside = NONE_SET_ASIDE
    """Those with few URLs of which nothing is known."""
    counted: CountedSites = field(default_factory=CountedSites)
    """Those that were learned from."""

    def outcome(self, across: tuple[Rule, ...], *, keeps_values: bool) -> ManySites:
        """Return the outcome over all sites with the rules for all of them."""
        counted, stored = self.counted, self.counted.stored
        return ManySites(
            StoredParts(stored, lambda each: (each.rules,), len(stored)),
            keeps_values,
            bool(self.quiet.sites) or counted.has_evidence,
            across,
            doubts=tuple(sorted(counted.doubts)),
            proposed=StoredParts(stored, lambda each: each.proposed, counted.proposed),
            together=self,
        )


@dataclass(frozen=True, kw_only=True)
class ManySites(Outcome):
    """The outcome where only sites with rules are listed."""

    together: SitesTogether

    @property
    def _counted(self) -> CountedSites:
        return self.together.counted

    @cached_property
    def rules(self) -> RuleSet:  # going through all sites takes its time
        """All rules, in the order of any outcome."""
        rules = with_very_many(self.before, self._all_rules())
        return rules.with_check(self.checked.as_json() if self.checked.pages else None)

    def _all_rules(self) -> Iterator[Rule]:
        names: set[str] = set()
        for each in self._counted.stored:
            own, _, removed = self._shown(each)
            # The examples of a rule for all sites are of any of them.
            names |= removed
            yield from own
        yield from self._without_secrets(
            self.across, (*sorted(names), *forgotten_names(self.across)), Masks()
        )
        for each in self._counted.stored if self._counted.proposed else ():
            yield from self._shown(each)[1]

    def _shown(self, each: SiteOutcome) -> tuple[list[Rule], list[Rule], set[str]]:
        """Return the rules of a site and those that are likely, as they are written, and what they remove."""
        own, known = each.rules.rules, {rule.id for rule in each.rules.rules}
        likely = [rule for rule in each.proposed if rule.id not in known]
        removed = forgotten_names((*own, *each.proposed))
        # Secrets have numbers of their own on each site, or those of all sites would be remembered.
        names, masks = (*removed, *forgotten_names(self.across)), Masks()
        shown = [list(self._without_secrets(rules, names, masks)) for rules in (own, likely)]
        return shown[0], shown[1], set(removed)

    def _without_secrets(self, rules: Iterable[Rule], names: Sequence[str], masks: Masks) -> Iterator[Rule]:
        return (rule if self.keeps_values else without_secrets(rule, names, masks) for rule in rules)

    @property
    def site_counts(self) -> tuple[int, int, int]:
        """How many sites there are, with how many URLs and pages to learn from."""
        quiet, silent, counted = self.together.quiet, self.together.silent, self._counted
        return (
            quiet.sites + silent.sites + counted.sites,
            quiet.rows + silent.rows + counted.urls,
            quiet.rows + silent.rows + counted.pages,
        )

    @property
    def rejected(self) -> Counter[str]:
        """Why candidates were not taken, and how many."""
        return +self._counted.rejected

    @property
    def checked(self) -> CheckedPages:
        """The pages of all sites that nothing was learned from, and what each site's own rules do to them."""
        checked = self._counted.checked
        return checked_of_sites([*(checked[site] for site in sorted(checked)), self._counted.unchecked])

    @property
    def held(self) -> HeldPairs:
        """The pairs of held-out pages of all sites that the rules send to one form."""
        return self._counted.held

    @property
    def candidates(self) -> int:
        """How many candidates there were."""
        return self._counted.candidates

    @property
    def sampled(self) -> dict[str, dict[str, int]]:
        """The URLs that were looked at and all URLs, of each site that was learned from a sample."""
        return dict(sorted(self._counted.sampled.items()))

    @property
    def all_totals(self) -> Totals:
        """The counts of all sites together."""
        if self.is_by_all:
            return super().all_totals
        seen = ("seen", "seen_normalized", "seen_left")
        quiet = dict.fromkeys((*seen, "judged", "pages", "normalized", "left"), self.together.quiet.rows)
        silent = dict.fromkeys(seen, self.together.silent.rows)
        return self._counted.totals + Totals(**quiet) + Totals(**silent)

    def _each_site(self) -> Iterator[tuple[SiteRules, Totals, int]]:
        for each in self._counted.stored:
            totals = self.totals.get(each.rules.site, Totals()) if self.is_by_all else each.totals
            yield each.rules, totals, len(each.proposed)

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines."""
        counted = self._counted
        return super().as_json() | {
            "sites_without_duplicates": self.together.quiet.sites,
            "sites_without_rules": counted.sites - len(counted.stored) + self.together.silent.sites,
        }
