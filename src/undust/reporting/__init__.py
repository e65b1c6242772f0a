"""The page that a person reads before rules are deployed: facts of rules and URLs in, one file out."""

from undust.reporting.gathering import Budget, overview, site_facts
from undust.reporting.limits import Limits, limits_for
from undust.reporting.material import Material, Refusal, Refusals
from undust.reporting.page import Report
from undust.reporting.texts import Texts

__all__ = [
    "Budget",
    "Limits",
    "Material",
    "Refusal",
    "Refusals",
    "Report",
    "Texts",
    "limits_for",
    "overview",
    "site_facts",
]
