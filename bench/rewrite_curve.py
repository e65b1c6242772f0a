"""Fan-outs on sites of growing size: what a published fan-out of 10 means on a small site.

Rules are learned from half of the clusters of generated sites, with true labels, and applied to the other
half, as `rewrite_tables` splits them. A row is a size; removed and lost are means over kinds of sites, for
each fan-out and for the one that grows with the square root of the site (`rewrite.scaled`). The last
column counts only values of rules that the new rule covers (`rewrite.filter=covered`), scaled too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import undust
from bench.sites import site
from undust.measuring.counts import measure
from undust.proposing.papers import propose
from undust.rules import RuleSet

SIZES = (1_000, 4_000, 16_000)
WAYS: dict[str, dict[str, object]] = {
    "3": {"rewrite.fanout": 3},
    "5": {"rewrite.fanout": 5},
    "10": {"rewrite.fanout": 10},
    "30": {"rewrite.fanout": 30},
    "scaled": {"rewrite.scaled": True},
    "scaled, covered": {"rewrite.scaled": True, "rewrite.filter": "covered"},
}
CURVE_KINDS = ("forum", "shop", "wiki", "cms")
SEED = 8


def curve(sizes: tuple[int, ...] = SIZES) -> dict[str, dict[str, Any]]:
    """Return removed and lost on clusters that were not learned from, by size and fan-out."""
    found: dict[str, dict[str, Any]] = {}
    for urls in sizes:
        cells: dict[str, list[tuple[float, float]]] = {}
        for kind in CURVE_KINDS:
            truth = site(kind, urls, SEED).truth()
            rows = pa.table({"url": truth["url"], "cluster": truth["page"].cast(pa.string())})
            training, test = undust.find_duplicates(rows).sites[0].split(0.5, SEED, "test")
            nodes = np.flatnonzero(test.cluster_of_node >= 0)
            unseen, pages = test.node_urls.take(pa.array(nodes)), list(map(str, test.cluster_of_node[nodes]))
            for way, options in WAYS.items():
                rules = [each.rules for each in propose(training, ["rewrite"], options)["rewrite"].candidates]
                once = {rule.id: rule for several in rules for rule in several}
                keys = RuleSet(once.values()).compile().batch(unseen, keys=True)
                done = measure(pages, keys.to_pylist())
                cells.setdefault(way, []).append((done.removed, done.lost))
        found[f"{urls:,} URLs"] = {way: tuple(np.mean(each, axis=0).tolist()) for way, each in cells.items()}
    return found


def show_curve(rows: dict[str, dict[str, Any]]) -> None:
    """Print removed / lost in per cent."""
    print(f"fan-out, removed / lost in per cent{'':>3}" + "".join(f"{way:>18}" for way in WAYS))
    for name, row in rows.items():
        cells = (f"{100 * removed:.1f} / {100 * lost:.2f}" for removed, lost in row.values())
        print(f"{name:38}" + "".join(f"{cell:>18}" for cell in cells))
