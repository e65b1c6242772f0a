"""Rules and what they were learned from, to the page that a person reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from undust.jobs.judged_input import Input
from undust.jobs.learn_result import LearnResult
from undust.measuring.counts import savings
from undust.measuring.judged import require_overlap
from undust.privacy.masking import Masks
from undust.rules.language import ANY_SITE
from undust.showing.report import (
    Material,
    PageBudget,
    Report,
    RuleTrials,
    ShownRefusal,
    ShownRefusals,
    Texts,
    glance,
    limits_for,
    overview,
    site_facts,
)
from undust.showing.report.material import MOST_IN_FULL
from undust.showing.report.sections import methods_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import pyarrow as pa

    from undust.learning import Outcome
    from undust.learning.single_methods import MethodOutcome
    from undust.measuring import Labelled
    from undust.pages.clustering import Duplicates, SiteClusters
    from undust.pages.totals import Totals
    from undust.rules import Rule, RuleSet


def report(  # noqa: PLR0913 -- one for each thing that a person may say
    rules: RuleSet | LearnResult,
    seen: Any,  # noqa: ANN401 -- any Arrow object
    path: str | PathLike[str] | None = None,
    *,
    site: str | None = None,
    compared: Mapping[str, Any] | None = None,
    refusals: Mapping[str, ShownRefusals] | None = None,
    traffic: pa.Table | None = None,
    keep_values: bool = False,
    threads: int = 1,
) -> Report:
    """Return a page about rules and the URLs they are for; write it, if there is a path.

    Args:
        rules: What the page is about; a `LearnResult` brings the candidates that were refused.
        seen: Observations, as for `evaluate`; the figures are those of `evaluate`.
        path: Where to write the page.
        site: The one site to show, instead of all.
        compared: What `undust compare --json` printed, to show methods side by side.
        refusals: What learning did not take, by site; `undust learn --report` knows it.
        traffic: The requests of a log, as `undust.jobs.read` adds them up, to show what the rules save.
        keep_values: Show what looks secret, instead of `***1`.
        threads: How many to use; the result is the same.

    """
    if isinstance(rules, LearnResult):
        refusals = refusals_of_result(rules) if refusals is None else refusals
        rules = rules.rules
    gathered = ReportInput(rules, seen, site, dict(refusals or {}), keep_values, threads, traffic)
    made = gathered.report(compared)
    if path is not None:
        made.save(path)
    return made


@dataclass
class ReportInput:
    """Rules and observations, with everything that is worked out once and asked for often."""

    rules: RuleSet
    seen: Any
    site: str | None = None
    refusals: dict[str, ShownRefusals] = field(default_factory=dict)
    keep_values: bool = False
    threads: int = 1
    traffic: pa.Table | None = None

    @cached_property
    def input(self) -> Input:
        """What does not depend on the rules."""
        return Input(self.seen, self.site, self.threads)

    def with_rules(self, rules: RuleSet) -> ReportInput:
        """Return the same input under other rules; what is known of it is not worked out again."""
        other = replace(self, rules=rules)
        other.__dict__ |= {"input": self.input, "masks": self.masks}
        return other

    @property
    def duplicates(self) -> Duplicates:
        """The clusters of the sites that are shown."""
        return self.input.duplicates

    @property
    def labelled(self) -> dict[str, Labelled]:
        """The URLs whose page is known, by site."""
        return self.input.labelled[0]

    @cached_property
    def totals(self) -> dict[str, Totals]:
        """The counts of each site."""
        return {
            found.site: self.input.totals_of(found.site, self.rules_of(found.site))
            for found in self.duplicates
        }

    @cached_property
    def _by_site(self) -> dict[str, list[Rule]]:
        found: dict[str, list[Rule]] = {}
        for rule in self.rules:
            found.setdefault(rule.site, []).append(rule)
        return found

    def rules_of(self, site: str) -> list[Rule]:
        """Return the rules that apply to a site, in the order in which they are applied."""
        for_all = [rule for rule in self._by_site.get(ANY_SITE, ()) if site not in rule.except_sites]
        return [*self._by_site.get(site, ()), *for_all]

    @cached_property
    def masks(self) -> Masks | None:
        """The numbers by which secrets go on the page; None where they are shown."""
        return None if self.keep_values else Masks()

    def material(self, found: SiteClusters) -> Material:
        """Return what the page takes its facts of a site from."""
        own = self.rules_of(found.site)
        return Material(
            site=found.site,
            clusters=found,
            labelled=self.labelled.get(found.site),
            has_labels=self.input.has_labels,
            rules=own,
            measures=self.input.measured(found.site, own),
            totals=self.totals[found.site],
            tree=self.input.tree_of(found),
            refusals=self.refusals.get(found.site),
            limits=limits_for(len(self.duplicates.sites)),
            texts=Texts.under(own, self.masks),
            threads=self.threads,
        )

    def _site(self, found: SiteClusters) -> dict[str, Any]:
        own = self.rules_of(found.site)
        tried = RuleTrials(
            self.input.alone(found.site, own),
            self.input.lost_without(found.site, own),
            self.input.leading(found, own),
        )
        return site_facts(self.material(found), tried)

    def _glance(self, found: SiteClusters) -> tuple[Any, ...]:
        active = sum(rule.status == "active" for rule in self.rules_of(found.site))
        return glance(found.site, self.totals[found.site], active)

    @property
    def _parts(self) -> dict[str, Any]:
        """The parts of the page that are about all sites."""
        names = {found.site for found in self.duplicates} | {ANY_SITE}
        return {
            "name": self.rules.name,
            "rows": overview(map(self._glance, self.duplicates)),
            "measures": self.input.all_measured(self.rules_of),
            "totals": self.totals,
            "summary": self.duplicates.summary,
            "unlabelled": self.input.labelled[1] if self.labelled else self.duplicates.summary.urls,
            "rules": list(self.rules),
            "checked": (self.rules.checked or {}).get("says"),
            "elsewhere": [rule for rule in self.rules if rule.site not in names],
            "savings": [] if self.traffic is None else savings(self.rules, self.traffic),
            "said": Texts.under((), self.masks).said,
            "is_masked": not self.keep_values,
        }

    def report(self, compared: Mapping[str, Any] | None = None) -> Report:
        """Return the page."""
        if self.labelled:
            require_overlap(self.rules, list(self.labelled.values()))
        parts = self._parts
        by_name = {found.site: found for found in self.duplicates}
        budget = PageBudget()
        for row in parts["rows"][:MOST_IN_FULL]:
            if not budget.take(self._site(by_name[row[0]])):
                break
        methods = None if compared is None else methods_from(compared)
        return Report.of(**parts, sites=budget.sites, methods=methods)

    def facts_of(self, site: str | None) -> dict[str, Any]:
        """Return what the page says of all sites, and everything that depends on rules about one of them."""
        found = next((each for each in self.duplicates if each.site == site), None)
        sites = {} if found is None else {found.site: self._site(found)}
        return dict(Report.of(**self._parts, sites=sites, methods=None).facts)


def refusals_of_result(result: LearnResult) -> dict[str, ShownRefusals]:
    """Return by site what learning did not take."""
    return {
        site: ShownRefusals(
            tuple(ShownRefusal(one.rule, one.reason, one.pages, one.lost) for one in some),
            dict(result.reasons[site]),
        )
        for site, some in result.refused.items()
    }


def refusals_of(outcome: Outcome) -> dict[str, ShownRefusals]:
    """Return by site what the combined learner did not take."""
    return {
        site.site: ShownRefusals(
            tuple(ShownRefusal(one.rule, one.reason, one.pages, one.lost) for one in site.refused),
            dict(site.rejected),
            site.candidates,
        )
        for site in outcome.sites
    }


def refusals_of_verdicts(learned: MethodOutcome) -> dict[str, ShownRefusals]:
    """Return by site the candidates of single learners whose proof failed."""
    found: dict[str, list[ShownRefusal]] = {site: [] for site in learned.proposals}
    for verdict in learned.verdicts:
        if not verdict.accepted:
            rule = verdict.candidate.rules[0]
            found.setdefault(rule.site, []).append(
                ShownRefusal(rule, verdict.reason, verdict.pages, verdict.lost)
            )
    return {site: _counted(some) for site, some in found.items()}


def _counted(refused: list[ShownRefusal]) -> ShownRefusals:
    counts: dict[str, int] = {}
    for one in refused:
        counts[one.reason] = counts.get(one.reason, 0) + 1
    return ShownRefusals(
        tuple(sorted(refused, key=lambda one: (-one.pages, -one.lost, str(one.rule)))), counts
    )
