"""The pattern tree beside rewrite rules, as the tables of Lei et al. (WWW 2010) show them.

    python -m bench.tree                       sites of 70,000 URLs: nodes, candidates, compression, seconds
    python -m bench.tree --noise               what mislabelled pages cost
    python -m bench.tree --scale               n to 4n, and beside the plain twin of the tests
    python -m bench.tree --urls 3000000 --sites forum --huge    memory of one site of three million URLs

Sites are generated with known truth, each of the size of a published training set, and the measures are
those on all of it: the paper tests on its training URLs too. Seconds are processor time.
"""

from __future__ import annotations

import argparse
import json
import resource
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bench.common import machine
from bench.sites import site
from tests.oracles import tree as oracle
from undust.duplicates import find_in_site
from undust.evaluation.measures import measure
from undust.learners import propose
from undust.observations import SCHEMA
from undust.rules import RuleSet
from undust.selection import select
from undust.tree import UrlColumns, grow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undust.candidates import Candidate
    from undust.duplicates import SiteClusters

KINDS = ("forum", "shop", "news", "wiki", "cms")
MAX_FPR = 0.05
NOISE = (0.0, 0.05, 0.1, 0.2)


def labelled(kind: str, urls: int, seed: int = 3) -> tuple[SiteClusters, pa.Table]:
    """Return a site with its clusters as they truly are, and the truth as a table."""
    truth = site(kind, urls, seed).truth()
    return clusters_of(truth.rename_columns(["url", "cluster"])), truth


def clusters_of(seen: pa.Table) -> SiteClusters:
    """Return the clusters of one site's observations."""
    missing = {name: pa.nulls(len(seen), SCHEMA.field(name).type) for name in SCHEMA.names}
    columns = {name: seen[name] for name in seen.column_names if name in missing}
    table = pa.table({**missing, **columns}).cast(SCHEMA)
    name = table["url"][0].as_py().split("/")[2].rpartition(".")
    return find_in_site(table, ".".join([name[0].rpartition(".")[2], name[2]]))


def judged(candidates: Iterable[Candidate], truth: pa.Table) -> dict[str, float]:
    """Return compression and fpr of the rules on URLs whose pages are known."""
    rules = {rule.id: rule for candidate in candidates for rule in candidate.rules}
    keys = RuleSet(rules.values()).compile().batch(truth["url"].combine_chunks(), keys=True)
    found = measure(truth["page"].to_pylist(), keys.to_pylist())
    return {
        "rules": len(rules),
        "compression_rate": round(found.compression_rate, 4),
        "dup_reduction_rate": round(found.dup_reduction_rate, 4),
        "fpr": round(found.fpr, 4),
        "lost": round(found.lost_content_rate, 4),
    }


def tree_rows(kind: str, clusters: SiteClusters, truth: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield what the tree does under each strategy."""
    for strategy in ("naive", "graph"):
        started = process_time()
        proposal = propose(clusters, ["tree"], {"tree.selection": strategy})["tree"]
        seconds = process_time() - started
        yield {
            "site": kind,
            "method": f"tree + {strategy}",
            "tree": proposal.notes[0],
            "raw": proposal.cut["raw candidates"],
            "qualified": proposal.cut["qualified candidates"],
            "deployed": len(proposal.candidates),
            "seconds": round(seconds, 1),
            **judged(proposal.candidates, truth),
        }


def rewrite_rows(kind: str, clusters: SiteClusters, truth: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield what rewrite rules do with the naive strategy, as the paper compares them."""
    for fanout in (5, 10):
        options = {"rewrite.fanout": fanout, "rewrite.max_fpr": MAX_FPR}
        started = process_time()
        proposal = propose(clusters, ["rewrite"], options)["rewrite"]
        seconds = process_time() - started
        false = proposal.cut.get("rules with too many false pairs", 0)
        chosen = select(proposal.candidates, clusters, "naive", MAX_FPR)
        yield {
            "site": kind,
            "method": f"rewrite {fanout} + naive",
            "raw": len(proposal.candidates) + false,
            "qualified": len(proposal.candidates),
            "deployed": len(chosen),
            "seconds": round(seconds, 1),
            **judged(chosen, truth),
        }


def noise_rows(kind: str, urls: int) -> Iterator[dict[str, Any]]:
    """Yield what is left of the rules when some labels are wrong, judged by the true ones.

    `glued`: so many pages have the label of another page, all their URLs. `moved`: so many URLs have.
    """
    truth = site(kind, urls, 3).truth()
    pages, page = np.unique(truth["page"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    for sort in ("glued", "moved"):
        for noise in NOISE:
            chance = np.random.default_rng(11)
            label = page.copy()
            if sort == "glued":
                other = chance.integers(0, len(pages), len(pages))
                is_wrong = chance.random(len(pages)) < noise
                label = np.where(is_wrong, other, np.arange(len(pages)))[page]
            else:
                is_wrong = chance.random(len(page)) < noise
                label[is_wrong] = chance.integers(0, len(pages), int(is_wrong.sum()))
            seen = pa.table({"url": truth["url"], "cluster": pa.array(pages[label])})
            clusters = clusters_of(seen)
            for said in sorted({0.0, noise if sort == "moved" else 0.0}):
                proposal = propose(clusters, ["tree"], {"tree.noise": said})["tree"]
                row = {"site": kind, "noise": sort, "share": noise, "said": said}
                yield row | {"deployed": len(proposal.candidates)} | judged(proposal.candidates, truth)


def scale_rows(kind: str) -> Iterator[dict[str, Any]]:
    """Yield the seconds for n and 4n URLs, and those of the plain twin of the tests.

    The twin grows the tree of all URLs; its candidates, which it compares pair by pair, are for small
    sites only: for 70,000 URLs they would take days.
    """
    for urls in (17_500, 70_000):
        clusters, _ = labelled(kind, urls)
        started = process_time()
        propose(clusters, ["tree"], {"tree.selection": "all"})
        yield {"site": kind, "urls": urls, "tree_seconds": round(process_time() - started, 2)}
    clusters, truth = labelled(kind, 70_000)
    ours = seconds_of(lambda: grow(UrlColumns.of(clusters.node_urls)))
    twin = seconds_of(lambda: oracle.build(truth["url"].to_pylist()))
    yield {"site": kind, "urls": 70_000, "algorithm": 1} | beside(ours, twin)
    for urls in (100, 200):
        clusters, truth = labelled(kind, urls)
        options = {"tree.selection": "all", "tree.singletons": True}
        ours = seconds_of(partial(propose, clusters, ["tree"], options))
        pages = dict(zip(truth["url"].to_pylist(), truth["page"].to_pylist(), strict=True))
        twin = seconds_of(partial(twin_candidates, pages))
        yield {"site": kind, "urls": urls, "algorithm": "1 to 3"} | beside(ours, twin)


def twin_candidates(pages: dict[str, str]) -> None:
    """Find raw candidates as the plain twin does."""
    for source, target in oracle.duplicate_nodes(oracle.build(list(pages)), pages):
        oracle.operations(source, target, pages)


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    started = process_time()
    work()
    return process_time() - started


def beside(ours: float, twin: float) -> dict[str, float]:
    """Return both times and their ratio."""
    return {"tree_seconds": round(ours, 2), "twin_seconds": round(twin, 2), "times": round(twin / ours, 1)}


def huge_row(kind: str, urls: int) -> dict[str, Any]:
    """Return the peak memory of learning one large site."""
    clusters, _ = labelled(kind, urls)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    started = process_time()
    proposal = propose(clusters, ["tree"])["tree"]
    return {
        "site": kind,
        "urls": urls,
        "seconds": round(process_time() - started, 1),
        "memory_before_bytes": before,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "notes": list(proposal.notes),
        "deployed": len(proposal.candidates),
    }


def main() -> None:
    """Run what was asked for and print a row at a time."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--urls", type=int, default=70_000)
    ask.add_argument("--sites", nargs="*", default=KINDS)
    ask.add_argument("--noise", action="store_true")
    ask.add_argument("--scale", action="store_true")
    ask.add_argument("--huge", action="store_true")
    ask.add_argument("--no-rewrite", action="store_true")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if not told.json:
        print(f"{machine()}\n", flush=True)
    for kind in told.sites:
        for row in rows_of(kind, told):
            text = (
                json.dumps(row) if told.json else "  ".join(f"{name} {value}" for name, value in row.items())
            )
            print(text, flush=True)


def rows_of(kind: str, told: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the rows of one kind of site."""
    if told.noise:
        yield from noise_rows(kind, told.urls)
    elif told.scale:
        yield from scale_rows(kind)
    elif told.huge:
        yield huge_row(kind, told.urls)
    else:
        clusters, truth = labelled(kind, told.urls)
        yield from tree_rows(kind, clusters, truth)
        if not told.no_rewrite:
            yield from rewrite_rows(kind, clusters, truth)


if __name__ == "__main__":
    main()
