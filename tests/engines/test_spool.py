"""Temporary files: gone at every end of a program, and after a hard one at the start of the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from undust.engines import spool
from undust.engines.spool import LOCK, SCRATCH_PREFIX, YOUNG, Scratch, Spool, remove_abandoned
from undust.errors import UndustError

if TYPE_CHECKING:
    from pathlib import Path

# A program with temporary files, as the command is one: a polite signal raises.
PROGRAM = """
import sys, time
from undust.cli import ending_cleanly
from undust.engines.spool import Scratch
with ending_cleanly():
    made = Scratch(sys.argv[1])
    (made.folder / "rows").write_text("x")
    print(made.folder, flush=True)
    if sys.argv[2] == "fails":
        raise ValueError
    time.sleep(60 if sys.argv[2] == "waits" else 0)
"""


def started(parent: Path, way: str) -> subprocess.Popen[str]:
    """A program that has made its folder."""
    words = [sys.executable, "-c", PROGRAM, str(parent), way]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip().startswith(str(parent / SCRATCH_PREFIX))
    return process


def ended(process: subprocess.Popen[str]) -> None:
    """Wait, and close what is open."""
    with process:
        process.wait()


@pytest.mark.parametrize("way", ["ends", "fails"])
def test_nothing_is_left_at_the_end(way: str, tmp_path: Path) -> None:
    """Whether it went well or not."""
    ended(started(tmp_path, way))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_nothing_is_left_after_a_signal(number: signal.Signals, tmp_path: Path) -> None:
    """Of those that can be heard."""
    process = started(tmp_path, "waits")
    process.send_signal(number)
    ended(process)
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_what_the_dead_left_and_nothing_else(tmp_path: Path) -> None:
    """A killed program's folder goes; that of a living one, and what is not ours, stays."""
    living, dead = started(tmp_path, "waits"), started(tmp_path, "waits")
    dead.kill()
    ended(dead)
    foreign = tmp_path / "undust-notes"
    foreign.mkdir()
    assert len(list(tmp_path.glob(f"{SCRATCH_PREFIX}*"))) == 2
    own = Scratch(str(tmp_path))
    assert len(list(tmp_path.glob(f"{SCRATCH_PREFIX}*"))) == 2  # the living one's, and this one
    assert own.folder.exists()
    assert len(list(tmp_path.glob(f"{SCRATCH_PREFIX}*"))) == 2
    own.close()
    living.terminate()
    ended(living)
    assert list(tmp_path.iterdir()) == [foreign]


def test_a_folder_that_is_being_made_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no lock yet; after a minute it is nobody's."""
    young, old = tmp_path / f"{SCRATCH_PREFIX}young", tmp_path / f"{SCRATCH_PREFIX}old"
    young.mkdir()
    old.mkdir()
    past = time.time() - 2 * YOUNG
    os.utime(old, (past, past))
    with_lock = tmp_path / f"{SCRATCH_PREFIX}locked"
    with_lock.mkdir()
    (with_lock / LOCK).touch()
    monkeypatch.setattr(os, "getuid", lambda: -1)  # of somebody else: not touched
    remove_abandoned(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    monkeypatch.undo()
    remove_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [young]


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    """One sentence that names it, and what to do."""
    with pytest.raises(UndustError, match="there is no such folder for temporary files; make it first"):
        _ = Scratch(str(tmp_path / "nowhere")).folder


def test_a_file_has_a_row_group_for_many_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a file holds a description of each group, so their number must not be that of batches."""
    monkeypatch.setattr(spool, "GROUP_BYTES", 8 * 1000)
    schema = pa.schema([("number", pa.int64())])
    batches = [
        pa.record_batch([pa.array(range(at, at + 10), pa.int64())], schema) for at in range(0, 3_000, 10)
    ]
    own = Spool(limit_bytes=1_000, parent=str(tmp_path))
    table = own.keep(iter(batches), schema)
    assert table.path is not None
    assert pq.read_metadata(table.path).num_row_groups == 3
    assert table.num_rows == 3_000
    assert table.table()["number"].to_pylist() == [*range(3_000)]
    own.scratch.close()
