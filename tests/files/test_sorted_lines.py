"""Lines in the order of their bytes, however few of them fit into memory."""

from __future__ import annotations

import random
import tempfile
from typing import TYPE_CHECKING

import pytest

from undust.files import temporary
from undust.files.temporary import OrderedLines, sorted_lines

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


def test_lines_are_read_again_and_more_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By several readers at once; the file has no name, so nothing is to be removed."""
    monkeypatch.setattr(temporary, "HELD_LINE_BYTES", 64)
    lines = OrderedLines(str(tmp_path))
    given = [f"{number * 7919 % 100:02}".encode() for number in range(100)]
    for line in given[:60]:
        lines.add(line)
    one, other = iter(lines), iter(lines)
    assert [next(one) for _ in range(50)] == sorted(given[:60])[:50]
    assert list(other) == sorted(given[:60])
    assert list(one) == sorted(given[:60])[50:]
    for line in given[60:]:
        lines.add(line)
    assert list(lines) == sorted(given)
    assert len(lines) == 100
    assert list(tmp_path.iterdir()) == []
