"""The small pass over what all sites gave: the rules for all of them, and the outcome as a whole."""

from __future__ import annotations

from dataclasses import dataclass
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
from undust.pages.totals import Totals
from undust.rules.language import ANY_SITE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.engines import SetAside
    from undust.jobs.one_site import LearningTask
    from undust.jobs.records import Fated, SiteOutcome
    from undust.rules import Rule, RuleSet


@dataclass(frozen=True)
class ManySites(Outcome):
    """The outcome where sites without duplicates were counted together (see `quiet_sites`)."""

    quiet: SetAside = NONE_SET_ASIDE

    @property
    def all_totals(self) -> Totals:
        """The counts of all sites together: of a quiet site every URL is a page, and stays."""
        rows = self.quiet.rows
        same = ("seen", "seen_normalized", "seen_left", "judged", "pages", "normalized", "left")
        return super().all_totals + Totals(**dict.fromkeys(same, rows))

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines."""
        told = super().as_json()
        return told | {
            "sites": told["sites"] + self.quiet.sites,
            "sites_without_duplicates": self.quiet.sites,
        }


def outcome_of(
    found: Iterable[SiteOutcome],
    task: LearningTask,
    update: RuleSet | None,
    *,
    keeps_values: bool,
    quiet: SetAside = NONE_SET_ASIDE,
) -> Outcome:
    """Return the outcome over all sites, in whatever order they come: each one's, and what they say together.

    Args:
        found: What each site gave.
        task: What was done with each.
        update: Rules from before.
        keeps_values: Whether examples show the values of parameters that are dropped.
        quiet: Sites that were counted together.

    """
    learned = sorted(found, key=lambda each: each.rules.site)
    sites = tuple(each.rules for each in learned)
    shown = [row for each in learned for row in each.shown]
    has_evidence = any(each.has_evidence for each in learned)
    totals = {each.rules.site: each.totals for each in learned}
    doubts = tuple(sorted({doubt for each in learned for doubt in each.doubts}))
    proposed = tuple(rule for each in learned for rule in each.proposed)
    new = rules_across(shown, task.requirements)
    counted: dict[str, Any] = {"doubts": doubts, "totals": totals, "proposed": proposed}
    if quiet.sites:
        return ManySites(sites, keeps_values, has_evidence=True, across=new, quiet=quiet, **counted)
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
