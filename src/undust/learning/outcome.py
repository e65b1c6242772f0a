"""What learning gave over all sites: the rules, what they do to the data, and what was not taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undust.learning.evidence import masked
from undust.rules import RuleSet

if TYPE_CHECKING:
    from undust.learning.loop import SiteRules


@dataclass(frozen=True)
class Outcome:
    """The rules of each site with what was seen on the way."""

    sites: tuple[SiteRules, ...]
    keeps_values: bool = False
    """Whether examples show the values of parameters that are dropped."""
    has_evidence: bool = True
    """Whether anything in the input tells which URLs show one page."""

    @property
    def rules(self) -> RuleSet:
        """All rules, by site and then in the order in which they are applied."""
        found = (rule for site in self.sites for rule in site.rules)
        return RuleSet(found if self.keeps_values else map(masked, found))

    @property
    def rejected(self) -> Counter[str]:
        """Why candidates were not taken, and how many."""
        total: Counter[str] = Counter()
        for site in self.sites:
            total.update(site.rejected)
        return total

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines."""
        return {
            "sites": len(self.sites),
            "urls": sum(site.urls for site in self.sites),
            "canonical_urls": sum(site.left for site in self.sites),
            "clusters": sum(site.pages for site in self.sites),
            "lost_pages": sum(site.lost for site in self.sites),
            "rules": sum(len(site.rules) for site in self.sites),
            "candidates": sum(site.candidates for site in self.sites),
            "rejected": dict(sorted(self.rejected.items())),
            "sampled": {site.site: site.sampled for site in self.sites if site.sampled},
        }
