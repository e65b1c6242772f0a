"""Faults of version 0.1 that cost time, memory or room on the disk: hostile rows, a kill at a bad moment."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.first_use.files import crawl_file, items

if TYPE_CHECKING:
    from pathlib import Path

NAMES = 800
USUAL_PAGES = 2_000
MADE_AND_KILLED = """
import os, signal
make = os.mkdir
def killed(path, *arguments, **options):
    make(path, *arguments, **options)
    if os.path.basename(path).startswith("undust"):
        os.kill(os.getpid(), signal.SIGTERM)
os.mkdir = killed
"""


def seconds_of(path: Path, most: float | None = None) -> float:
    """Return the processor time that `learn` takes for a file; it is ended when it has taken the most."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = [] if most is None else ["sh", "-c", f'ulimit -t {int(most) + 1}; exec "$@"', "sh"]
    words = [
        *limit,
        sys.executable,
        "-m",
        "undust",
        "learn",
        str(path),
        "-o",
        f"{path}.rules",
        "--threads",
        "1",
    ]
    subprocess.run(words, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(now - then for now, then in zip(after[:2], before[:2], strict=True))


@pytest.mark.parametrize("url", ["/p?name{n}=1"])
def test_c1_a_name_of_its_own_in_each_row_is_bounded_work(url: str, tmp_path: Path) -> None:
    """Few such rows take less than three times the processor time of many more ordinary ones."""
    rows = [{"url": f"http://shop.test{url.format(n=n)}", "digest": f"{n // 4}"} for n in range(NAMES)]
    usual = seconds_of(crawl_file(tmp_path / "usual.jsonl", items(USUAL_PAGES, "?sid={n}", "?ref={n}&b=1")))
    most = 3 * usual
    assert seconds_of(crawl_file(tmp_path / "names.jsonl", rows), most) < most


def test_a_kill_right_behind_a_new_folder_leaves_none(tmp_path: Path) -> None:
    """Between the making of a temporary folder and the moment at which its name was noted."""
    seen = crawl_file(tmp_path / "seen.jsonl", items(60, "?sid={n}", "?sid={n}0"))
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    (tmp_path / "sitecustomize.py").write_text(MADE_AND_KILLED, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "undust", "learn", seen, "-o", tmp_path / "r.json", "--method", "substring"],
        env=os.environ | {"TMPDIR": str(scratch), "PYTHONPATH": path},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert list(scratch.iterdir()) == []
