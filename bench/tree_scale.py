"""How fast and how large the pattern tree is: beside its plain twin, beside rewrite rules, and as it grows.

    python -m bench.tree_scale               70,000 URLs, and a quarter of them; some minutes
    python -m bench.tree_scale --huge        one site of three million URLs: seconds and memory

Contenders take turns, and each keeps its best time; seconds are processor time. The program fails if a
figure that is to be reached is not.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from time import process_time
from typing import TYPE_CHECKING, Any

from bench.common import machine
from bench.tree import MAX_FPR, as_text, labelled
from tests.oracles import tree as oracle
from undust.files.temporary import peak_memory_bytes
from undust.proposing.papers import propose
from undust.proposing.papers.selection import TrialUrls
from undust.urls.pattern_tree import grow
from undust.urls.views import UrlColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

FASTER, SLOWER, MEMORY = 30, 5.0, 4 << 30
"""What is to be reached: times the twin; time from n to 4n; bytes for three million URLs."""
ROUNDS = 3
ONE_IN = 20
"""Of the pairs of nodes, the twin compares one in so many, and its time for them counts as often."""


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    started = process_time()
    work()
    return process_time() - started


def best_of(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the best time of each, all taking turns."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS):
        for name, work in works.items():
            best[name] = min(best[name], seconds_of(work))
    return best


def learning(site: SiteClusters, method: str, **options: object) -> Callable[[], object]:
    """Return the whole learner as work to be timed."""
    named = {f"{method}.{option}": value for option, value in options.items()}
    return lambda: propose(site, [method], named)


def scale_rows(kind: str, urls: int) -> Iterator[dict[str, Any]]:
    """Yield seconds for a quarter of the URLs and all of them, of rewrite rules, and of the twin."""
    small, _ = labelled(kind, urls // 4)
    site, truth = labelled(kind, urls)
    best = best_of(
        {
            "quarter": learning(small, "tree"),
            "tree": learning(site, "tree"),
            "fan-out 10": learning(site, "rewrite", fanout=10, max_fpr=MAX_FPR),
            "fan-out 5": learning(site, "rewrite", fanout=5, max_fpr=MAX_FPR),
        }
    )
    seconds = {name: round(value, 2) for name, value in best.items()}
    ratio = best["tree"] / best["quarter"]
    yield {"site": kind, "urls": urls, **seconds, "4n to n": round(ratio, 2), "to reach": SLOWER}
    twin = twin_seconds(truth)
    times = sum(twin.values()) / best["tree"]
    parts = {name: round(value, 1) for name, value in twin.items()}
    yield {"site": kind, "urls": urls, **parts, "times": round(times, 1), "to reach": FASTER}


def twin_seconds(truth: pa.Table) -> dict[str, float]:
    """Return what the twin takes for algorithms 1 to 3, on the URLs that are not alone on their page."""
    every = dict(zip(truth["url"].to_pylist(), truth["page"].to_pylist(), strict=True))
    sizes = Counter(every.values())
    pages = {url: page for url, page in every.items() if sizes[page] > 1}
    started = process_time()
    root = oracle.build(list(pages))
    built = process_time()
    pairs = oracle.duplicate_nodes(root, pages)
    found = process_time()
    some = random.Random(1).sample(pairs, len(pairs) // ONE_IN)
    mapping = seconds_of(lambda: [oracle.operations(*pair, pages, "fewer") for pair in some])
    return {
        "twin, algorithm 1": built - started,
        "twin, algorithm 2": found - built,
        "twin, algorithm 3": mapping * len(pairs) / len(some),
    }


def huge_rows(kind: str, urls: int) -> Iterator[dict[str, Any]]:
    """Yield what one large site takes: its clusters, a proposal, its whole tree, a proof on all its rows."""
    site, _ = labelled(kind, urls)
    rules: list[Rule] = []

    def learned() -> str:
        proposal = propose(site, ["tree"])["tree"]
        rules.extend(rule for each in proposal.candidates for rule in each.rules)
        return f"{len(proposal.candidates)} candidates, {proposal.notes[-1]}"

    def grown() -> str:
        tree = grow(UrlColumns.of(site.node_urls))
        return f"{len(tree)} nodes of all {int((tree.leaf >= 0).sum()):,} URLs"

    def proved() -> str:
        return f"{len(rules)} rules together on all rows: fpr {TrialUrls(site).fpr(rules):.4f}"

    parts = {
        "clusters": lambda: f"{site.cluster_count:,} pages",
        "learn": learned,
        "grow": grown,
        "prove": proved,
    }
    for name, part in parts.items():
        started = process_time()
        found = part()
        yield {
            "site": kind,
            "urls": urls,
            "part": name,
            "seconds": round(process_time() - started, 1),
            "peak bytes so far": peak_memory_bytes(),
            "found": found,
        }


def main() -> None:
    """Run what was asked for and print a row at a time; fail if a bound was not kept."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--site", default="forum")
    ask.add_argument("--urls", type=int, help="70,000, or three million with --huge")
    ask.add_argument("--huge", action="store_true")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if not told.json:
        print(f"{machine()}\n", flush=True)
    if told.huge:
        rows = huge_rows(told.site, told.urls or 3_000_000)
    else:
        rows = scale_rows(told.site, told.urls or 70_000)
    missed = []
    for row in rows:
        print(as_text(row, as_json=told.json), flush=True)
        if row.get("times", FASTER) < FASTER:
            missed.append(f"only {row['times']} times the twin")
        if row.get("4n to n", 0) > SLOWER:
            missed.append(f"four times the URLs take {row['4n to n']} times as long")
        if row.get("peak bytes so far", 0) > MEMORY:
            missed.append(f"{row['part']} took {row['peak bytes so far']:,} bytes")
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
