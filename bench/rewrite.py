"""Rewrite rules by generalization: speed beside the plain algorithm, growth, a giant cluster, the tables.

    python -m bench.rewrite                        the tables of the paper and the curve of fan-outs
    python -m bench.rewrite speed growth giant     beside the plain algorithm, and large sites
    python -m bench.rewrite tables --urls 40000    the tables of the paper on larger sites
    python -m bench.rewrite variants               what their figures depend on, one property at a time

The sites are generated, and labels are the truth. What is compared with the paper is the shape of its
tables: its crawl of 360 hosts is not to be had.
"""

from __future__ import annotations

import argparse
import gc
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import undust
from bench.common import machine
from bench.rewrite_curve import curve, show_curve
from bench.rewrite_tables import tables
from bench.rewrite_variants import variants
from bench.sites import KINDS, site
from tests.oracles import rewrite as oracle
from undust.files.temporary import peak_memory_bytes
from undust.proposing.papers.rewrite import RewriteOptions, learn, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.rewrite.qualified import LearnedCodes

PARTS = ("speed", "growth", "giant", "tables", "curve", "variants")
BY_DEFAULT = ("tables", "curve")
"""What the paper has; the rest is asked for by name. Some minutes on two cores."""
KIND, SEED = "mirrors", 1
FASTER, SLOWER, LARGER, GIANT_BYTES = 30, 5.0, 4.5, 2 << 30
"""What is to be reached: times the oracle; time and memory from n to 4n; the memory of the giant."""


def clusters_of(kind: str, urls: int, giant: int = 0) -> SiteClusters:
    """Return a generated site with its true clusters."""
    truth = site(kind, urls, SEED, giant=giant).truth()
    table = pa.table({"url": truth["url"], "cluster": truth["page"].cast(pa.string())})
    return undust.find_duplicates(table).sites[0]


def speed(urls: int, rounds: int = 3) -> dict[str, Any]:
    """Algorithms 1 to 5 on one site, by the learner and by the oracle; both must find the same."""
    found = clusters_of(KIND, urls)
    labels = dict(zip(found.node_urls.to_pylist(), found.cluster_of_node.tolist(), strict=True))
    options = RewriteOptions(sample=int(found.sizes.max()), max_pairs=1 << 40)
    gc.disable()  # or the oracle would spend most of its time on looking for garbage
    started = time.process_time()
    maps = {url: oracle.url_map(url) for url in labels}
    rules = oracle.specific_rules(labels, maps)
    chosen = oracle.Filter("fanout", oracle.Measures(labels, maps), fanout=options.fanout)
    expected = [len(generation) for generation in oracle.generalize(rules, chosen)]
    slow = time.process_time() - started
    gc.enable()
    del rules
    learned, fast = _timed(found, options)
    for _ in range(rounds - 1):
        fast = min(fast, _timed(found, options)[1])
    sizes = [len(generation.rules) for generation in learned.generations]
    if sizes != expected:
        sys.exit(f"the oracle finds {expected} rules, the learner {sizes}")
    figures = {"urls": urls, "pairs": len(learned.pairs.left), "rules by generation": sizes}
    return figures | {"oracle s": slow, "learner s": fast, "times": slow / fast, "to reach": FASTER}


def _timed(found: SiteClusters, options: RewriteOptions) -> tuple[LearnedCodes, float]:
    started = time.process_time()
    learned = learn(found, options)
    return learned, time.process_time() - started


def alone(kind: str, urls: int, giant: int = 0) -> dict[str, Any]:
    """Learn in a process of its own, which gets the clusters ready-made; return time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "site")
        call = (kind, str(urls), str(giant), str(path))
        subprocess.run([sys.executable, "-m", "bench.rewrite", "--make", *call], check=True)
        command = [sys.executable, "-m", "bench.rewrite", "--learn", str(path)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {"urls": urls, **json.loads(done.stdout)}


def learn_alone(path: str) -> dict[str, Any]:
    """Learn from the clusters in a file; return processor time, peak memory and what was found."""
    found: SiteClusters = pickle.loads(Path(path).read_bytes())  # noqa: S301 -- our own file
    before = _held()
    started = time.process_time()
    told = tell(learn(found, RewriteOptions()), found.site, RewriteOptions())
    seconds = time.process_time() - started
    peak = peak_memory_bytes()
    largest = max((candidate.support for candidate, _ in told.rules), default=0)
    return {
        "seconds": seconds,
        "peak bytes": peak,
        "learner's bytes": peak - before,
        "rules": len(told.rules),
        "largest cluster": int(found.sizes.max()),
        "largest support": largest,
        "cut": told.cut,
    }


def _held() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def growth(urls: int) -> dict[str, Any]:
    """From n to 4n URLs."""
    small, large = alone(KIND, urls), alone(KIND, 4 * urls)
    return {
        "n": small,
        "4n": large,
        "time": large["seconds"] / small["seconds"],
        "time to reach": SLOWER,
        "memory": large["learner's bytes"] / small["learner's bytes"],
        "memory to reach": LARGER,
    }


def show(name: str, figures: dict[str, Any], indent: str = "") -> None:
    """Print figures as a person reads them."""
    print(f"{indent}{name}")
    for what, value in figures.items():
        if isinstance(value, dict):
            show(what, value, indent + "  ")
            continue
        text = (
            f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
        )
        print(f"{indent}  {what:28} {text}")


def show_table(rows: dict[str, dict[str, str]]) -> None:
    """Print figures side by side."""
    columns = list(next(iter(rows.values())))
    widths = [max(len(column), *(len(row[column]) for row in rows.values())) for column in columns]
    first = max(map(len, rows))
    for name, row in {"": dict(zip(columns, columns, strict=True)), **rows}.items():
        cells = (f"{row[column]:>{width}}" for column, width in zip(columns, widths, strict=True))
        print(f"{name:{first}}  " + "  ".join(cells))


def main() -> None:
    """Run the parts that were asked for; fail if a bound was not kept."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument(
        "parts", nargs="*", help=f"some of {', '.join(PARTS)}; without any, {' and '.join(BY_DEFAULT)}"
    )
    ask.add_argument(
        "--urls", type=int, default=12_000, help="of each site for the tables; a quarter for the variants"
    )
    ask.add_argument("--kinds", nargs="*", default=list(KINDS), help="of generated sites, for the tables")
    ask.add_argument("--json", action="store_true")
    ask.add_argument("--make", nargs=4, metavar=("KIND", "URLS", "GIANT", "FILE"), help=argparse.SUPPRESS)
    ask.add_argument("--learn", metavar="FILE", help=argparse.SUPPRESS)
    told = ask.parse_args()
    if told.make:
        kind, urls, giant, path = told.make
        Path(path).write_bytes(pickle.dumps(clusters_of(kind, int(urls), int(giant))))
        return
    if told.learn:
        print(json.dumps(learn_alone(told.learn)))
        return
    if unknown := set(told.parts) - set(PARTS):
        ask.error(f"there is no part called {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    parts = told.parts or BY_DEFAULT
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: speed(70_000),
        "growth": lambda: growth(100_000),
        "giant": lambda: alone("shop", 1_000_000, 300_000) | {"to reach": GIANT_BYTES},
        "tables": lambda: tables(told.urls, told.kinds),
        "curve": curve,
        "variants": lambda: variants(told.urls // 4, told.kinds),
    }
    figures: dict[str, Any] = {}
    if not told.json:
        print(machine(), flush=True)
    for name in (name for name in PARTS if name in parts):
        part = figures[name] = ways[name]()
        if not told.json:
            shown = {"tables": show_table, "variants": show_table, "curve": show_curve}
            shown[name](part) if name in shown else show(name, part)
            sys.stdout.flush()
    if told.json:
        print(json.dumps(figures))
    _fail_if_missed(figures)


def _fail_if_missed(figures: dict[str, Any]) -> None:
    if "speed" in figures and figures["speed"]["times"] < FASTER:
        sys.exit(f"only {figures['speed']['times']:.1f} times the oracle")
    grown = figures.get("growth", {"time": 0, "memory": 0})
    if grown["time"] > SLOWER or grown["memory"] > LARGER:
        took = f"{grown['time']:.1f} × the time, {grown['memory']:.1f} × the memory"
        sys.exit(f"four times the URLs take {took}")
    if "giant" in figures:
        giant = figures["giant"]
        if giant["peak bytes"] > GIANT_BYTES:
            sys.exit(f"the giant cluster took {giant['peak bytes']:,} bytes")
        if giant["largest support"] < giant["largest cluster"]:
            sys.exit("no rule comes from the giant cluster")


if __name__ == "__main__":
    main()
