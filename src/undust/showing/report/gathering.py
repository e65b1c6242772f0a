"""The facts of the page as one JSON value: the whole, the sites at a glance, and some sites in full."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.measuring.measures import share
from undust.rules import RuleSet
from undust.showing.figures import figures
from undust.showing.report.curve import curve
from undust.showing.report.fetches import fetches
from undust.showing.report.limits import PAGE_BYTES, spread
from undust.showing.report.rule_facts import told_refusals, told_rules
from undust.showing.report.schemes import scheme
from undust.showing.report.unexplained import unexplained

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.measuring import RuleRow
    from undust.pages.totals import Totals
    from undust.showing.report.material import Material

OVERVIEW = (
    *("site", "seen", "judged", "pages", "removed_by_normalization", "removed_by_rules"),
    *("removed", "lost", "rules"),
)  # fmt: skip
"""The columns of a site at a glance."""


def site_facts(material: Material, alone: Mapping[str, RuleRow]) -> dict[str, Any]:
    """Return everything that the page says of one site."""
    measures = material.measures
    return {
        "site": material.site,
        "seen": material.totals.seen,
        "totals": material.totals.as_json(),
        "figures": None if measures is None else figures(measures),
        "active": len(material.active),
        "rule_count": len(material.rules),
        "rules": told_rules(material, alone),
        "tree": None
        if material.tree is None
        else scheme(material.tree, material.limits.branches, material.texts),
        "refused": told_refusals(material),
        "unexplained": unexplained(material),
        "distrusted": _distrusted(material),
        "evidence": _evidence(material),
        "fetches": fetches(material),
        "curve": curve(material),
        "urls": _urls(material),
    }


def _distrusted(material: Material) -> dict[str, Any]:
    found = sorted(material.clusters.found, key=lambda one: (-one.urls, one.kind, one.about, one.why))
    shown = []
    for one in found[: material.limits.groups]:
        texts = material.texts
        examples = [" → ".join(map(texts.url, example.split(" → "))) for example in one.examples]
        shown.append(asdict(one) | {"about": texts.url(one.about), "examples": examples})
    return {"groups": len(found), "urls": sum(one.urls for one in found), "shown": shown}


def _evidence(material: Material) -> list[list[Any]]:
    counts: dict[str, int] = {}
    column = material.clusters.evidence.drop_null().value_counts()
    for entry in column.to_pylist():
        for kind in entry["values"].split("+"):
            counts[kind] = counts.get(kind, 0) + entry["counts"]
    return [[kind, count] for kind, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _urls(material: Material) -> list[list[Any]]:
    """Return a sample of the URLs, each with its key; 0 where that is the URL itself."""
    urls = material.clusters.urls
    chosen = urls.take(pa.array(spread(len(urls), material.limits.urls), pa.int64()))
    keys = RuleSet(material.rules).compile().batch(chosen.cast(pa.string()), keys=True)
    pairs = zip(chosen.to_pylist(), keys.to_pylist(), strict=True)
    texts = material.texts
    return [[texts.url(url), 0 if key == url else texts.url(key)] for url, key in pairs]


def glance(site: str, totals: Totals, active: int) -> tuple[Any, ...]:
    """Return one site at a glance; where nothing could be judged, how many forms of URL are fewer."""
    if totals.judged:
        removed = totals.removed_by_normalization, totals.removed_by_rules
        rates = share(totals.removed, totals.duplicates), share(totals.lost, totals.pages)
        return site, totals.seen, totals.judged, totals.pages, *removed, *rates, active
    fewer = totals.seen - totals.seen_normalized, totals.seen_normalized - totals.seen_left
    return site, totals.seen, 0, None, *fewer, None, None, active


def overview(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """Return the sites at a glance, those with most removed URLs first."""
    return [list(row) for row in sorted(rows, key=lambda row: (-(row[4] + row[5]), row[0]))]


class PageBudget:
    """How many bytes of sites the page can still take; the first one always fits."""

    def __init__(self, most: int = PAGE_BYTES) -> None:
        self.left = most
        self.sites: dict[str, dict[str, Any]] = {}

    def take(self, facts: dict[str, Any]) -> bool:
        """Add a site, or say that there is no room for it."""
        size = len(json.dumps(facts))
        if self.sites and size > self.left:
            return False
        self.left -= size
        self.sites[facts["site"]] = facts
        return True
