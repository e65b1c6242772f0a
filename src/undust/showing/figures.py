"""The measures by the names that other tools rely on: `evaluate --json`, `compare --json`, the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from undust.measuring.judged import RuleRow
    from undust.measuring.measures import Measures

COUNTS = (
    "urls", "canonical_urls", "clusters", "support_pairs", "false_positive_pairs",
    "lost_pages", "lost_unlike", "removed_urls", "duplicate_clusters", "collapsed_clusters",
)  # fmt: skip
RATES = (
    "compression_rate", "duplicate_rate", "dup_reduction_rate", "coverage", "removed", "lost",
    "fpr", "url_fpr", "lost_content_rate", "cluster_reduction",
)  # fmt: skip
JUDGED = ("sensitivity", "specificity", "precision", "accuracy")


def figures(measures: Measures) -> dict[str, Any]:
    """Return counts, rates, and the intervals of the rates."""
    found: dict[str, Any] = {name: getattr(measures, name) for name in (*COUNTS, *RATES)}
    table = measures.contingency
    found |= {"reduction_ratio": measures.compression_rate}
    found |= {name: getattr(table, name) for name in JUDGED}
    return found | {"intervals": {name: list(ends) for name, ends in measures.intervals().items()}}


def figures_of_rule(row: RuleRow) -> dict[str, Any]:
    """Return what one rule, or one class of rules, does alone."""
    return {
        "name": row.name,
        "class": row.kind,
        "saved": row.saved,
        "removed_urls": row.saved,
        "lost_pages": row.lost,
        "fpr": row.measures.fpr,
    }
