"""The rules do not depend on where the work was done: threads, tasks, order of rows, memory or disk."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from bench.scale_rows import batches
from undust.engines import LocalEngine, local, spool
from undust.jobs.combined import learn_combined
from undust.jobs.read import WITH_SITE, with_site
from undust.reading.observations import SCHEMA, Observations

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 3000


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """A giant and some others."""
    return pa.Table.from_batches(batches(ROWS, minima=8), SCHEMA)


@pytest.fixture(scope="module")
def expected(rows: pa.Table) -> bytes:
    """What one process in memory gives; the giant is learned from a sample there too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "site_rows", lambda _: ROWS // 4)
        patch.setattr(local, "site_rows", lambda _: ROWS // 4)
        outcome = learn_combined(rows)
    assert list(outcome.as_json()["sampled"]) == ["site0.test"]
    assert len(outcome.rules) > 4
    return outcome.rules.dumps()


@pytest.mark.parametrize(
    ("threads", "task_rows", "held"),
    [(1, 100, 1e-9), (2, 300, 0.1), pytest.param(2, 900, 1e-9, marks=pytest.mark.huge)],
)
def test_wherever_the_work_is_done(
    threads: int,
    task_rows: int,
    held: float,
    rows: pa.Table,
    expected: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On disk and in memory, in one process or two, in any tasks, in any order."""
    monkeypatch.setattr(local, "site_rows", lambda _: ROWS // 4)
    monkeypatch.setattr(local, "WORTH_PROCESSES", 0)
    monkeypatch.setattr(spool, "HELD_SHARE", held)
    order = random.Random(task_rows).sample(range(len(rows)), len(rows))
    with LocalEngine("4GB", threads, str(tmp_path), task_rows) as engine:
        table = engine.map_rows(rows.take(order), with_site, WITH_SITE)
        assert (table.path is None) == (held > 1e-3)
        assert learn_combined(Observations(table), engine=engine).rules.dumps() == expected
    assert list(tmp_path.iterdir()) == []
