"""Rules and what they were learned from, to the page that a person reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError
from undust.jobs.find_duplicates import find_duplicates, tree_of
from undust.jobs.learn_result import LearnResult
from undust.measuring import evaluate as judge
from undust.measuring.judged import has_labels, labelled_from_duplicates, labelled_from_labels
from undust.reading.observations import table_of
from undust.rules.language import ANY_SITE
from undust.showing.report import (
    Material,
    PageBudget,
    Report,
    ShownRefusal,
    ShownRefusals,
    Texts,
    limits_for,
    overview,
    site_facts,
)
from undust.showing.report.limits import MOST_IN_FULL
from undust.showing.report.methods import methods_from

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from undust.learning import Outcome
    from undust.learning.single import MethodOutcome
    from undust.measuring import Evaluation, Labelled, RuleRow
    from undust.pages.clustering import Duplicates, SiteClusters
    from undust.rules import Rule, RuleSet


def report(  # noqa: PLR0913 -- one for each thing that a person may say
    rules: RuleSet | LearnResult,
    seen: Any,  # noqa: ANN401 -- any Arrow object
    path: str | PathLike[str] | None = None,
    *,
    site: str | None = None,
    compared: Mapping[str, Any] | None = None,
    refusals: Mapping[str, ShownRefusals] | None = None,
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
        keep_values: Show the values of dropped parameters, instead of `***`.
        threads: How many to use; the result is the same.

    """
    if isinstance(rules, LearnResult):
        refusals = refusals_of_result(rules) if refusals is None else refusals
        rules = rules.rules
    made = ReportInput(rules, seen, site, dict(refusals or {}), keep_values, threads).report(compared)
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

    @cached_property
    def duplicates(self) -> Duplicates:
        """The clusters of the sites that are shown."""
        found = find_duplicates(self.seen)
        if self.site is None:
            return found
        chosen = tuple(each for each in found if each.site == self.site)
        if not chosen:
            message = f"there is no site '{self.site}' in the input; `undust tree` shows which there are"
            raise UndustError(message)
        return type(found)(chosen, found.not_urls)

    @cached_property
    def _labelled(self) -> tuple[dict[str, Labelled], int]:
        table = table_of(self.seen)
        sites, unlabelled = (
            labelled_from_labels(table) if has_labels(table) else labelled_from_duplicates(self.duplicates)
        )
        shown = {found.site for found in self.duplicates}
        return {each.site: each for each in sites if each.site in shown}, unlabelled

    @property
    def labelled(self) -> dict[str, Labelled]:
        """The URLs whose page is known, by site."""
        return self._labelled[0]

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """What `evaluate` says; None where nothing tells which page a URL shows."""
        sites, unlabelled = self._labelled
        if not sites:
            return None
        return judge(self.rules, list(sites.values()), unlabelled, self.threads)

    @cached_property
    def _by_site(self) -> dict[str, list[Rule]]:
        found: dict[str, list[Rule]] = {}
        for rule in self.rules:
            found.setdefault(rule.site, []).append(rule)
        return found

    def rules_of(self, site: str) -> list[Rule]:
        """Return the rules that speak of a site, in the order in which they are applied."""
        for_all = [rule for rule in self._by_site.get(ANY_SITE, ()) if site not in rule.except_sites]
        return [*self._by_site.get(site, ()), *for_all]

    @cached_property
    def alone(self) -> dict[str, RuleRow]:
        """What each rule does without the others, by its id."""
        acting = [rule for rule in self.rules if rule.status == "active" and rule.kind != "keep"]
        rows = self.evaluation.rules if self.evaluation else ()
        return {rule.id: row for rule, row in zip(acting, rows, strict=False)}

    def material(self, found: SiteClusters) -> Material:
        """Return what the page takes its facts of a site from."""
        own = self.rules_of(found.site)
        measured = self.evaluation.sites.get(found.site) if self.evaluation else None
        return Material(
            site=found.site,
            clusters=found,
            labelled=self.labelled.get(found.site),
            rules=own,
            measures=measured,
            tree=tree_of(found),
            refusals=self.refusals.get(found.site),
            limits=limits_for(len(self.duplicates.sites)),
            texts=Texts.under(own, keep_values=self.keep_values),
            threads=self.threads,
        )

    def _glance(self, found: SiteClusters) -> tuple[Any, ...]:
        active = sum(rule.status == "active" for rule in self.rules_of(found.site))
        one = self.evaluation.sites.get(found.site) if self.evaluation else None
        if one is None:
            left = len(set(self._keys(found)))
            return found.site, len(found.urls), None, left, None, None, None, active
        return (
            *(found.site, one.urls, one.clusters, one.canonical_urls),
            *(one.removed, one.lost, one.lost_unlike, active),
        )

    def _keys(self, found: SiteClusters) -> list[str]:
        column = self.rules.compile().batch(found.urls.cast("string"), keys=True, threads=self.threads)
        return column.to_pylist()  # type: ignore[no-any-return]

    def report(self, compared: Mapping[str, Any] | None = None) -> Report:
        """Return the page."""
        evaluation, duplicates = self.evaluation, self.duplicates
        rows = overview(map(self._glance, duplicates))
        by_name = {found.site: found for found in duplicates}
        budget = PageBudget()
        for row in rows[:MOST_IN_FULL]:
            if not budget.take(site_facts(self.material(by_name[row[0]]), self.alone)):
                break
        there = {*by_name, ANY_SITE}
        return Report.of(
            name=self.rules.name,
            rows=rows,
            sites=budget.sites,
            evaluation=evaluation,
            summary=duplicates.summary,
            rules=list(self.rules),
            elsewhere=[rule for rule in self.rules if rule.site not in there],
            methods=None if compared is None else methods_from(compared),
            is_masked=not self.keep_values,
        )


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
