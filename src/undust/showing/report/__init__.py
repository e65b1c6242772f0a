"""The page that a person reads before rules are deployed: facts of rules and URLs in, one file out."""

from undust.showing.report.gathering import PageBudget, glance, overview, site_facts
from undust.showing.report.limits import Limits, limits_for
from undust.showing.report.material import Material, ShownRefusal, ShownRefusals
from undust.showing.report.page import Report
from undust.showing.report.texts import Texts

__all__ = [
    "Limits",
    "Material",
    "PageBudget",
    "Report",
    "ShownRefusal",
    "ShownRefusals",
    "Texts",
    "glance",
    "limits_for",
    "overview",
    "site_facts",
]
