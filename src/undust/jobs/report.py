"""Rules and what they were learned from, to the page that a person reads.

`Input` has the URLs, what is known of their pages, and what rules do to them. Nothing is worked out twice:
switching one rule of a hundred sites measures one site again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError
from undust.jobs.find_duplicates import find_duplicates, tree_of
from undust.measuring import Alone, Measures, totals_of
from undust.measuring.counts import lost_by_image, savings
from undust.measuring.judged import (
    has_labels,
    labelled_from_duplicates,
    labelled_from_labels,
    require_overlap,
)
from undust.measuring.targets import with_targets
from undust.privacy.masking import Masks
from undust.reading.observations import table_of
from undust.rules import RuleSet
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
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    import pyarrow as pa

    from undust.jobs.learn_result import LearnResult
    from undust.measuring import Labelled, RuleRow
    from undust.pages.clustering import Duplicates, SiteClusters
    from undust.rules import Rule
    from undust.showing.tree import SiteTree
    from undust.statistics import Totals


_MOST_TRIED = 1_000_000
"""URLs times rules up to which each rule is switched off for a trial."""


class Input:
    """Observations of some sites, or of one, and what was asked about them before."""

    def __init__(self, seen: Any, site: str | None, threads: int) -> None:  # noqa: ANN401 -- any Arrow object
        self.seen = seen
        self.site = site
        self.threads = threads
        self._measured: dict[tuple[str, str], Measures] = {}
        self._totals: dict[tuple[str, str], Totals] = {}
        self._trees: dict[str, SiteTree] = {}
        self._alone: dict[tuple[str, str], RuleRow] = {}
        self._leading: dict[str, dict[str, Rule]] = {}
        self._lost: dict[tuple[str, str], int] = {}

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
    def has_labels(self) -> bool:
        """Whether a person's labels show which page a URL shows."""
        return has_labels(table_of(self.seen))

    @cached_property
    def labelled(self) -> tuple[dict[str, Labelled], int]:
        """The URLs whose page is known, by site, and how many others there are."""
        sites, unlabelled = (
            labelled_from_labels(table_of(self.seen))
            if self.has_labels
            else labelled_from_duplicates(self.duplicates)
        )
        return {each.site: each for each in sites if each.site in self.urls}, unlabelled

    @cached_property
    def urls(self) -> dict[str, pa.Array]:
        """All URLs, by site."""
        return {found.site: found.urls for found in self.duplicates}

    def tree_of(self, found: SiteClusters) -> SiteTree:
        """Return the URL scheme of a site."""
        if found.site not in self._trees:
            self._trees[found.site] = tree_of(found)
        return self._trees[found.site]

    def measured(self, site: str, rules: Sequence[Rule]) -> Measures | None:
        """Return what rules do to the URLs of a site; None if its pages are not known."""
        labelled = self.labelled[0].get(site)
        if labelled is None:
            return None
        key = site, _switches(rules)
        if key not in self._measured:
            self._measured[key] = labelled.measured(RuleSet(rules), self.threads)
        return self._measured[key]

    def all_measured(self, rules_of: Callable[[str], Sequence[Rule]]) -> Measures | None:
        """Return what the rules of each site do to all sites together; None if no pages are known."""
        found = [self.measured(site, rules_of(site)) for site in sorted(self.labelled[0])]
        return sum(filter(None, found), Measures()) if found else None

    def totals_of(self, site: str, rules: Sequence[Rule]) -> Totals:
        """Return the counts of a site under rules."""
        key = site, _switches(rules)
        if key not in self._totals:
            measured = self.measured(site, ()), self.measured(site, rules)
            labelled = self.labelled[0].get(site)
            self._totals[key] = totals_of(self.urls[site], labelled, RuleSet(rules), self.threads, measured)
        return self._totals[key]

    def alone(self, site: str, rules: Sequence[Rule]) -> dict[str, RuleRow]:
        """Return by id what each rule that is switched on does on a site without the others."""
        labelled = self.labelled[0].get(site)
        if labelled is None:
            return {}
        active = [rule for rule in rules if rule.status == "active"]
        keeps = _switches([rule for rule in active if rule.kind == "keep"])
        judge = Alone(active, [labelled], self.threads)
        rows = {}
        for rule in judge.acting:
            key = f"{site} {rule.id}", keeps
            if key not in self._alone:
                self._alone[key] = judge.rule(rule)
            rows[rule.id] = self._alone[key]
        return rows

    def leading(self, found: SiteClusters, rules: Sequence[Rule]) -> dict[str, Rule]:
        """Return by id the rules whose file does not say where they lead, with where they lead here."""
        if found.site not in self._leading:
            unknown = {rule.id for rule in rules if rule.targets is None and rule.kind != "keep"}
            led = with_targets(found, rules) if unknown else ()
            self._leading[found.site] = {rule.id: rule for rule in led if rule.id in unknown and rule.targets}
        return self._leading[found.site]

    def lost_without(self, site: str, rules: Sequence[Rule]) -> dict[str, int]:
        """Return by id how many more pages are lost if one rule is switched off, below 0 if fewer.

        Nothing where that would take too long.
        """
        labelled = self.labelled[0].get(site)
        active = [rule for rule in rules if rule.status == "active"]
        if labelled is None or len(active) * len(labelled.pages) > _MOST_TRIED:
            return {}
        lost = self._lost_by(labelled, active)
        return {
            rule.id: self._lost_by(labelled, [each for each in active if each is not rule]) - lost
            for rule in active
            if rule.kind != "keep"
        }

    def _lost_by(self, labelled: Labelled, rules: Sequence[Rule]) -> int:
        key = labelled.site, _switches(rules)
        if key not in self._lost:
            images = RuleSet(rules).compile().batch(labelled.urls, keys=True, threads=self.threads)
            self._lost[key] = sum(map(len, lost_by_image(labelled.known, images)))
        return self._lost[key]


def _switches(rules: Sequence[Rule]) -> str:
    """Return what identifies a rule set: the rules that are switched on, in their order."""
    return " ".join(rule.id for rule in rules if rule.status == "active")


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
    if not isinstance(rules, RuleSet):
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
