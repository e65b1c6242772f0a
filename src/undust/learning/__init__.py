"""One site's clusters to its rules, and what many sites together say of sites never seen.

All evidence and all proposals; one small set that can be trusted.
"""

from undust.learning.across import SITES, proved_again_across, rules_across, wanted
from undust.learning.drift import Drift, is_off, merged, proved_again, proved_beside
from undust.learning.generic import SiteTally, shown_by
from undust.learning.loop import learn_site
from undust.learning.outcome import Outcome, RefusedRule, SiteRules
from undust.learning.rule_evidence import masked
from undust.learning.site_pages import Requirements, SitePages, requirements_from
from undust.learning.state import State

__all__ = [
    "SITES",
    "Drift",
    "Outcome",
    "RefusedRule",
    "Requirements",
    "SitePages",
    "SiteRules",
    "SiteTally",
    "State",
    "is_off",
    "learn_site",
    "masked",
    "merged",
    "proved_again",
    "proved_again_across",
    "proved_beside",
    "requirements_from",
    "rules_across",
    "shown_by",
    "wanted",
]
