"""What the way to the core costs tables: DuckDB, Polars and pandas beside its batch, over millions of URLs.

    python -m bench.tables                               10 million URLs, all cores
    python -m bench.tables --urls 1000000 --rounds 5 --json

The URLs are those of a generated shop, some hundred thousand of them again and again, with the rules that
hold there; and with no rules at all, where the core has the least to do and the way to it costs the most.
All contenders take turns and keep their best round, by the clock on the wall and in processor time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

from bench.common import machine
from bench.sites import site
from undust.integrations import duckdb as in_duckdb
from undust.integrations import pandas as in_pandas
from undust.integrations import polars as in_polars
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable

DIFFERENT = 200_000
REACH = 0.5
REACHING = ("DuckDB", "Polars")


def contenders(urls: pa.ChunkedArray, rules: RuleSet, threads: int) -> dict[str, Callable[[], object]]:
    """Return ways to get the keys of a column; the first is the core itself."""
    canonicalizer = rules.compile()
    connection = duckdb.connect(config={"threads": threads})
    in_duckdb.register(connection, canonicalizer)
    connection.register("seen", pa.table({"url": urls}))
    frame = pl.DataFrame({"url": urls})
    series = pd.Series(urls.combine_chunks(), dtype="str")
    return {
        "core": lambda: canonicalizer.batch(urls, keys=True, threads=threads),
        "DuckDB": lambda: connection.execute("SELECT sum(strlen(undust_key(url))) FROM seen").fetchall(),
        "Polars": lambda: frame.select(in_polars.key(pl.col("url"), canonicalizer, threads=threads)),
        "pandas": lambda: in_pandas.key(series, canonicalizer, threads=threads),
    }


def measured(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, tuple[float, float]]:
    """Return the seconds of each one's best round: on the wall, and of all processors together."""
    best = dict.fromkeys(ways, (float("inf"), float("inf")))
    for number in range(rounds + 1):
        for name, run in ways.items():
            gc.collect()
            wall, spent = perf_counter(), process_time()
            result = run()
            wall, spent = perf_counter() - wall, process_time() - spent
            del result
            if number:  # the round before the first one warms caches
                best[name] = min(best[name][0], wall), min(best[name][1], spent)
    return best


def speeds(
    urls: int, rounds: int, threads: int, different: int = DIFFERENT
) -> dict[str, dict[str, tuple[float, float]]]:
    """Return the seconds of all contenders, with the rules of the shop and with none."""
    shop = site("shop", min(urls, different))
    chunk = pa.concat_arrays(shop.truth()["url"].chunks)
    column = pa.chunked_array([chunk] * max(1, urls // len(chunk)))
    return {
        name: measured(contenders(column, rules, threads), rounds)
        for name, rules in (("rules of the shop", shop.rules), ("no rules", RuleSet()))
    }


def ratios(seconds: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return the speed of each contender beside the core's, on the wall and in processor time."""
    core = seconds["core"]
    return {name: (core[0] / wall, core[1] / spent) for name, (wall, spent) in seconds.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    results = speeds(options.urls, options.rounds, options.threads)
    if options.json:
        print(json.dumps({"machine": machine(), "urls": options.urls, "seconds": results}))
    else:
        print(f"{options.urls:,} URLs, {options.threads} threads ({machine()})")
        for name, seconds in results.items():
            print(f"{name:<20}{'seconds':>9}{'processor':>11}{'speed beside the core':>24}{'processor':>11}")
            for contender, (wall, spent) in ratios(seconds).items():
                both = seconds[contender]
                print(f"  {contender:<18}{both[0]:>9.2f}{both[1]:>11.2f}{wall:>23.0%}{spent:>11.0%}")
    slow = [
        f"{contender} with {name}"
        for name, seconds in results.items()
        for contender in REACHING
        if ratios(seconds)[contender][1] < REACH
    ]
    if slow:
        sys.exit(f"under {REACH:.0%} of the core's speed: {', '.join(slow)}")


if __name__ == "__main__":
    main()
