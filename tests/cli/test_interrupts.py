"""Ctrl-C ends the command in one line with exit code 130, whenever it comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import UNDUST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STOPPED = "undust: stopped by Ctrl-C; what was not complete was not written\n"

AT_IMPORT = """
import os, signal, sys
class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(100):
            pass
def stop():
    {how}
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {name!r} and {is_here}:
            stop()
sys.meta_path.insert(0, Finder)
"""
AT_EXIT = """
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGINT)
"""
KILL, SWALLOW = "os.kill(os.getpid(), signal.SIGINT)", "Dying()"
IN_WORKER = '"--multiprocessing-fork" in sys.orig_argv'


def obey_ctrl_c() -> None:
    """Let a process obey Ctrl-C, also if the tests run in the background of a script, where it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ran(
    folder: Path, before: str, *arguments: str | Path, prepare: Callable[[], object] | None = None
) -> tuple[int, str]:
    """Run the command in an interpreter that runs a text before all else; return code and stderr."""
    (folder / "sitecustomize.py").write_text(before, encoding="utf-8")
    words = [*UNDUST, *map(str, arguments)]
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        words,
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": path},
        preexec_fn=prepare or obey_ctrl_c,
    )
    return done.returncode, done.stderr.decode()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Two small sites."""
    rows = [
        {"url": f"http://{site}.test/{page}{form}", "cluster": f"{site}{page}"}
        for site in "ab"
        for page in range(30)
        for form in ("", "?sid=1", f"?sid={page}")
    ]
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    [
        *("undust.cli", "click", "undust.errors", "undust.cli.learn", "undust.cli.options"),
        *("undust.jobs", "pyarrow", "pyarrow.compute", "numpy", "undust.learning", "undust.rules"),
    ],
)
def test_while_it_is_loaded(name: str, crawl: Path, tmp_path: Path) -> None:
    """In whichever import it comes."""
    text = AT_IMPORT.format(how=KILL, name=name, is_here=True)
    assert ran(tmp_path, text, "learn", crawl) == (130, STOPPED)


@pytest.mark.parametrize("name", ["undust.cli", "undust.cli.learn", "undust.jobs", "numpy"])
def test_where_python_swallows_it(name: str, crawl: Path, tmp_path: Path) -> None:
    """In a destructor Python can only print an exception; the command ends all the same."""
    text = AT_IMPORT.format(how=SWALLOW, name=name, is_here=True)
    assert ran(tmp_path, text, "learn", crawl) == (130, STOPPED)


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("learn", "--help"), ("learn", "INPUT")])
def test_when_it_is_done(arguments: tuple[str, ...], crawl: Path, tmp_path: Path) -> None:
    """While Python tidies up."""
    words = [crawl if word == "INPUT" else word for word in arguments]
    code, told = ran(tmp_path, AT_EXIT, *words, *(["-q"] if crawl in words else []))
    assert (code, told) == (130, STOPPED)


def test_a_worker_that_starts_says_nothing(crawl: Path, tmp_path: Path) -> None:
    """Ctrl-C on a terminal reaches every process of the job, and one of them answers."""
    text = AT_IMPORT.format(how=KILL, name="undust.engines.workers", is_here=IN_WORKER)
    output = tmp_path / "rules.json"
    code, told = ran(tmp_path, text, "learn", crawl, "--threads", "2", "-q", "-o", output)
    assert "Traceback" not in told
    assert (code, told) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_what_is_to_be_ignored_is_ignored(number: signal.Signals, crawl: Path, tmp_path: Path) -> None:
    """Under nohup, or in the background of a script, the signal does not end the job."""
    text = AT_IMPORT.format(how=f"os.kill(os.getpid(), {int(number)})", name="undust.jobs", is_here=True)
    ended = ran(tmp_path, text, "learn", crawl, "-q", prepare=lambda: signal.signal(number, signal.SIG_IGN))
    assert ended == (0, "")


def test_the_package_alone_changes_no_signal() -> None:
    """A program that uses undust as a library keeps its own Ctrl-C."""
    text = "import signal, undust; undust.normalize; print(signal.getsignal(signal.SIGINT).__name__)"
    words = [sys.executable, "-c", text]
    done = subprocess.run(words, capture_output=True, check=True, preexec_fn=obey_ctrl_c)
    assert done.stdout == b"default_int_handler\n"
