"""The substring learner: the paper's tables on generated sites, speed beside its twin, a million URLs.

    python -m bench.substring                       70,000 URLs beside the twin and beside a quarter of them
    python -m bench.substring --growth              70,000 URLs beside a quarter, on every kind of site
    python -m bench.substring --tables              the tables of the paper, on four sites of its sizes
    python -m bench.substring --logs                precision@k on the real logs that a crawl can judge
    python -m bench.substring --million             1,000,000 URLs of one site; time, memory and disk

The twin is the plain Python of the paper's figures in tests/oracles. It is measured on sizes that it can
finish, and its time on 70,000 URLs is what its measured growth makes of that. All times are of the processor.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import undust
from bench.common import ROOT, machine
from bench.sites import KINDS
from bench.sites import site as generated
from bench.substring_logs import precision
from bench.substring_tables import beside, tables
from undust.engines.spool import bytes_of
from undust.judging.verdict import Resources, options_from
from undust.proposing.papers.substring import SubstringOptions, cues_of, likely_pairs, propose_substrings
from undust.urls.views import TokenView

sys.path.insert(0, str(ROOT))
from tests.oracles import substring as twin

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.substring import LikelyPairs

SIZES_OF_TWIN = (1_000, 4_000)
ROUNDS = 9
BYTES_IN_KIB = 1024


def clusters(kind: str, urls: int) -> SiteClusters:
    """Return a generated site as the learner sees it."""
    return undust.find_duplicates(generated(kind, urls=urls, seed=1).observations()).sites[0]


def records(site: SiteClusters) -> list[twin.Record]:
    """Return the same site as the twin sees it."""
    found = []
    for node in np.flatnonzero(site.cluster_of_node >= 0).tolist():
        speaker = int(site.speakers[node])
        row, known, sizes = int(site.sketch_row[speaker]), site.known[speaker], int(site.size_max[speaker])
        found.append(
            twin.Record(
                url=site.node_urls[node].as_py(),
                page=int(site.cluster_of_node[node]),
                sketch=tuple(site.sketches[row].tolist()) if known and row >= 0 else None,
                digest=str(site.digest[speaker]) if known and site.digest[speaker] >= 0 else None,
                sizes=(int(site.size_min[speaker]), sizes) if sizes >= 0 else None,
            )
        )
    return found


def twins_work(rows: list[twin.Record]) -> None:
    """Do what the learner does, as the figures print it."""
    low, high = twin.supports(rows, style="triplets")
    twin.eliminate(twin.ranked(low, 3), high)
    twin.parameters(rows)


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    started = time.process_time()
    work()
    return time.process_time() - started


def counted(site: SiteClusters, options: SubstringOptions) -> tuple[LikelyPairs, int]:
    """Return what phases 1 and 2 find, and in how many URLs."""
    nodes = np.flatnonzero(site.cluster_of_node >= 0)
    view = TokenView.of(site.node_urls.take(pa.array(nodes)))
    return likely_pairs(view, cues_of(site, nodes, "auto", 0.0), options), len(nodes)


def growth_of_work(quarter: SiteClusters, whole: SiteClusters) -> dict[str, float]:
    """Return by how much there is more to do: what is compared and found need not grow with the URLs."""
    (less, fewer), (more, urls) = (counted(site, SubstringOptions()) for site in (quarter, whole))
    return {
        "urls": round(urls / fewer, 2),
        "envelopes": round(more.envelopes_compared / less.envelopes_compared, 2),
        "likely_pairs": round(len(more) / len(less), 2),
        "pairs_left": round(int((~more.is_redundant).sum()) / int((~less.is_redundant).sum()), 2),
    }


def growth(kind: str, urls: int) -> dict[str, Any]:
    """Measure the learner on a site and on a quarter of its URLs, which take turns."""
    options = SubstringOptions()
    quarter, whole = clusters(kind, urls // 4), clusters(kind, urls)
    ours_quarter = ours = math.inf
    for _ in range(ROUNDS):
        ours_quarter = min(ours_quarter, seconds(lambda: propose_substrings(quarter, options)))
        ours = min(ours, seconds(lambda: propose_substrings(whole, options)))
    return {
        "kind": kind,
        "urls": urls,
        "seconds": round(ours, 3),
        "seconds_quarter": round(ours_quarter, 3),
        "growth_by_4": round(ours / ours_quarter, 2),
        "growth_of_work": growth_of_work(quarter, whole),
    }


def speed(kind: str, urls: int) -> dict[str, Any]:
    """Measure the learner beside its twin, and how both grow."""
    small, large = (clusters(kind, count) for count in SIZES_OF_TWIN)
    twin_small, twin_large = (seconds(lambda site=site: twins_work(records(site))) for site in (small, large))  # type: ignore[misc]
    exponent = math.log(twin_large / twin_small) / math.log(SIZES_OF_TWIN[1] / SIZES_OF_TWIN[0])
    expected = twin_large * (urls / SIZES_OF_TWIN[1]) ** exponent
    ours = growth(kind, urls)
    return ours | {
        "twin_seconds": [round(twin_small, 2), round(twin_large, 2)],
        "twin_exponent": round(exponent, 3),
        "twin_seconds_expected": round(expected, 1),
        "times_twin": round(expected / ours["seconds"], 1),
    }


def million(kind: str, urls: int, memory: str, threads: int) -> dict[str, Any]:
    """Measure one large site as under `--memory`: all phases, then what the first one held and wrote."""
    site = clusters(kind, urls)
    options = options_from(SubstringOptions, "substring", {}, Resources(bytes_of(memory), threads))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * BYTES_IN_KIB
    started = time.perf_counter()
    used = seconds(lambda: propose_substrings(site, options))
    elapsed = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * BYTES_IN_KIB
    pairs, count = counted(site, options)
    return {
        "kind": kind,
        "urls": count,
        "envelopes": pairs.envelopes,
        "envelopes_compared": pairs.envelopes_compared,
        "pairs": len(pairs),
        "left": len(pairs) - int(pairs.is_redundant.sum()),
        "passes": pairs.passes,
        "temporary_bytes": pairs.spilled_bytes,
        "temporary_folder": tempfile.gettempdir(),
        "cpu_seconds": round(used, 1),
        "wall_seconds": round(elapsed, 1),
        "peak_bytes_before": before,
        "peak_bytes": peak,
        "memory": memory,
        "memory_mb": options.memory_mb,
        "max_urls": options.max_urls,
        "threads": threads,
    }


def main() -> None:
    """Measure what was asked for, and tell."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--tables", action="store_true")
    ask.add_argument("--logs", action="store_true")
    ask.add_argument("--growth", action="store_true")
    ask.add_argument("--million", action="store_true")
    ask.add_argument("--kind", action="append")
    ask.add_argument("--urls", type=int)
    ask.add_argument("--memory", default="4GB")
    ask.add_argument("--threads", type=int, default=1)
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if told.tables:
        results = tables(told.urls)
    elif told.logs:
        results = list(precision())
    elif told.million:
        kind = told.kind[0] if told.kind else "forum"
        results = [million(kind, told.urls or 1_035_000, told.memory, told.threads)]
    elif told.growth:
        results = [growth(kind, told.urls or 70_000) for kind in told.kind or KINDS]
    else:
        results = [speed(kind, told.urls or 70_000) for kind in told.kind or ("forum", "academic")]
    if told.json:
        print(json.dumps(results))
        return
    print(machine())
    for result in results:
        print()
        if told.tables:
            print("\n".join(beside(result)))
            continue
        for name, value in result.items():
            print(f"{name:28} {value:,}" if isinstance(value, int) else f"{name:28} {value}")


if __name__ == "__main__":
    main()
