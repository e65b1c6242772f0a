"""The small pass over what all sites gave: the rules for all of them, and the outcome as a whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from undust.engines import NONE_SET_ASIDE
from undust.learning import (
    Drift,
    Outcome,
    is_off,
    merged,
    proved_again_across,
    rules_across,
    wanted,
)
from undust.learning.across import rules_of_shapes
from undust.learning.bounds import HeldPairs
from undust.pages.totals import Totals
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.engines import SetAside
    from undust.jobs.one_site import LearningTask
    from undust.jobs.records import Fated, SiteOutcome
    from undust.learning.generic import ShapeTable
    from undust.rules import Rule, RuleSet


@dataclass
class CountedSites:
    """Sites that were learned from and gave no rule: what is left of them is sums."""

    sites: int = 0
    urls: int = 0
    pages: int = 0
    candidates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    held_pairs: int = 0
    held_false: int = 0
    totals: Totals = field(default_factory=Totals)
    doubts: set[str] = field(default_factory=set)
    has_evidence: bool = False

    def add(self, learned: SiteOutcome) -> None:
        """Count a site."""
        own = learned.rules
        self.sites += 1
        self.urls += own.urls
        self.pages += own.pages
        self.candidates += own.candidates
        self.rejected.update(own.rejected)
        self.held_pairs += own.held_pairs
        self.held_false += own.held_false
        self.totals += learned.totals
        self.doubts.update(learned.doubts)
        self.has_evidence |= learned.has_evidence


def leaves_a_row(learned: SiteOutcome) -> bool:
    """Return whether there is more to remember of a site than counts."""
    own = learned.rules
    return bool(own.rules or own.refused or own.sampled or learned.proposed or learned.again)


@dataclass(frozen=True)
class SitesTogether:
    """What is known of very many sites without a word on each."""

    shapes: ShapeTable
    """What they say of rules for all sites."""
    quiet: SetAside = NONE_SET_ASIDE
    """Those without duplicates (see `first_look`): of these every URL is a page, and stays."""
    silent: SetAside = NONE_SET_ASIDE
    """Those with few URLs of which nothing is known."""
    counted: CountedSites = field(default_factory=CountedSites)
    """Those without rules."""


@dataclass(frozen=True)
class ManySites(Outcome):
    """The outcome where only sites with rules are listed."""

    quiet: SetAside = NONE_SET_ASIDE
    silent: SetAside = NONE_SET_ASIDE
    counted: CountedSites = field(default_factory=CountedSites)

    @property
    def site_counts(self) -> tuple[int, int, int]:
        """How many sites there are, with how many URLs and pages to learn from."""
        sites, urls, pages = super().site_counts
        quiet, silent, counted = self.quiet, self.silent, self.counted
        return (
            sites + quiet.sites + silent.sites + counted.sites,
            urls + quiet.rows + silent.rows + counted.urls,
            pages + quiet.rows + silent.rows + counted.pages,
        )

    @property
    def rejected(self) -> Counter[str]:
        """Why candidates were not taken, and how many."""
        return super().rejected + self.counted.rejected

    @property
    def held(self) -> HeldPairs:
        """The pairs of held-out pages of all sites that the rules send to one form."""
        own = super().held
        return HeldPairs(own.pairs + self.counted.held_pairs, own.false + self.counted.held_false)

    @property
    def all_totals(self) -> Totals:
        """The counts of all sites together."""
        seen = ("seen", "seen_normalized", "seen_left")
        quiet = dict.fromkeys((*seen, "judged", "pages", "normalized", "left"), self.quiet.rows)
        silent = dict.fromkeys(seen, self.silent.rows)
        return super().all_totals + self.counted.totals + Totals(**quiet) + Totals(**silent)

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines."""
        told = super().as_json()
        return told | {
            "candidates": told["candidates"] + self.counted.candidates,
            "sites_without_duplicates": self.quiet.sites,
            "sites_without_rules": self.counted.sites + self.silent.sites,
        }


def outcome_of(
    found: Iterable[SiteOutcome],
    task: LearningTask,
    update: RuleSet | None,
    *,
    keeps_values: bool,
    together: SitesTogether | None = None,
) -> Outcome:
    """Return the outcome over all sites, in whatever order they come: each one's, and what they say together.

    Args:
        found: What each site gave.
        task: What was done with each.
        update: Rules from before.
        keeps_values: Whether examples show the values of parameters that are dropped.
        together: What is known of sites that left no row, if there are very many.

    """
    learned = sorted(found, key=lambda each: each.rules.site)
    sites = tuple(each.rules for each in learned)
    shown = [row for each in learned for row in each.shown]
    has_evidence = any(each.has_evidence for each in learned)
    totals = {each.rules.site: each.totals for each in learned}
    doubts = tuple(sorted({doubt for each in learned for doubt in each.doubts}))
    proposed = tuple(rule for each in learned for rule in each.proposed)
    counted: dict[str, Any] = {"doubts": doubts, "totals": totals, "proposed": proposed}
    if together is not None:
        quiet, silent, others = together.quiet, together.silent, together.counted
        has_evidence |= bool(quiet.sites) or others.has_evidence
        counted["doubts"] = tuple(sorted({*doubts, *others.doubts}))
        counted |= {"across": rules_of_shapes(together.shapes, task.requirements) if task.is_across else ()}
        return ManySites(
            sites, keeps_values, has_evidence, quiet=quiet, silent=silent, counted=others, **counted
        )
    new = rules_across(shown, task.requirements)
    if update is None:
        return Outcome(sites, keeps_values, has_evidence, new, **counted)
    fates: dict[str, Fated] = {site: _not_seen(rules) for site, rules in task.before.items()}
    fates |= {each.rules.site: merged(each.again, each.rules.rules) for each in learned}
    # Rules of one site come before those for all, in use as in the file.
    fates.pop(ANY_SITE, None)
    off = [rule for rule in update if is_off(rule)]
    own_off = [rule for rule in off if rule.site != ANY_SITE]
    again = proved_again_across(task.before.get(ANY_SITE, ()), shown, task.requirements, task.today)
    again = [(fate, each) for fate, rule in again for each in wanted([rule], own_off)]
    for_all = merged(again, wanted(new, off))
    everything = [each for rules in (*fates.values(), for_all) for each in rules]
    across = tuple(rule for _, rule in for_all)
    drift = Drift(tuple(everything))
    return Outcome(sites, keeps_values, has_evidence, across, update, drift, **counted)


def _not_seen(rules: Iterable[Rule]) -> Fated:
    return [("not seen" if rule.status == "active" else "off", rule) for rule in rules]
