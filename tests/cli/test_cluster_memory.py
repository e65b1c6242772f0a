"""`undust cluster --memory`: two hundred thousand rows that do not fit, watched from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from bench.cluster import ALLOWED, batches, measured
from undust.engines.spool import HELD_SHARE, LEAST_MEMORY, PROGRAM_BYTES, bytes_of
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 200_000
LIMIT = "384MB"


@pytest.mark.slow
def test_a_job_larger_than_its_memory_keeps_it(tmp_path: Path) -> None:
    """The rows go to disk and are sorted there; the process and all that it starts stay within the limit.

    The limit is the least that is allowed: of it the program itself takes a quarter, whatever it reads.
    """
    assert bytes_of(LIMIT) == LEAST_MEMORY
    source, clusters = tmp_path / "seen.parquet", tmp_path / "clusters.parquet"
    held = 0
    with pq.ParquetWriter(source, SCHEMA, compression="zstd") as writer:
        for batch in batches(ROWS, minima=32):
            writer.write_batch(batch)
            held += batch.nbytes
    assert held > HELD_SHARE * (LEAST_MEMORY - PROGRAM_BYTES)  # so they go to disk
    told, _, peak = measured(
        ["cluster", str(source), "-o", str(clusters), "--memory", LIMIT, "--threads", "2", "--json"]
    )
    assert peak < ALLOWED * LEAST_MEMORY
    rows = pq.read_table(clusters)
    assert told["sightings"] == ROWS
    assert told["urls"] == len(rows) == len(set(rows["url"].to_pylist()))
    assert rows["site"].to_pylist() == sorted(rows["site"].to_pylist())
    assert set(rows["site"].to_pylist()) == {f"site{number}.test" for number in range(told["sites"])}
