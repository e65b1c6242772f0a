"""What learning gave, of one site and of all: rules, what they do to the data, and what was not taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from undust.judging.checked import CheckedPages, checked_of_sites
from undust.learning.bounds import HeldPairs
from undust.learning.rule_evidence import masked
from undust.pages.totals import Totals
from undust.rules import RuleSet
from undust.rules.language import is_proposed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.learning.drift import Drift
    from undust.learning.refusals import RefusedRule
    from undust.rules import Rule


@dataclass(frozen=True)
class SiteRules:
    """What was learned of one site."""

    site: str
    rules: tuple[Rule, ...]
    """In the order in which they are applied, each with its evidence."""
    candidates: int
    rejected: Mapping[str, int]
    """Why candidates were not taken, and how many."""
    urls: int
    left: int
    """URLs that remain distinct under the rules."""
    pages: int
    lost: int
    """Pages under the form of another, near copies forgiven."""
    sampled: int = 0
    """URLs that were looked at, if not all."""
    refused: tuple[RefusedRule, ...] = ()
    """The weightiest of the candidates that were not taken."""
    held_pairs: int = 0
    """Pairs of URLs of held-out pages that the rules send to one form."""
    held_false: int = 0
    """… that show two pages."""
    restless: tuple[int, ...] = ()
    """Pages that are another one at every fetch, by their numbers in `Pages`."""
    checked: CheckedPages = field(default_factory=CheckedPages)
    """Pages that nothing was learned from, and what the rules do to them."""


@dataclass(frozen=True)
class Outcome:
    """The rules of each site with what was seen on the way."""

    sites: tuple[SiteRules, ...]
    keeps_values: bool = False
    """Whether examples show the values of parameters that are dropped."""
    has_evidence: bool = True
    """Whether the input has evidence of which URLs show one page."""
    across: tuple[Rule, ...] = ()
    """Rules for all sites."""
    before: RuleSet = field(default_factory=RuleSet)
    """The rules that were there before."""
    drift: Drift | None = None
    """What became of them, if they were proved again."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Sites that gave nothing for an error, each with the reason."""
    doubts: tuple[str, ...] = ()
    """What would be evidence and is not believed, by name, of the sites that have no other."""
    totals: Mapping[str, Totals] = field(default_factory=dict)
    """What becomes of the URLs of each site, counted as everywhere; by its own rules, unless `is_by_all`."""
    proposed: tuple[Rule, ...] = ()
    """Rules that are likely and unproven; those of most URLs of each site first."""
    is_by_all: bool = False
    """Whether `totals` count what the rules for all sites do as well."""

    @property
    def rules(self) -> RuleSet:
        """All rules, by site and then in the order in which they are applied; last those for all sites."""
        found: Iterable[Rule] = (*(rule for site in self.sites for rule in site.rules), *self.across)
        if self.drift is not None:
            found = (rule for _, rule in self.drift.fates)
        found = list(found)
        known = {rule.id for rule in found}
        found += [rule for rule in self.proposed if rule.id not in known]
        rules = self.before.with_rules(found if self.keeps_values else masked(found))
        return rules.with_check(self.checked.as_json() if self.checked.pages else None)

    @property
    def site_counts(self) -> tuple[int, int, int]:
        """How many sites there are, with how many URLs and pages to learn from."""
        urls, pages = (sum(getattr(site, name) for site in self.sites) for name in ("urls", "pages"))
        return len(self.sites), urls, pages

    @property
    def rejected(self) -> Counter[str]:
        """Why candidates were not taken, and how many."""
        total: Counter[str] = Counter()
        for site in self.sites:
            total.update(site.rejected)
        return total

    @property
    def checked(self) -> CheckedPages:
        """The pages of all sites that nothing was learned from, and what each site's own rules do to them."""
        return checked_of_sites(site.checked for site in self.sites)

    @property
    def held(self) -> HeldPairs:
        """The pairs of held-out pages of all sites that the rules send to one form."""
        return HeldPairs(
            *(sum(getattr(site, name) for site in self.sites) for name in ("held_pairs", "held_false"))
        )

    @property
    def all_totals(self) -> Totals:
        """The counts of all sites together."""
        return sum(self.totals.values(), Totals())

    @staticmethod
    def _counts(totals: Totals) -> dict[str, Any]:
        """Return counts by the names of `evaluate --json`."""
        return {
            "urls": totals.judged,
            "canonical_urls": totals.left,
            "clusters": totals.pages,
            "lost_pages": totals.merged_pages,
            "totals": totals.as_json(),
        }

    def by_site(self) -> dict[str, dict[str, Any]]:
        """Return the counts of each site, for machines."""
        proposed = Counter(rule.site for rule in self.proposed)
        return {
            site.site: {
                **self._counts(self.totals.get(site.site, Totals())),
                "rules": len(site.rules),
                "proposed": proposed[site.site],
                "candidates": site.candidates,
                "held_out_pairs": site.held_pairs,
                "held_out_false_pairs": site.held_false,
                "checked": site.checked.as_json(),
            }
            for site in self.sites
        }

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines."""
        rules = self.rules
        proposed = sum(map(is_proposed, rules))
        return {
            "sites": self.site_counts[0],
            **self._counts(self.all_totals),
            "held_out_pairs": self.held.pairs,
            "held_out_false_pairs": self.held.false,
            "fpr_upper": round(self.checked.upper, 6),
            "checked": self.checked.as_json(),
            "rules": len(rules) - proposed,
            "active": sum(rule.status == "active" for rule in rules),
            "proposed": proposed,
            "rules_for_all_sites": len(self.across),
            "candidates": sum(site.candidates for site in self.sites),
            "rejected": dict(sorted(self.rejected.items())),
            "sampled": {
                site.site: {"sampled": site.sampled, "urls": site.urls} for site in self.sites if site.sampled
            },
            "failed": dict(sorted(self.failed.items())),
        } | ({"drift": self.drift.as_json()} if self.drift else {})
