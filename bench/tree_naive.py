"""Why the naive strategy leaves one rule of a tree: what it saves where rules high in the tree are left out.

    python -m bench.tree_naive [--sites forum shop] [--urls 12000] [--json]

The naive strategy lets the rule of a node win over those of all nodes below it. Here it chooses among the
candidates whose source has at least so many nodes with candidates above it: 0 are all candidates.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.common import machine
from bench.tree import MAX_FPR, as_text, judged, labelled
from undust.proposing.papers.selection import TrialUrls, deployable
from undust.proposing.papers.tree import TreeOptions, qualified, raw_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

ABOVE = (0, 1, 2, 4, 6, 8)


def rows(kind: str, urls: int) -> Iterator[dict[str, Any]]:
    """Yield what the naive strategy deploys of the candidates below so many others."""
    site, truth = labelled(kind, urls)
    candidates, graph = qualified(*raw_candidates(site, TreeOptions(min_pages=1)))
    measured = TrialUrls(site)
    for least in ABOVE:
        kept = [number for number, edge in enumerate(graph.edges) if len(graph.above[edge.source]) >= least]
        some = replace(graph, edges=[graph.edges[number] for number in kept])
        chosen = deployable([candidates[number] for number in kept], some, measured, "naive", MAX_FPR)
        row = {"site": kind, "above": least, "candidates": len(kept), "deployed": len(chosen)}
        yield row | judged(chosen, truth)


def main() -> None:
    """Print a row at a time."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--urls", type=int, default=12_000)
    ask.add_argument("--sites", nargs="*", default=["forum", "shop"])
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if not told.json:
        print(f"{machine()}\n", flush=True)
    for kind in told.sites:
        for row in rows(kind, told.urls):
            print(as_text(row, as_json=told.json), flush=True)


if __name__ == "__main__":
    main()
