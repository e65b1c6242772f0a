"""One site's clusters to its rules, and what many sites together say of sites never seen.

All evidence and all proposals; one small set that can be trusted.
"""

from undust.learning.across import SITES, proved_again_across, rules_across, wanted
from undust.learning.drift import Drift, is_off, merged, proved_again
from undust.learning.evidence import masked
from undust.learning.generic import Shown, shown_by
from undust.learning.loop import SiteRules, learn_site
from undust.learning.options import Care, care_from
from undust.learning.outcome import Outcome
from undust.learning.pages import Pages
from undust.learning.refusals import Refused
from undust.learning.state import State

__all__ = [
    "SITES",
    "Care",
    "Drift",
    "Outcome",
    "Pages",
    "Refused",
    "Shown",
    "SiteRules",
    "State",
    "care_from",
    "is_off",
    "learn_site",
    "masked",
    "merged",
    "proved_again",
    "proved_again_across",
    "rules_across",
    "shown_by",
    "wanted",
]
