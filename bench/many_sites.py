"""`undust learn` on very many small sites: processor time a site, and peak memory.

    python -m bench.many_sites [--sites 100000 1000000] [--memory 4GB] [--duplicates 0.001] [--odd 0.001]
                               [--folder crawls] [--engine spark] [--json]

Sizes of sites have the heavy tail of a crawl of the web: half of the sites have one URL, a tenth more than
ten (a Pareto distribution of exponent 1, cut at 200). Every URL shows a page of its own, but for the share of
sites that `--duplicates` names: there each page is seen with a session id and without. The sites of
`--odd` have a redirect: they are learned from, and give no rule. In `--folder`, crawls are kept. More than
a million sites are a million again and again, each time under other names.

On Spark the processor time is of all processes, Java's too, and so is the memory, without pages of files.
The difference between two numbers of sites is free of what a start costs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.common import machine
from bench.scale import ENGINES, watched

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 200
BATCH_SITES = 20_000
MADE_SITES = 1_000_000
"""What more sites are copies of, for making rows takes longer than learning from them."""
SCHEMA = pa.schema(
    [
        ("url", pa.string()),
        ("digest", pa.string()),
        ("status", pa.int16()),
        ("redirect", pa.string()),
    ]
)
OK, MOVED = 200, 301


def site_rows(
    number: int, chance: random.Random, *, has_duplicates: bool, is_odd: bool
) -> Iterator[tuple[str, str | None, int, str | None]]:
    """Yield the rows of a site: each URL with the digest of its page, or where it leads."""
    host = f"www.site{number}.{chance.choice(('com', 'de', 'org', 'co.uk'))}"
    for place in range(min(LARGEST, int(chance.paretovariate(1.0)))):
        path = f"/{chance.choice(('news', 'blog', 'p'))}/{chance.randrange(10**9)}" if place else "/"
        ending = chance.choice(("", "", "/", ".html")) if place else ""
        if has_duplicates:
            digest = f"{number}-{place}"
            yield f"http://{host}{path}{ending}?sid={chance.randrange(10**6)}", digest, OK, None
            yield f"http://{host}{path}{ending}", digest, OK, None
        else:
            yield f"http://{host}{path}{ending}", f"{chance.getrandbits(128):032x}", OK, None
    if is_odd:
        yield f"http://{host}/moved", None, MOVED, f"http://{host}/"


def write_crawl(path: Path, sites: int, share: float, odd: float) -> None:
    """Write the crawl of so many sites."""
    chance = random.Random(1)
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for start in range(0, sites, BATCH_SITES):
            numbers = range(start, min(start + BATCH_SITES, sites))
            drawn = ((number, chance.random()) for number in numbers)
            rows = [
                row
                for number, kind in drawn
                for row in site_rows(
                    number, chance, has_duplicates=kind < share, is_odd=share <= kind < share + odd
                )
            ]
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=SCHEMA))


def crawl_in(folder: str, sites: int, share: float, odd: float) -> Path:
    """Return the crawl of so many sites in a folder, which may have it already."""
    path = Path(folder, f"crawl-{sites}-{share}-{odd}.parquet")
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        if sites > MADE_SITES:
            write_copies(unfinished, crawl_in(folder, MADE_SITES, share, odd), sites // MADE_SITES)
        else:
            write_crawl(unfinished, sites, share, odd)
        unfinished.rename(path)
    return path


def write_copies(path: Path, crawl: Path, copies: int) -> None:
    """Write a crawl several times, each time with other names of sites."""
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for number in range(copies):
            for batch in pq.ParquetFile(crawl).iter_batches(1 << 17):
                urls = (
                    pc.replace_substring(batch[name], "//www.site", f"//www.s{number}-")
                    for name in ("url", "redirect")
                )
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                columns |= zip(("url", "redirect"), urls, strict=True)
                writer.write_batch(pa.record_batch([columns[name] for name in SCHEMA.names], schema=SCHEMA))


def measured(path: Path, folder: str, memory: str, engine: str) -> dict[str, float]:
    """Return processor seconds and peak memory of learning from a file, and what it says of sites."""
    output = Path(folder, "rules.json")
    command = ["learn", str(path), "-o", str(output), "--memory", memory, "--tmp", folder, "--json"]
    if engine != "local":
        seen = watched([*command, *ENGINES[engine]], Path(folder), Path(folder, "journal"), 0)
        return figures(seen.told, seen.processor_seconds, seen.peak_bytes / (1 << 20))
    with Path(folder, "told.json").open("wb") as told:
        process = subprocess.Popen([sys.executable, "-m", "undust", *command], stdout=told)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    counts = json.loads(Path(folder, "told.json").read_text(encoding="utf-8"))
    return figures(counts, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def figures(counts: dict[str, Any], seconds: float, megabytes: float) -> dict[str, float]:
    """Return what a run took and what it says of sites."""
    return {
        "seconds": seconds,
        "peak_megabytes": megabytes,
        "sites": counts["sites"],
        "without_duplicates": counts.get("sites_without_duplicates", 0),
        "rules": counts["rules"],
    } | {f"seconds {name}": seconds for name, seconds in counts["stages"].items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--duplicates", type=float, default=0.001, metavar="SHARE")
    parser.add_argument("--odd", type=float, default=0.001, metavar="SHARE")
    parser.add_argument("--folder", help="where crawls are kept for another run")
    parser.add_argument("--engine", default="local", choices=sorted(ENGINES))
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    found = []
    for sites in options.sites:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            path = crawl_in(options.folder or folder, sites, options.duplicates, options.odd)
            rows = pq.read_metadata(path).num_rows
            found.append({"rows": rows} | measured(path, folder, options.memory, options.engine))
    if options.json:
        print(json.dumps({"machine": machine(), "runs": found}))
        return
    print(f"undust learn --memory {options.memory} ({machine()})")
    for run in found:
        each, seconds = run["seconds"] / run["sites"] * 1e6, run["seconds"]
        print(f"{run['sites']:>11,} sites {run['rows']:>12,} rows {seconds:>8.1f} s {each:>7.0f} µs a site")
        print("  " + ", ".join(f"{name} {value:,.0f}" for name, value in run.items()))


if __name__ == "__main__":
    main()
