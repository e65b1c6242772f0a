"""A job in a process of its own, forked from one that has loaded everything, and how it ended.

A signal so meets the work, and not the loading of Python.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from tools.faults.jobs import UNDUST, Job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Setting = Callable[[], object]

PART = ".undust-*.part"
LONGEST_S = 120.0
SHOW_STACKS, STACKS_S = signal.SIGUSR1, 5.0
"""What makes a job that does not end say where it is, and how long it has for that."""
OTHERS = ("undust.integrations", "undust.engines.spark", "undust.cli.spark_submit", "undust.__main__")
"""Modules that need a program of somebody else, or that start something."""
OF_OTHERS = (
    *("duckdb", "pyarrow.acero", "pyarrow.json", "numpy.ma", "numpy.random", "dateutil.relativedelta"),
    *("httpcore", "protego", "rich.text", "warcio.archiveiterator", "fastwarc.warc"),
)
"""What the commands use of other packages; some load it when they need it."""


def load_everything() -> None:
    """Load what any job would load."""
    import_module("undust.__main__")  # it leaves out what commands do not need; a run imports it anew
    del sys.modules["undust.__main__"]
    for name in (*own_modules(), *OF_OTHERS):
        import_module(name)


def own_modules() -> Iterator[str]:
    """Give the names of all modules that a job may load."""
    import undust  # noqa: PLC0415 -- the tool is imported for its table as well

    for module in walk_packages(undust.__path__, "undust."):
        if not module.name.startswith(OTHERS):
            yield module.name


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or the number of its signal, negative; and what it said."""

    code: int
    said: str


class Running:
    """A job in a process of its own."""

    def __init__(self, job: Job, folder: Path, *more: str, setting: Setting | None = None) -> None:
        self.folder = folder
        reader, writer = os.pipe()
        sys.stdout.flush()
        # No Ctrl-C between the fork and the moment at which the command says what it shall do.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            _be(job, folder, more, writer, setting)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(writer)
        self._reader = reader

    def ended(self) -> Ended:
        """Wait for its end."""
        pieces, is_over = self._read(LONGEST_S)
        if not is_over:
            os.kill(self.pid, SHOW_STACKS)
            pieces += [b"Traceback: it never ended\n", *self._read(STACKS_S)[0]]
            self.send(signal.SIGKILL)
        os.close(self._reader)
        _, status = os.waitpid(self.pid, 0)
        return Ended(os.waitstatus_to_exitcode(status), b"".join(pieces).decode("utf-8", "replace"))

    def _read(self, seconds: float) -> tuple[list[bytes], bool]:
        """Return what it says for some time, and whether it ended."""
        pieces: list[bytes] = []
        end = time.monotonic() + seconds
        while select.select([self._reader], [], [], max(0, end - time.monotonic()))[0]:
            piece = os.read(self._reader, 1 << 16)
            if not piece:
                return pieces, True
            pieces.append(piece)
        return pieces, False

    def wait_for_part(self, seconds: float) -> None:
        """Wait until an unfinished file shows, or for some time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not any(self.folder.glob(PART)):
            time.sleep(0.0003)

    def send(self, number: int) -> None:
        """Send a signal, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _be(job: Job, folder: Path, more: tuple[str, ...], writer: int, setting: Setting | None) -> None:
    """Become the job; never return."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        faulthandler.register(SHOW_STACKS, file=2, all_threads=True)
        from undust import __main__ as entry  # noqa: PLC0415 -- loaded by the parent

        signal.signal(signal.SIGINT, entry._end)  # noqa: SLF001 -- as `main` does first of all
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.chdir(folder)
        (folder / "tmp").mkdir(exist_ok=True)
        tempfile.tempdir = str(folder / "tmp")
        sys.dont_write_bytecode = True  # half a compiled module would break every later run
        if setting:
            setting()
        if job.program is UNDUST:
            sys.argv = ["undust", *job.words[len(UNDUST) :], *more]
            entry.main()
        else:
            exec(job.arguments[1], {})  # noqa: S102 -- our own text, as `python -c` would
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:  # noqa: BLE001 -- told as Python would
        import traceback  # noqa: PLC0415

        traceback.print_exc()
        code = 1
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
