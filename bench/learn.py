"""`undust learn` from file to rules: time by stage, growth, and the most memory held.

    python -m bench.learn                                   20,000 observations of 20 sites, and a quarter
    python -m bench.learn --rows 1000000 --sites 1000       the whole job
    python -m bench.learn --rows 1000000 --sites 1          one site
    python -m bench.learn --rows 1000000 --sites 10000      many small ones

The observations are of generated sites of all kinds, one of them a giant, in a Parquet file. Each run is a
process of its own and works on one thread, so that processor time can be told stage by stage; `--threads`
runs the command itself besides, by the clock on the wall. A quarter of the rows of a quarter of the sites
is learned first, for the growth. Ends with an error if a stage other than reading and learning takes
more than 20 % of the time, or four times the rows take more than five times as long.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from bench.common import machine
from bench.sites import KINDS, Crawl, crowd, site
from undust.files.temporary import peak_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ELSEWHERE = 0.2
GROWTH = 5.0
PART = 4
LEARNING = ("reading", "learning", "across sites")
"""Stages that may take their time: what a site shows of all sites is learned too."""


def write(path: Path, rows: int, sites: int) -> None:
    """Write observations of generated sites."""
    crawl = Crawl(noise=0.02)
    made = [site("forum", rows, seed=1)] if sites == 1 else crowd(list(KINDS.values()), rows, sites, seed=1)
    batches = chain.from_iterable(each.batches(crawl, 65_536) for each in made)
    first = next(batches).observations
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch.observations)


class Stages:
    """Processor time by stage; a stage that is called by another is not counted twice."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, with its time told."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 -- those of the function
            self._inner.append(0.0)
            started = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.process_time() - started
                self.seconds[stage] += spent - self._inner.pop()
                self._inner[-1] += spent

        return wrapped


def measure(path: Path) -> dict[str, Any]:
    """Learn from a file in this process, and return its figures."""
    import undust  # noqa: PLC0415 -- each run is a process of its own
    from undust.jobs import one_site  # noqa: PLC0415
    from undust.jobs.combined import learn_combined  # noqa: PLC0415

    stages = Stages()
    for stage, module, name in (
        ("clustering", one_site, "find_in_site"),
        ("learning", one_site, "combined_rules"),
        ("across sites", one_site, "shown_by"),
        ("deciding for all", one_site, "rules_across"),
    ):
        setattr(module, name, stages.timed(stage, getattr(module, name)))
    started = time.process_time()
    seen = stages.timed("reading", undust.read)(path)
    outcome = learn_combined(seen)
    with tempfile.TemporaryDirectory() as folder:
        stages.timed("writing", lambda: outcome.rules.save(Path(folder) / "rules.json"))()
    total = time.process_time() - started
    stages.seconds["everything else"] = total - sum(stages.seconds.values())
    counts = outcome.as_json()
    return {
        "rows": len(seen.table),
        **{name: counts[name] for name in ("sites", "urls", "rules", "rules_for_all_sites", "sampled")},
        "seconds": round(total, 1),
        "stages": {stage: round(spent / total, 4) for stage, spent in stages.seconds.items()},
        "peak_memory_bytes": peak_memory_bytes(),
    }


def figures(path: Path) -> dict[str, Any]:
    """Learn from a file in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.learn", "--measure", str(path)], check=True, stdout=subprocess.PIPE
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def on_threads(path: Path, threads: int) -> float:
    """Return the seconds that the command takes, by the clock."""
    started = time.perf_counter()
    words = [sys.executable, "-m", "undust", "learn", str(path), "-q", "--threads", str(threads)]
    subprocess.run([*words, "-o", str(path.with_suffix(".json"))], check=True)
    return time.perf_counter() - started


def main() -> None:
    """Measure, tell, and fail where a bound is broken."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.learn",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--rows", type=int, default=20_000)
    ask.add_argument("--sites", type=int, default=20)
    ask.add_argument("--threads", type=int, default=0, help="run the command on so many, too")
    ask.add_argument("--no-growth", action="store_true", help="leave the quarter out")
    ask.add_argument("--json", action="store_true")
    ask.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    told = ask.parse_args()
    if told.measure:
        print(json.dumps(measure(told.measure)))
        return
    sizes = [] if told.no_growth else [(told.rows // PART, max(1, told.sites // PART))]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.parquet"
        for rows, sites in (*sizes, (told.rows, told.sites)):
            write(path, rows, sites)
            runs.append(figures(path))
        if told.threads:
            runs[-1] |= {"threads": told.threads, "clock_seconds": round(on_threads(path, told.threads), 1)}
    print("\n".join(map(json.dumps, runs)) if told.json else _table(runs))
    _judge(runs)


def _table(runs: list[dict[str, Any]]) -> str:
    stages = list(runs[-1]["stages"])
    lines = [machine(), "", f"| rows | sites | rules | s | s per 1,000 rows | MB | {' | '.join(stages)} |"]
    lines.append(f"| ---: |{' ---: |' * (5 + len(stages))}")
    for run in runs:
        shares = " | ".join(f"{run['stages'].get(stage, 0):.1%}" for stage in stages)
        lines.append(
            f"| {run['rows']:,} | {run['sites']:,} | {run['rules']:,} | {run['seconds']:,.1f} "
            f"| {1000 * run['seconds'] / run['rows']:.2f} | {run['peak_memory_bytes'] >> 20:,} | {shares} |"
        )
    if "threads" in runs[-1]:
        lines += [
            "",
            f"the command on {runs[-1]['threads']} threads: {runs[-1]['clock_seconds']} s by the clock",
        ]
    return "\n".join(lines)


def _judge(runs: list[dict[str, Any]]) -> None:
    for stage, share in runs[-1]["stages"].items():
        if stage not in LEARNING and share > MOST_ELSEWHERE:
            sys.exit(f"{stage} takes {share:.0%} of the time")
    if len(runs) > 1:
        growth = runs[1]["seconds"] / runs[0]["seconds"]
        print(f"{runs[1]['rows'] / runs[0]['rows']:.1f} x the rows, {growth:.2f} x the time", file=sys.stderr)
        if growth > GROWTH:
            sys.exit("time grows faster than the rows")


if __name__ == "__main__":
    main()
