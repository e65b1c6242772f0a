"""Observations to clusters: rows a second, and the most memory that the whole job held at a time.

    python -m bench.cluster                                    200,000 rows, as CI does
    python -m bench.cluster --rows 10000000 --memory 4GB       more than fits: sorted on disk

The rows are of many sites, mixed, as a crawl writes them: few large sites, many small ones, several
forms of a URL for one page, error pages with status 200, sketches of 32 minima. The job is the
command `undust cluster` itself, in its own process; memory is what it and its workers hold together.
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
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.common import machine
from bench.processes import taken
from undust.engines.spool import bytes_of
from undust.reading.observations import BATCH_ROWS, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

ALLOWED = 1.2
"""The peak may exceed the memory that was given by this factor."""
FORMS = ("", "", "", "?sid=", "?ref=", "/index.html", "/", "?page=1&sid=")


def site_weights(rows: int) -> NDArray[np.float64]:
    """Return how likely a row is of which site: 1 / rank, the largest with some 8 % of the rows."""
    weights = 1 / np.arange(1, max(50, rows // 1000) + 1)
    return np.asarray(weights / weights.sum())


def batches(rows: int, minima: int) -> Iterator[pa.RecordBatch]:
    """Yield observations of many sites, in no order."""
    chance = np.random.default_rng(7)
    weights = site_weights(rows)
    for start in range(0, rows, BATCH_ROWS):
        count = min(BATCH_ROWS, rows - start)
        site = chance.choice(len(weights), count, p=weights)
        pages = np.maximum(3, weights[site] * rows / 4).astype(np.int64)
        yield batch_of(site, chance.integers(0, pages), chance, minima)


def batch_of(
    site: NDArray[np.int64], page: NDArray[np.int64], chance: np.random.Generator, minima: int
) -> pa.RecordBatch:
    """Return rows of the given pages, each under one of its URLs."""
    count = len(site)
    form = chance.integers(0, len(FORMS), count)
    noise = pa.array(chance.integers(0, 1 << 30, count)).cast(pa.string())
    suffix = pa.array(FORMS).take(pa.array(form))
    noise = pc.if_else(pc.ends_with(suffix, "="), noise, "")
    number = pa.array(site).cast(pa.string())
    url = pc.binary_join_element_wise(
        "http://www.site", number, ".test/section/", pa.array(page % 37).cast(pa.string()), "/item-",
        pa.array(page).cast(pa.string()), suffix, noise, "",
    )  # fmt: skip
    # One page in twenty is gone, and says so with status 200.
    shown = np.where(page % 20 == 3, 0, page + 1) + site * (1 << 32)  # noqa: PLR2004 -- any remainder
    digest = pc.binary_join_element_wise("sha1-of-page-", pa.array(shown).cast(pa.string()), "")
    columns = {
        "url": url,
        "status": pa.array(np.full(count, 200, np.int16)),
        "size": pa.array(np.where(shown % (1 << 32) == 0, 700, 2000 + shown % 5000)),
        "digest": digest,
        "sketch": sketches(shown, minima),
    }
    missing = {name: pa.nulls(count, SCHEMA.field(name).type) for name in SCHEMA.names if name not in columns}
    return pa.record_batch([(columns | missing)[name] for name in SCHEMA.names], schema=SCHEMA)


def sketches(shown: NDArray[np.int64], minima: int) -> pa.Array:
    """Return minima that only depend on the content."""
    if not minima:
        return pa.nulls(len(shown), SCHEMA.field("sketch").type)
    mixed = np.repeat(shown.astype(np.uint64)[:, None] * np.uint64(0x9E3779B97F4A7C15), minima, axis=1)
    mixed += np.arange(minima, dtype=np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    values = pa.array((mixed >> np.uint64(36)).astype(np.uint32).reshape(-1))
    offsets = pa.array(np.arange(0, len(shown) * minima + 1, minima, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, values)


def measured(arguments: list[str]) -> tuple[dict[str, Any], float, int]:
    """Run the command; return what it told, and the processor time and peak memory of all its processes."""
    # To a file: nobody reads a pipe while the memory is watched.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([sys.executable, "-m", "undust", *arguments], stdout=output)
        peak = 0
        seconds = 0.0
        while process.poll() is None:
            now = taken(process.pid)
            peak, seconds = max(peak, now.memory_bytes), max(seconds, now.processor_seconds)
            time.sleep(0.1)
        output.seek(0)
        told = output.read()
    if process.returncode:
        sys.exit(f"undust cluster ended with {process.returncode}")
    return json.loads(told), seconds, peak


def main() -> None:
    """Make the rows, cluster them, tell the figures; fail if the memory was not kept."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--rows", type=int, default=200_000)
    ask.add_argument("--memory", help="as in 4GB")
    ask.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    ask.add_argument("--minima", type=int, default=32, help="in a sketch; 0 for none")
    ask.add_argument("--folder", help="for the rows and the clusters, if not that for temporary files")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    with tempfile.TemporaryDirectory(dir=told.folder) as folder:
        source, result = Path(folder, "seen.parquet"), Path(folder, "clusters.parquet")
        with pq.ParquetWriter(source, SCHEMA, compression="zstd") as writer:
            for batch in batches(told.rows, told.minima):
                writer.write_batch(batch)
        arguments = ["cluster", str(source), "-o", str(result), "--threads", str(told.threads), "--json"]
        limit = ["--memory", told.memory] if told.memory else []
        summary, seconds, peak = measured([*arguments, *limit])
    figures = {
        "rows": told.rows,
        "processor_seconds": round(seconds, 2),
        "rows_per_processor_second": round(told.rows / seconds),
        "peak_memory_bytes": peak,
        "memory_limit_bytes": bytes_of(told.memory) if told.memory else None,
        **{name: summary[name] for name in ("sites", "urls", "clusters", "distrusted_urls")},
    }
    if told.json:
        print(json.dumps(figures))
    else:
        print(f"{machine()}\n")
        for name, value in figures.items():
            print(f"{name:20} {value:,}" if isinstance(value, int) else f"{name:20} {value}")
    if told.memory and peak > ALLOWED * bytes_of(told.memory):
        sys.exit(f"the job held {peak:,} bytes, more than {told.memory} and a fifth")


if __name__ == "__main__":
    main()
