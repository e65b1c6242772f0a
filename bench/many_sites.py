"""`undust learn` on very many small sites: processor time a site, and peak memory.

    python -m bench.many_sites [--sites 100000 1000000] [--memory 4GB] [--duplicates 0.001] [--json]

Sizes of sites have the heavy tail of a crawl of the web: half of the sites have one URL, a tenth more than
ten (a Pareto distribution of exponent 1, cut at 200). Every URL shows a page of its own, but for the share of
sites that `--duplicates` names: there each page is seen with a session id and without.
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
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from bench.common import machine

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST = 200
BATCH_SITES = 20_000
SCHEMA = pa.schema([("url", pa.string()), ("digest", pa.string()), ("status", pa.int16())])


def site_urls(number: int, chance: random.Random, *, has_duplicates: bool) -> Iterator[tuple[str, str]]:
    """Yield the URLs of a site, each with the digest of its page."""
    host = f"www.site{number}.{chance.choice(('com', 'de', 'org', 'co.uk'))}"
    for place in range(min(LARGEST, int(chance.paretovariate(1.0)))):
        path = f"/{chance.choice(('news', 'blog', 'p'))}/{chance.randrange(10**9)}" if place else "/"
        ending = chance.choice(("", "", "/", ".html")) if place else ""
        if has_duplicates:
            digest = f"{number}-{place}"
            yield f"http://{host}{path}{ending}?sid={chance.randrange(10**6)}", digest
            yield f"http://{host}{path}{ending}", digest
        else:
            yield f"http://{host}{path}{ending}", f"{chance.getrandbits(128):032x}"


def write_crawl(path: Path, sites: int, share: float) -> int:
    """Write the crawl of so many sites; return its rows."""
    chance, rows = random.Random(1), 0
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for start in range(0, sites, BATCH_SITES):
            numbers = range(start, min(start + BATCH_SITES, sites))
            pairs = [
                pair
                for number in numbers
                for pair in site_urls(number, chance, has_duplicates=chance.random() < share)
            ]
            urls, digests = zip(*pairs, strict=True)
            columns = [pa.array(urls), pa.array(digests), pa.array([200] * len(urls), pa.int16())]
            writer.write_batch(pa.record_batch(columns, schema=SCHEMA))
            rows += len(urls)
    return rows


def measured(path: Path, folder: str, memory: str) -> dict[str, float]:
    """Return processor seconds and peak memory of learning from a file, and what it says of sites."""
    output = Path(folder, "rules.json")
    command = ["learn", str(path), "-o", str(output), "--memory", memory, "--tmp", folder, "--json"]
    with Path(folder, "told.json").open("wb") as told:
        process = subprocess.Popen([sys.executable, "-m", "undust", *command], stdout=told)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    counts = json.loads(Path(folder, "told.json").read_text(encoding="utf-8"))
    return {
        "seconds": usage.ru_utime + usage.ru_stime,
        "peak_megabytes": usage.ru_maxrss / 1024,
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
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    found = []
    for sites in options.sites:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "crawl.parquet")
            rows = write_crawl(path, sites, options.duplicates)
            found.append({"rows": rows} | measured(path, folder, options.memory))
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
