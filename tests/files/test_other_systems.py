"""Systems without POSIX's locks, timers, users and usage counts: the command does its work without them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

from undust.files import temporary

ELSEWHERE = """
import os, signal, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "resource"}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
for module, names in (
    (os, ("O_CLOEXEC", "O_DIRECTORY", "getuid")),
    (signal, ("SIGALRM", "SIGHUP", "setitimer")),
):
    for name in names:
        delattr(module, name)
from undust.__main__ import main
main()
"""


def elsewhere(*words: str | Path, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command as on a system that has none of that."""
    return subprocess.run(
        [sys.executable, "-c", ELSEWHERE, *words], input=data, capture_output=True, check=False
    )


def test_files_are_written_whole(tmp_path: Path) -> None:
    """Lists are normalized into a file, and nothing else is left beside it."""
    target = tmp_path / "normal.txt"
    done = elsewhere("normalize", "-o", target, data=b"HTTP://Shop.test:80\n")
    assert done.stderr == b""
    assert target.read_bytes() == b"http://shop.test/\n"
    assert list(tmp_path.iterdir()) == [target]


def test_pages_are_found(tmp_path: Path, repository: Path) -> None:
    """The engine's folder for temporary files is found, used and removed."""
    pages = tmp_path / "pages.csv"
    done = elsewhere("cluster", repository / "examples" / "shop.jsonl.gz", "-o", pages, "--tmp", tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [pages]


def test_memory_that_nobody_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without either source the peak is unknown, and 0."""
    assert temporary.peak_memory_bytes() > 1 << 20
    monkeypatch.setattr(temporary, "STATUS", tmp_path / "none")
    assert temporary.peak_memory_bytes() > 1 << 20
    monkeypatch.setattr(temporary, "resource", None)
    assert temporary.peak_memory_bytes() == 0
