"""The rules on a DataFrame of distinct URLs, beside the core on one thread: Parquet in, nothing out.

    python -m bench.spark                                 20 million URLs on local[2]
    python -m bench.spark --urls 1000000 --rounds 2 --json

The URLs are those of a generated shop, each with a number of its own, and the rules those that hold there.
Both read the same Parquet file; of the core, only its work counts. Time is told by the clock on the wall,
which is what a person waits for, and as processor time of all processes, Java's too, for a machine that
has other work.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.common import machine
from bench.processes import taken
from bench.sites import site
from undust.engines.spark.session import started
from undust.integrations.spark import canonicalize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from undust.rules import Canonicalizer, RuleSet

SHOP_URLS = 200_000
REACH = 0.5
ROW_GROUP = 500_000
CORE_BATCH = 16_384


def write_urls(path: Path, urls: int) -> RuleSet:
    """Write distinct URLs as one Parquet file; return the rules of their site."""
    shop = site("shop", min(urls, SHOP_URLS))
    given = pa.concat_arrays(shop.truth()["url"].chunks).cast(pa.string())
    separator = pc.if_else(pc.match_substring(given, "?"), "&", "?")
    with pq.ParquetWriter(path, pa.schema([("url", pa.string())])) as writer:
        for number in range(max(1, urls // len(given))):
            distinct = pc.binary_join_element_wise(given, separator, f"n={number}", "")
            writer.write_table(pa.table({"url": distinct}), row_group_size=ROW_GROUP)
    return shop.rules


def core_seconds(path: Path, canonicalizer: Canonicalizer) -> tuple[float, float]:
    """Return what the core takes for all URLs on one thread: on the wall, and of the processor."""
    wall = spent = 0.0
    for batch in pq.ParquetFile(path).iter_batches(CORE_BATCH):
        column = batch.column(0)
        started_at, used = perf_counter(), process_time()
        canonicalizer.batch(column)
        wall, spent = wall + perf_counter() - started_at, spent + process_time() - used
    return wall, spent


def spark_seconds(spark: SparkSession, path: Path, rules: RuleSet) -> tuple[float, float]:
    """Return the same of Spark, with all that it does."""
    started_at, used = perf_counter(), taken(os.getpid()).processor_seconds
    frame = canonicalize(spark.read.parquet(str(path)), rules)
    frame.write.format("noop").mode("overwrite").save()
    return perf_counter() - started_at, taken(os.getpid()).processor_seconds - used


def measured(urls: int, rounds: int, cores: int) -> dict[str, Any]:
    """Return the best seconds of both, which take turns."""
    best = {name: (float("inf"), float("inf")) for name in ("core", "spark")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "urls.parquet"
        rules = write_urls(path, urls)
        rows = pq.ParquetFile(path).metadata.num_rows
        spark = started(f"local[{cores}]", folder=folder).spark
        canonicalizer = rules.compile()
        for number in range(rounds + 1):
            for name, seconds in (
                ("core", core_seconds(path, canonicalizer)),
                ("spark", spark_seconds(spark, path, rules)),
            ):
                if number or not rounds:  # the round before the first one warms Java up
                    best[name] = min(best[name][0], seconds[0]), min(best[name][1], seconds[1])
        spark.stop()
    ratio = best["core"][0] / best["spark"][0]
    return {"machine": machine(), "urls": rows, "cores": cores, "seconds": best, "speed": ratio}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=1, help="after one that warms up; 0 counts that one")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    found = measured(options.urls, options.rounds, options.cores)
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{found['urls']:,} distinct URLs ({found['machine']})")
        print(f"{'':<24}{'seconds':>9}{'processor':>11}{'URLs a second':>15}")
        for name, shown in (("core", "core, one thread"), ("spark", f"Spark, local[{options.cores}]")):
            wall, spent = found["seconds"][name]
            print(f"{shown:<24}{wall:>9.1f}{spent:>11.1f}{found['urls'] / wall:>15,.0f}")
        print(f"Spark at {found['speed']:.0%} of the core's speed; to reach: {REACH:.0%}")
    if found["speed"] < REACH:
        sys.exit(f"under {REACH:.0%} of the core's speed")


if __name__ == "__main__":
    main()
