"""Generated sites: rows a second, the most memory held, and whether the rows are the same every time.

    python -m bench.generate                            200,000 rows of one site
    python -m bench.generate --rows 10000000 --kind forum
    python -m bench.generate --rows 10000000 --sites 10000

Every run is made twice, in processes of their own with batches of different sizes and other hash seeds; a
fingerprint of all columns and of the truth must agree. Memory is that of a whole process, and must not grow
with the rows: a tenth of them is made first. (Below a million rows a tenth may not fill one batch, and the
two say nothing about each other.)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bench.common import machine
from bench.sites import KINDS, Crawl, crowd, site
from undust.files.temporary import peak_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from bench.sites.rows import Rows

ENOUGH = 1_000_000
GROWTH = 1.25
"""The peak of all rows may exceed that of a tenth of them by this factor."""


class Fingerprint:
    """A hash of rows, whatever batches they come in."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[Any, Any]] = {}

    def add(self, rows: Rows) -> None:
        """Take in a batch."""
        columns = {name: rows.observations[name] for name in rows.observations.schema.names}
        for name, column in (columns | {"page": rows.page}).items():
            # Two of them: what comes first of each batch would depend on its size.
            valid, values = self._columns.setdefault(name, (hashlib.blake2b(), hashlib.blake2b()))
            valid.update(column.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8).tobytes())
            _digest(values, column)

    def text(self) -> str:
        """Return the hash of all that came."""
        parts = [
            f"{name} {valid.hexdigest()} {values.hexdigest()}"
            for name, (valid, values) in sorted(self._columns.items())
        ]
        return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _digest(digest: Any, column: pa.Array) -> None:  # noqa: ANN401 -- a hash of hashlib
    column = column.drop_null()
    if pa.types.is_list(column.type):
        digest.update(column.flatten().to_numpy(zero_copy_only=False).tobytes())
    elif pa.types.is_string(column.type):
        digest.update("".join(f"{text}\n" for text in column.to_pylist()).encode())
    else:
        digest.update(column.cast(pa.int64()).to_numpy(zero_copy_only=False).tobytes())


def batches(told: argparse.Namespace, rows: int) -> Iterator[Rows]:
    """Yield all rows."""
    crawl = Crawl(noise=0.1)
    if not told.sites:
        yield from site(told.kind, rows, seed=1).batches(crawl, told.batch)
        return
    sites = crowd(list(KINDS.values()), rows, max(1, told.sites * rows // told.rows), seed=1)
    yield from chain.from_iterable(each.batches(crawl, told.batch) for each in sites)


def make(told: argparse.Namespace) -> None:
    """Make the rows in this process and print its figures."""
    started, spent = time.perf_counter(), time.process_time()
    print_of, count, made_in = Fingerprint(), 0, 0.0
    source = batches(told, told.make)
    while True:
        begin = time.process_time()
        rows = next(source, None)
        made_in += time.process_time() - begin
        if rows is None:
            break
        count += rows.observations.num_rows
        print_of.add(rows)
    figures = {
        "rows": count,
        "seconds": round(time.perf_counter() - started, 1),
        "processor_seconds": round(time.process_time() - spent, 1),
        "rows_per_processor_second": round(count / made_in),
        "peak_memory_bytes": peak_memory_bytes(),
        "fingerprint": print_of.text(),
    }
    print(json.dumps(figures))


def figures_of(told: argparse.Namespace, rows: int, batch: int) -> dict[str, Any]:
    """Make rows in a process of its own."""
    command = [sys.executable, "-m", "bench.generate", "--make", str(rows), "--rows", str(told.rows)]
    command += ["--kind", told.kind, "--sites", str(told.sites), "--batch", str(batch)]
    environment = {**os.environ, "PYTHONHASHSEED": str(batch)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def main() -> None:
    """Tell the figures; fail if rows differ or memory grows."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--rows", type=int, default=200_000)
    ask.add_argument("--kind", choices=KINDS, default="forum")
    ask.add_argument("--sites", type=int, default=0, help="of all kinds, instead of one site")
    ask.add_argument("--batch", type=int, default=32_768, help=argparse.SUPPRESS)
    ask.add_argument("--make", type=int, help=argparse.SUPPRESS)
    told = ask.parse_args()
    if told.make:
        make(told)
        return
    print(f"{machine()}\n")
    runs = [figures_of(told, told.rows // 10, 32_768)]
    runs += [figures_of(told, told.rows, batch) for batch in (32_768, 10_007)]
    for run in runs:
        print(
            "  ".join(f"{name} {value:,}" if name != "fingerprint" else value for name, value in run.items())
        )
    if runs[1]["fingerprint"] != runs[2]["fingerprint"]:
        sys.exit("the same seed gave other rows")
    grew = runs[1]["peak_memory_bytes"] / runs[0]["peak_memory_bytes"]
    if told.rows >= ENOUGH and grew > GROWTH:
        sys.exit("memory grows with the rows")


if __name__ == "__main__":
    main()
