"""The page that a person reads before rules are deployed: facts of rules and URLs in, one file out."""

from undust.showing.report.material import Limits, Material, ShownRefusal, ShownRefusals, Texts, limits_for
from undust.showing.report.page import PageBudget, Report, glance, overview, site_facts
from undust.showing.report.rule_facts import RuleTrials

__all__ = [
    "Limits",
    "Material",
    "PageBudget",
    "Report",
    "RuleTrials",
    "ShownRefusal",
    "ShownRefusals",
    "Texts",
    "glance",
    "limits_for",
    "overview",
    "site_facts",
]
