"""`undust learn` from a hundred thousand rows to ten million, in bounded memory, on each engine.

    python -m bench.scale                                          200,000 rows, as CI does
    python -m bench.scale --rows 100000 400000 --memory 1GB        and how the time grows
    python -m bench.scale --rows 10000000 --memory 4GB --folder big --resume
    python -m bench.scale --rows 10000000 --memory 4GB --one-site

Half of the rows are of one giant site, the others of a heavy tail (see `bench.scale_rows`). The job is the
command itself, in its own process; memory and processor time are those of it and all that it starts
together, looked at from outside, disk what lies in its folder for temporary files. What no stage counts
(Python that starts, and on Spark all of Java's work and the reading of its tasks) is told as "beside". Each
line is printed when it is known, and the sites that are done are told every minute. With `--folder` and
`--resume` a run that was stopped goes on: the rows are not made again, and finished sites are not learned
again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq

from bench.common import machine
from bench.processes import taken
from bench.scale_rows import batches, sites_for
from undust.engines.spool import bytes_of
from undust.jobs.combined import journal_of
from undust.jobs.learn_result import GIANTS
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GROWTH = 5.0
"""Four times the rows may take so many times as long."""
SHARE = 0.2
"""No stage but these may take more of the time."""
MAY_BE_LONG = ("reading", "learning")
ENGINES: dict[str, list[str]] = {"local": [], "spark": ["--engine", "spark", "--master", "local[2]"]}
"""What the command is told beside."""
LOOK, TELL = 0.2, 60.0
"""Seconds between two looks at the memory, and between two lines about what is done."""


class Watched(NamedTuple):
    """What was seen of a run from outside."""

    told: dict[str, Any]
    seconds: float
    processor_seconds: float
    peak_bytes: int
    disk_bytes: int
    code: int


def made(rows: int, folder: Path, minima: int, *, is_one: bool) -> Path:
    """Return a file with so many rows, made once in a folder."""
    path = folder / f"{'one' if is_one else 'seen'}-{rows}-{minima}.parquet"
    if not path.exists():
        part = path.with_suffix(".part")
        with pq.ParquetWriter(part, SCHEMA, compression="zstd") as writer:
            for batch in batches(rows, minima, is_one=is_one):
                writer.write_batch(batch)
        part.rename(path)
    return path


def watched(words: Sequence[str], tmp: Path, journal: Path, sites: int) -> Watched:
    """Run the command, and look at it from outside."""
    # To a file: nobody reads a pipe while the memory is watched.
    with tempfile.TemporaryFile() as output:
        started = spoken = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "undust", *words], stdout=output)
        peak = disk = 0
        spent = 0.0
        while process.poll() is None:
            now = taken(process.pid)
            peak, disk = max(peak, now.memory_bytes), max(disk, _disk(tmp))
            spent = max(spent, now.processor_seconds)
            time.sleep(LOOK)
            if time.perf_counter() - spoken > TELL:
                spoken = time.perf_counter()
                done = max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0
                print(
                    f"  {spoken - started:6.0f} s: {done:,} of {sites:,} sites, peak {peak >> 20:,} MiB, "
                    f"disk {disk >> 20:,} MiB",
                    file=sys.stderr,
                    flush=True,
                )
        output.seek(0)
        told = output.read()
    figures = json.loads(told) if told else {}
    return Watched(figures, time.perf_counter() - started, spent, peak, disk, process.returncode)


def _disk(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(root) / name).stat().st_size
            except FileNotFoundError:  # just removed
                continue
    return total


def measured(rows: int, engine: str, asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return the figures of one run."""
    is_one = asked.one_site
    source, output = made(rows, folder, asked.minima, is_one=is_one), folder / f"rules-{engine}-{rows}.json"
    tmp = folder / "tmp"
    tmp.mkdir(exist_ok=True)
    words = ["learn", str(source), "-o", str(output), "--json", "--tmp", str(tmp), *ENGINES[engine]]
    words += ["--threads", str(asked.threads), *(["--memory", asked.memory] if asked.memory else [])]
    words += ["--resume"] if asked.resume else []
    seen = watched(words, tmp, journal_of(str(output)), sites_for(rows, is_one=is_one))
    if seen.code:
        sys.exit(f"undust learn ended with {seen.code}")
    stages = seen.told["stages"]
    told = sum(stages.values())
    return {
        "engine": engine,
        "rows": rows,
        "sites": seen.told["sites"],
        "rules": seen.told["rules"],
        "sampled": seen.told["sampled"],
        "failed": len(seen.told["failed"]),
        "seconds": round(seen.seconds, 1),
        "processor_seconds": round(seen.processor_seconds, 1),
        "beside_stages": round(max(0.0, seen.processor_seconds - told), 1),
        "rows_per_second": round(rows / seen.seconds),
        "peak_memory_bytes": seen.peak_bytes,
        "memory_limit_bytes": bytes_of(asked.memory) if asked.memory else None,
        "disk_bytes": seen.disk_bytes,
        "left_on_disk": sorted(each.name for each in tmp.iterdir()),
        "stages": stages,
        "shares": {name: round(value / told, 4) for name, value in stages.items()},
        "rows_per_processor_second": {
            name: round(rows / value) if value else None for name, value in stages.items()
        },
    }


def problems(lines: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what did not hold."""
    for line in lines:
        where = f"{line['engine']}, {line['rows']:,} rows"
        limit = line["memory_limit_bytes"]
        if limit and line["peak_memory_bytes"] > limit:
            yield f"{where}: {line['peak_memory_bytes']:,} bytes were held, {limit:,} are allowed"
        if line["left_on_disk"]:
            yield f"{where}: {', '.join(line['left_on_disk'])} stayed in the folder for temporary files"
        for name, share in line["shares"].items():
            # Of one site there is nothing else.
            if share > SHARE and name not in MAY_BE_LONG and (line["sites"] > 1 or name != GIANTS):
                yield f"{where}: {name} takes {share:.0%} of the time"
    for line, ratio in growth(lines):
        if ratio > GROWTH:
            yield f"{line['engine']}: {line['rows']:,} rows take {ratio:.1f} times as long as a quarter"


def growth(lines: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield for each run four times as large as another how many times as long it takes."""
    times = {(line["engine"], line["rows"]): line["processor_seconds"] for line in lines}
    for line in lines:
        before = times.get((line["engine"], line["rows"] // 4))
        if before and line["rows"] % 4 == 0:
            yield line, line["processor_seconds"] / before


HEAD = (
    f"{'engine':7}{'rows':>11}{'sites':>8}{'seconds':>9}{'rows/s':>8}{'peak MiB':>10}{'disk MiB':>10}"
    f"{'processor':>11}  of it by stage"
)


def line_of(figures: dict[str, Any]) -> str:
    """Return a line of the table."""
    stages = ", ".join(f"{name} {value:,.1f}" for name, value in figures["stages"].items() if value >= 0.05)  # noqa: PLR2004 -- what would be 0.0
    return (
        f"{figures['engine']:7}{figures['rows']:11,}{figures['sites']:8,}{figures['seconds']:9,.1f}"
        f"{figures['rows_per_second']:8,}{figures['peak_memory_bytes'] >> 20:10,}"
        f"{figures['disk_bytes'] >> 20:10,}{figures['processor_seconds']:11,.1f}  {stages}, "
        f"beside {figures['beside_stages']:,.1f}"
    )


def main() -> None:
    """Run each size on each engine, and tell the figures; fail if something does not hold."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--rows", type=int, nargs="+", default=[200_000])
    ask.add_argument("--engine", nargs="+", choices=[*ENGINES], default=["local"])
    ask.add_argument("--memory", default="1GB", help="as in 4GB; '' for no limit")
    ask.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    ask.add_argument("--one-site", action="store_true", help="all rows are of the giant site")
    ask.add_argument("--minima", type=int, default=0, help="in a sketch; 0 for none")
    ask.add_argument("--folder", type=Path, help="for the rows and the rules, which stay there")
    ask.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    ask.add_argument("--json", action="store_true")
    asked = ask.parse_args()
    if asked.resume and asked.folder is None:
        ask.error("--resume goes on in the --folder of the run before")
    lines = []
    with tempfile.TemporaryDirectory() as nowhere:
        folder = asked.folder or Path(nowhere)
        folder.mkdir(exist_ok=True)
        if not asked.json:
            print(f"{machine()}\n\n{HEAD}", flush=True)
        for rows in asked.rows:
            for engine in asked.engine:
                lines.append(measured(rows, engine, asked, folder))
                if not asked.json:
                    print(line_of(lines[-1]), flush=True)
    found = list(problems(lines))
    if asked.json:
        print(json.dumps({"machine": machine(), "runs": lines, "problems": found}))
    else:
        for line, ratio in growth(lines):
            print(f"{line['engine']}: 4 × the rows, {line['rows']:,}, take {ratio:.2f} × the time")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
