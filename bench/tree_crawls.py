"""The experiment of Lei et al. on real sites: which suspect turns their order of methods around.

    python -m bench.tree_crawls                    tables 3 and 4 on the crawls, then each suspect by itself
    python -m bench.tree_crawls --folders mirrors  on other real sites
    python -m bench.tree_crawls --suspects order   only the suspects whose names have that word, no tables

As published: all labelled URLs of a site are learned from and judged on, compression and fpr are those of the
deployed rules, and no page is held out. Real sites are not part of the repository; `UNDUST_DATA` names
their folder. A line is a mean over sites.
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.common import machine
from bench.quality import real
from bench.tree import AS_PUBLISHED, MAX_FPR, clusters_of, judged
from undust.proposing.papers import propose
from undust.proposing.papers.selection import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from undust.judging.verdict import Candidate
    from undust.pages.clustering import SiteClusters

    Site = tuple[str, SiteClusters, pa.Table]

PUBLISHED_TREE: Mapping[str, object] = {
    "tree.min_overlap": 0.5,
    "tree.least": 1 << 30,
    "tree.salience": "site",
}
"""What the paper prints; the least support of a value is then the square root of the number of URLs."""
SUSPECTS: Mapping[str, Mapping[str, object]] = {
    "as it is": {},
    "published: o_min 0.5, least √n": PUBLISHED_TREE,
    "29 pages show a candidate": {"tree.min_pages": 29},
    "salience of the node": {"tree.salience": "node"},
    "salience of the site": {"tree.salience": "site"},
    "learned from a sample of 2,000 URLs": {"tree.max_urls": 2_000},
    "least √n": {"tree.least": 1 << 30},
    "least 3": {"tree.least": 3},
    "o_min 0.5": {"tree.min_overlap": 0.5},
    "o_min 0.1": {"tree.min_overlap": 0.1},
    "sigma_min 0.2": {"tree.min_common": 0.2},
    "sigma_min 0.8": {"tree.min_common": 0.8},
    "sigma: a share of the target's values": {"tree.common": "target"},
    "disagreement 0.2": {"tree.max_disagreement": 0.2},
    "fpr_max 0.2": {"tree.max_fpr": 0.2},
    "singletons in the tree": {"tree.singletons": True},
    "all qualified, no selection": {"tree.selection": "all"},
    "residual walk": {"tree.residual": True},
}
"""Each of them changed alone, the rest as it is; but no number of pages must show a candidate."""
ORDERS: Mapping[str, Callable[[Sequence[Candidate]], Sequence[Candidate]]] = {
    "order of application reversed": lambda chosen: chosen[::-1],
    "order of application by URLs": lambda chosen: sorted(chosen, key=lambda each: -each.support),
}
"""The same rules, deployed one after the other in another order."""
POPULATIONS = ("all URLs", "no page with one URL", "half of each page's URLs", "pages of 2 to 4 URLs")
"""The same sites without what the paper's data did not have, and with less of each page."""


def labelled_sites(folders: list[str]) -> Iterator[Site]:
    """Yield the real sites with their labels as clusters."""
    for case in real(folders):
        seen = case.labels.filter(pc.match_substring_regex(case.labels["url"], "^https?://[^/]+/"))
        yield case.name, clusters_of(seen), seen.rename_columns(["url", "page"])


def part_of(site: Site, population: str) -> Site:
    """Return some of a site's URLs, with their labels."""
    name, _, truth = site
    _, page = np.unique(truth["page"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    sizes = np.bincount(page)[page]
    if population == "no page with one URL":
        chosen = sizes > 1
    elif population == "half of each page's URLs":
        order = np.lexsort((np.random.default_rng(1).random(len(page)), page))
        starts = np.concatenate(([0], np.cumsum(np.bincount(page))))
        place = np.empty(len(page), np.int64)
        place[order] = np.arange(len(page)) - starts[page[order]]
        chosen = place < np.maximum(1, sizes // 2)
    elif population == "pages of 2 to 4 URLs":
        chosen = (sizes > 1) & (sizes < 5)  # noqa: PLR2004 -- as the name says; the paper's mean is 3.8
    else:
        return site
    some = truth.filter(pa.array(chosen))
    return name, clusters_of(some.rename_columns(["url", "cluster"])), some


def by_tree(
    site: Site,
    options: Mapping[str, object],
    order: Callable[[Sequence[Candidate]], Sequence[Candidate]] = tuple,
) -> dict[str, Any]:
    """Return what the rules of the tree, in an order, do to the URLs they were learned from."""
    _, clusters, truth = site
    started = process_time()
    proposal = propose(clusters, ["tree"], {**AS_PUBLISHED, **options})["tree"]
    counts = {"raw": proposal.cut["raw candidates"], "qualified": proposal.cut["qualified candidates"]}
    counts["deployed"] = len(proposal.candidates)
    return counts | {"seconds": process_time() - started} | judged(order(proposal.candidates), truth)


def by_rewriting(site: Site, fanout: int) -> dict[str, Any]:
    """Return the same for rewrite rules with the naive strategy."""
    _, clusters, truth = site
    started = process_time()
    options = {"rewrite.fanout": fanout, "rewrite.max_fpr": MAX_FPR}
    proposal = propose(clusters, ["rewrite"], options)["rewrite"]
    raw = len(proposal.candidates) + proposal.cut.get("rules with too many false pairs", 0)
    chosen = select(proposal.candidates, clusters, "naive", MAX_FPR)
    counts = {"raw": raw, "qualified": len(proposal.candidates), "deployed": len(chosen)}
    return counts | {"seconds": process_time() - started} | judged(chosen, truth)


def methods(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of table 4 for one site."""
    yield "tree + naive", by_tree(site, {"tree.selection": "naive"})
    yield "tree + graph", by_tree(site, {})
    yield "rewrite 5 + naive", by_rewriting(site, 5)
    yield "rewrite 10 + naive", by_rewriting(site, 10)


def mean(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean over sites of every figure."""
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def main() -> None:
    """Print a table for each population, then the suspects."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--folders", nargs="*", default=["crawls"])
    ask.add_argument("--sites", nargs="*", help="only these")
    ask.add_argument("--suspects", default="", help="only those whose names have this word")
    told = ask.parse_args()
    sites = [site for site in labelled_sites(told.folders) if not told.sites or site[0] in told.sites]
    if not sites:
        print("there are no real sites here; UNDUST_DATA names their folder")
        return
    print(f"{machine()}; {len(sites)} sites: {', '.join(name for name, _, _ in sites)}\n", flush=True)
    for population in () if told.suspects else POPULATIONS:
        found: dict[str, list[dict[str, Any]]] = {}
        for site in sites:
            for method, row in methods(part_of(site, population)):
                found.setdefault(f"{population}, {method}", []).append(row)
        for line, rows in found.items():
            show(line, mean(rows))
    for suspect in (name for name in (*SUSPECTS, *ORDERS) if told.suspects in name):
        options, order = SUSPECTS.get(suspect, {}), ORDERS.get(suspect, tuple)
        show(f"tree + graph, {suspect}", mean([by_tree(site, options, order) for site in sites]))


def show(line: str, row: dict[str, float]) -> None:
    """Print the means of one line."""
    counts = f"raw {row['raw']:7,.0f}  qualified {row['qualified']:6,.0f}  deployed {row['deployed']:5,.0f}"
    rates = f"compression {row['compression_rate']:6.1%}  fpr {row['fpr']:6.2%}  lost {row['lost']:6.2%}"
    print(f"{line:55} {counts}  {rates}  {row['seconds']:5.1f} s", flush=True)


if __name__ == "__main__":
    main()
