"""The smaller sections of the page: the curve, the fetches, the URL scheme, and methods compared.

The curve is what rules remove and lose, as more and more doubtful ones are allowed. Rules are taken in the
order of the bound on their false positives, surest first; each point is a whole rule set, measured like any
other. After the chosen point come the candidates that learning refused.

The fetches show how alike two sightings of one page are on a site, what changes between them, and real
examples. The URL scheme is cut to as many branches as a page carries. The methods come from what
`undust compare --json` printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from undust.errors import UndustError
from undust.pages.clustering.near_copies import (
    FETCHED_TWICE,
    NUMBERS_FEATURE,
    ORDER_FEATURE,
    TITLE_FEATURE,
    TWO_PAGES,
    WORDS_FEATURE,
    PairSample,
    block_changes,
    samples,
)
from undust.rules import RuleSet
from undust.showing.report.material import spread
from undust.showing.tree import condensed, main_origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undust.measuring import Labelled
    from undust.rules import Rule
    from undust.showing.report.material import Material, Texts
    from undust.showing.tree import Condensed, SiteTree

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


FETCH_EXAMPLES = 3


def fetches(material: Material) -> dict[str, Any] | None:
    """Return how pages differ from themselves; None where the input does not have the blocks of pages."""
    clusters = material.clusters
    if not clusters.evidence_of_pairs.has_blocks:
        return None
    left, right = clusters.pairs_in_clusters()
    together = left[left > right], right[left > right]
    found = list(samples(clusters.evidence_of_pairs, together, clusters.cluster_of_node))
    same = [sample for sample in found if sample.kind != TWO_PAGES]
    return {
        "fetched_twice": next((len(sample) for sample in same if sample.kind == FETCHED_TWICE), 0),
        "rows": [_row_fetches(sample) for sample in found],
        "examples": _examples(material, same),
    }


def _row_fetches(sample: PairSample) -> dict[str, Any]:
    return {
        "kind": sample.kind,
        "pairs": len(sample),
        "words": sample.median_words,
        "equal": sample.equal,
        "numbers": sample.differing(NUMBERS_FEATURE),
        "blocks": sample.differing(WORDS_FEATURE),
        "order": sample.differing(ORDER_FEATURE),
        "title": sample.differing(TITLE_FEATURE),
    }


def _examples(material: Material, same: list[PairSample]) -> list[dict[str, Any]]:
    """Return pairs that changed, of the surest witness that has any: the median ones by shared words."""
    for sample in same:
        changed = np.flatnonzero((sample.features[:, : TITLE_FEATURE + 1] < 1).any(axis=1))
        if len(changed):
            order = changed[np.argsort(sample.features[changed, WORDS_FEATURE], kind="stable")]
            places = np.linspace(0, len(order) - 1, min(len(order), FETCH_EXAMPLES)).astype(np.int64)
            return [_example(material, sample, int(at)) for at in order[places]]
    return []


def _example(material: Material, sample: PairSample, at: int) -> dict[str, Any]:
    evidence, texts = material.clusters.evidence_of_pairs, material.texts
    left, right = int(sample.left[at]), int(sample.right[at])
    changes = block_changes(evidence, left, right)
    rows = (left,) if sample.kind == FETCHED_TWICE else (left, right)
    return {
        "kind": sample.kind,
        "urls": [texts.url(str(material.clusters.node_urls[row])) for row in rows],
        "words": float(sample.features[at, WORDS_FEATURE]),
        "shared": changes.shared,
        "numbers": changes.numbers,
        "gone": changes.only_left,
        "new": changes.only_right,
    }


SMALLEST_SHARE = 0.0002


def scheme(tree: SiteTree, most: int, texts: Texts) -> dict[str, Any]:
    """Return the largest branches; what is smaller is folded into the branch above, and counted."""
    if tree.root is None:
        return {"urls": tree.urls, "unusual": tree.unusual, "root": None, "branches": 0}
    share = SMALLEST_SHARE
    shown = condensed(tree.root, share)
    while _size(shown) > most:
        share *= 2
        shown = condensed(tree.root, share)
    forms = sum(not branch.children for branch in tree.root.walk())
    return {
        "urls": tree.urls,
        "unusual": tree.unusual,
        "forms": forms,
        "origin": main_origin(tree.root),
        "branches": _size(shown),
        "root": _branch(shown, texts),
    }


def _size(shown: Condensed) -> int:
    return 1 + sum(map(_size, shown.children))


def _branch(shown: Condensed, texts: Texts) -> dict[str, Any]:
    branch = shown.branch
    return {
        "pattern": texts.url(branch.pattern),
        "urls": branch.urls,
        "duplicates": None if branch.duplicate_rate is None else round(branch.duplicate_rate, 4),
        "example": texts.url(branch.example),
        "folded": shown.folded,
        "children": [_branch(child, texts) for child in shown.children],
    }


NEEDED = ("method", "removed", "lost", "fpr", "rules", "seconds", "intervals")


def methods_from(compared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows that the page shows, or report what is wrong with the data."""
    rows = compared.get("rows")
    if not isinstance(rows, list) or not rows or not all(map(_is_row, rows)):
        message = "the data to compare has no rows of methods; give what `undust compare --json` printed"
        raise UndustError(message)
    return {
        "sites": compared.get("sites"),
        "train_urls": compared.get("train_urls"),
        "test_urls": compared.get("test_urls"),
        "test_pages": compared.get("test_pages"),
        "rows": [_row_methods(row) for row in rows],
    }


def _is_row(row: Any) -> bool:  # noqa: ANN401 -- any JSON value
    if not isinstance(row, dict) or not set(NEEDED) <= set(row) or not isinstance(row["method"], str):
        return False
    intervals = row["intervals"]
    figures = [row[name] for name in ("removed", "lost", "fpr", "rules", "seconds")]
    return (
        isinstance(intervals, dict)
        and all(
            isinstance(bounds := intervals.get(name), list)
            and len(bounds) == len(("lower", "upper"))
            and all(map(_is_number, bounds))
            for name in ("removed", "lost")
        )
        and all(figure is None or _is_number(figure) for figure in figures)
    )


def _is_number(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, int | float) and not isinstance(value, bool)


def _row_methods(row: Mapping[str, Any]) -> dict[str, Any]:
    said = {
        name: row.get(name) for name in ("method", "max_fpr", "removed", "lost", "fpr", "rules", "seconds")
    }
    return said | {
        "removed_95": list(row["intervals"]["removed"]),
        "lost_95": list(row["intervals"]["lost"]),
    }
