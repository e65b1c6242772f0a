"""Lines in the order of their bytes, however few of them fit into memory."""

from __future__ import annotations

import random
import tempfile
from typing import TYPE_CHECKING

import pytest

from undust.files.temporary import sorted_lines

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("run_bytes", [1, 100, 5000, 1 << 30])
@pytest.mark.parametrize("most_runs", [2, 3, 128])
def test_the_order_does_not_depend_on_the_memory(
    run_bytes: int, most_runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of runs of any size and number, and nothing is left behind."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    chance = random.Random(1)
    lines = [bytes(chance.choices(b"ab \xff!~", k=chance.randint(0, 9))) + b"\n" for _ in range(300)]
    assert list(sorted_lines(iter(lines), run_bytes, most_runs)) == sorted(lines)
    assert list(tmp_path.iterdir()) == []


def test_no_lines() -> None:
    """Nothing in, nothing out."""
    assert list(sorted_lines([])) == []


def test_a_reader_that_stops_early_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `| head` does."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ordered = sorted_lines([b"b\n", b"a\n", b"c\n"], run_bytes=1)
    assert next(ordered) == b"a\n"
    assert list(tmp_path.iterdir())
    del ordered
    assert list(tmp_path.iterdir()) == []
