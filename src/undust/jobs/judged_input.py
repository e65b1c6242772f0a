"""The input of a page about rules: its URLs, what is known of their pages, and what rules do to them.

Nothing here is worked out twice: switching one rule of a hundred sites measures one site again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError
from undust.jobs.find_duplicates import find_duplicates, tree_of
from undust.measuring import Alone, Measures, totals_of
from undust.measuring.counts import lost_by_image
from undust.measuring.judged import has_labels, labelled_from_duplicates, labelled_from_labels
from undust.measuring.targets import with_targets
from undust.reading.observations import table_of
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from undust.measuring import Labelled, RuleRow
    from undust.pages.clustering import Duplicates, SiteClusters
    from undust.pages.totals import Totals
    from undust.rules import Rule
    from undust.showing.tree import SiteTree


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
