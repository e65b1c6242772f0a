"""What rules remove and lose, as more and more doubtful ones are allowed.

Rules are taken in the order of the bound on their false positives, surest first; each point is a whole
rule set, measured like any other. Behind the chosen point come the candidates that learning refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undust.rules import RuleSet
from undust.showing.report.limits import spread

if TYPE_CHECKING:
    from undust.measuring import Labelled
    from undust.rules import Rule
    from undust.showing.report.material import Material

_UNKNOWN = 1.0
"""The bound of a rule without a known bound."""


def curve(material: Material) -> list[dict[str, Any]]:
    """Return the points, each with its bound, its rules, and what they remove and lose."""
    labelled = material.labelled
    if labelled is None:
        return []
    acting = [rule for rule in material.active if rule.kind != "keep"]
    bounds = sorted({_bound(rule) for rule in acting})
    chosen = [bounds[at] for at in spread(len(bounds), material.limits.steps)]
    points = [_point(material, labelled, [], "none", None)]
    for bound in chosen:
        allowed = [rule for rule in material.active if rule.kind == "keep" or _bound(rule) <= bound]
        is_all = bound == bounds[-1]
        points.append(_point(material, labelled, allowed, "chosen" if is_all else "fewer", bound))
    if not acting:
        points[0]["kind"] = "chosen"
    return points + _beyond(material, labelled)


def _bound(rule: Rule) -> float:
    known = rule.fpr_upper if rule.fpr_upper is not None else rule.fpr
    return _UNKNOWN if known is None else known


def _beyond(material: Material, labelled: Labelled) -> list[dict[str, Any]]:
    """Return what came if refused candidates were taken as well, the least wrong first."""
    refused = [one for one in (material.refusals.found if material.refusals else ()) if one.lost]
    refused.sort(key=lambda one: (one.lost / (one.lost + one.pages), -one.pages, str(one.rule)))
    points = []
    for step in range(material.limits.steps // 2):
        if (count := 2**step) > len(refused):
            break
        taken = {one.rule.id: one.rule for one in refused[:count]}
        for rule in material.active:
            taken.pop(rule.id, None)
        points.append(_point(material, labelled, [*material.active, *taken.values()], "refused", None))
    return points


def _point(
    material: Material, labelled: Labelled, rules: list[Rule], kind: str, bound: float | None
) -> dict[str, Any]:
    found = labelled.measured(RuleSet(rules), material.threads)
    return {
        "kind": kind,
        "bound": bound,
        "rules": len(rules),
        "removed": found.removed,
        "removed_95": list(found.interval_of("removed")),
        "lost": found.lost,
        "lost_95": list(found.interval_of("lost")),
        "canonical_urls": found.canonical_urls,
        "lost_unlike": found.lost_unlike,
    }
