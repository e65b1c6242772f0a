"""A sort that finds no room for what memory cannot hold: on a real disk that is really too small.

Only who may mount can make one, and it takes a while to fill; see also `tools.faults`.
"""

from __future__ import annotations

import random
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tests.engines.test_local import RESULT, SCHEMA, read, total
from undust.engines import LocalEngine
from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.huge

ROWS = 1_000_000


@contextmanager
def disk_of(megabytes: int, folder: Path) -> Iterator[None]:
    """Put a small disk over a folder."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S607


def rows_that_do_not_pack() -> Iterator[pa.RecordBatch]:
    """Rows of 500 sites, all mixed, some 200 bytes each."""
    chance = random.Random(1)
    for start in range(0, ROWS, 1000):
        columns = [
            [f"site-{chance.randrange(500):03}" for _ in range(1000)],
            range(start, start + 1000),
            [chance.randbytes(100).hex() for _ in range(1000)],
        ]
        yield pa.record_batch([pa.array(column) for column in columns], schema=SCHEMA)


def test_a_disk_that_is_too_small_for_sorting(tmp_path: Path) -> None:
    """The rows found room, sorted ones do not: one sentence with the mend, and nothing is left."""
    with disk_of(170, tmp_path):
        with LocalEngine("384MB", threads=2, folder=str(tmp_path)) as engine:
            table = read(engine, rows_that_do_not_pack())
            with pytest.raises(UndustError, match=rf"^sorting by site failed \(.*make room in {tmp_path}$"):
                engine.map_sites(table, total, RESULT)
        assert list(tmp_path.iterdir()) == []


def test_the_same_rows_on_a_larger_disk(tmp_path: Path) -> None:
    """Then they are sorted, every one of them."""
    with disk_of(1000, tmp_path), LocalEngine("384MB", threads=2, folder=str(tmp_path)) as engine:
        table = read(engine, rows_that_do_not_pack())
        found = engine.collect(engine.map_sites(table, total, RESULT))
        assert sum(found["rows"].to_pylist()) == ROWS
        assert sum(found["total"].to_pylist()) == ROWS * (ROWS - 1) // 2
