"""Tests run against one mutant, in a process forked from one that has loaded everything else already.

The fault lives in a copy of one file in a temporary folder; the checkout is never touched. A mutant is
killed by the first test that fails, or by using far more processor time than its tests need.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.mutation.hook.sitecustomize import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HOOK = Path(__file__).resolve().parent / "hook"
WARM = (
    *("click", "hypothesis", "numpy", "pyarrow", "pyarrow.compute", "pyarrow.parquet", "pyarrow.csv"),
    *("pyarrow.json", "rich.console", "rich.table", "jinja2", "publicsuffixlist", "resiliparse", "protego"),
    *("httpcore", "warcio", "duckdb", "networkx", "jsonschema", "hypothesis.strategies"),
)
"""What tests load besides undust; loaded once, before the first fork."""

SLOWER = 6
"""A mutant that needs so many times the processor time of its tests is taken for one that never ends."""
LONGEST_WAIT_S = 900


@dataclass(frozen=True)
class Exchanged:
    """The module that is exchanged, its own file, and the file that stands in for it."""

    module: str
    own: Path
    other: Path

    def faultless(self) -> Exchanged | None:
        """Return the same without the fault; None for a build, whose own file is the one installed."""
        return None if self.own == self.other else Exchanged(self.module, self.own, self.own)

    def told(self) -> str:
        """Return what the hook reads."""
        return json.dumps({"module": self.module, "own": str(self.own), "other": str(self.other)})


@dataclass(frozen=True)
class Outcome:
    """Whether a mutant lived, and what ended it."""

    is_killed: bool
    by: str
    cpu_s: float


class Chosen:
    """A plugin of pytest: only the chosen tests, in their order; and the name of the first that fails."""

    def __init__(self, tests: Sequence[str], failed: Path) -> None:
        self.places = {test: place for place, test in enumerate(tests)}
        self.failed = failed

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> object:
        """Put the chosen tests into their order, after all others had their say."""
        result = yield
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed and not self.failed.exists():
            self.failed.write_text(report.nodeid, encoding="utf-8")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that cannot even be loaded."""
        if report.failed and not self.failed.exists():
            self.failed.write_text(report.nodeid, encoding="utf-8")


def warm_up(modules: Iterable[str] = WARM) -> None:
    """Load what every trial needs besides the package; a process holds one core for good."""
    for module in modules:
        with suppress(ImportError):
            import_module(module)
    sys.meta_path.insert(0, Exchange)


def run_tests(exchanged: Exchanged | None, tests: Sequence[str], expected_s: float) -> Outcome:
    """Run tests in a forked process until one fails."""
    with tempfile.TemporaryDirectory(prefix="undust-mutant-") as folder:
        failed = Path(folder) / "failed"
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            _run_and_exit(exchanged, tests, Path(folder), failed, expected_s)
        status = _wait(child, started)
        used = _cpu_of_children()
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == pytest.ExitCode.OK:
            return Outcome(is_killed=False, by="", cpu_s=used)
        if failed.exists():
            return Outcome(is_killed=True, by=failed.read_text(encoding="utf-8"), cpu_s=used)
        if os.WIFSIGNALED(status):
            return Outcome(is_killed=True, by=f"signal {os.WTERMSIG(status)}", cpu_s=used)
        raise RuntimeError((Path(folder) / "said").read_text(encoding="utf-8", errors="replace")[-4000:])


_used = 0.0


def _cpu_of_children() -> float:
    """Return the processor time of the children that ended since the last call."""
    global _used  # the system counts them all together
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    before, _used = _used, usage.ru_utime + usage.ru_stime
    return round(_used - before, 2)


def _wait(child: int, started: float) -> int:
    status = 0
    while time.monotonic() - started < LONGEST_WAIT_S:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.killpg(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):  # what its tests started and did not end
        os.killpg(child, signal.SIGKILL)
    return status


def _run_and_exit(
    exchanged: Exchanged | None, tests: Sequence[str], folder: Path, failed: Path, expected_s: float
) -> None:
    """Be the child: run the tests, and leave without looking back."""
    code = 70
    try:
        os.setsid()
        said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        most = int(20 + SLOWER * expected_s)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
        os.environ["PYTHONPATH"] = str(HOOK)
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        if exchanged is not None:
            os.environ["UNDUST_MUTANT"] = exchanged.told()
        files = list(dict.fromkeys(test.split("::")[0] for test in tests))
        off = [
            word for name in ("randomly", "xdist", "cacheprovider", "cov") for word in ("-p", f"no:{name}")
        ]
        code = pytest.main(
            ["-x", "-q", "--no-header", "--tb=no", "--assert=plain", *off, *files], [Chosen(tests, failed)]
        )
    except BaseException:  # noqa: BLE001 -- whatever it is, the parent has to learn of it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
