"""What every test shares: how hard hypothesis tries, where the data lies, what a skip may hide.

Run with `UNDUST_STRICT=1` (as CI does), a test that is skipped because a package or a program is
missing fails instead; only data that is not part of the repository may be absent, and the programs that
`UNDUST_UNREACHABLE` names, because no registry gave them.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pyspark.sql import SparkSession

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

REPOSITORY = Path(__file__).resolve().parent.parent
NO_DATA = "no data"
"""How the reason of a skip starts that even a strict run allows."""

# Time on a shared machine says nothing about the code, so there is no deadline. `ci` tries the
# same examples every time; `dev` (--hypothesis-profile=dev) looks further, each time elsewhere.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "dev", deadline=None, max_examples=3000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")


def data_folder() -> Path:
    """Return where the real URL lists and crawls lie, if anybody has them."""
    beside = REPOSITORY.parent / "shared" / "data"
    return Path(os.environ.get("UNDUST_DATA", beside))


@pytest.fixture(scope="session")
def needs_data() -> Callable[[str], Path]:
    """Give the path of a data file by its name, or skip the test where it is absent."""

    def find(name: str) -> Path:
        path = data_folder() / name
        if not path.exists():
            pytest.skip(f"{NO_DATA}: {name} is in no folder next to the repository nor in UNDUST_DATA")
        return path

    return find


@pytest.fixture(scope="session")
def repository() -> Path:
    """Return the folder that holds `src`, `cpp` and `tests`."""
    return REPOSITORY


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Generator[SparkSession]:
    """Start Spark on two cores, once for all files that a worker runs; it takes its time."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java; on Debian: apt-get install default-jre-headless")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder = tmp_path_factory.mktemp("spark")
    said = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        # What runs for seconds is not worth being compiled, neither by Spark nor twice by Java.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.local.dir": str(folder),
        "spark.python.daemon.module": "tests.engines.spark_daemon",
        "spark.executorEnv.PYTHONPATH": str(REPOSITORY),
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    # A task may fail once before the job does.
    session = sql.SparkSession.builder.master("local[2, 2]").config(map=said).getOrCreate()
    yield session
    session.stop()


def _is_unreachable(reason: str) -> bool:
    """Whether a program is missing that `.ci/run` could not get over the network, and names."""
    return any(name in reason.lower() for name in os.environ.get("UNDUST_UNREACHABLE", "").split())


def _fail_if_skipped(report: Report) -> Report:
    if os.environ.get("UNDUST_STRICT") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not reason.removeprefix("Skipped: ").startswith(NO_DATA) and not _is_unreachable(reason):
            report.outcome = "failed"
            report.longrepr = f"skipped in a strict run: {reason}"
    return report


def pytest_configure() -> None:
    """Take Ctrl-C and a closed terminal as a person's shell does; load without collecting garbage.

    In the background of a script, or behind `nohup`, both are ignored, and so they would be by every command
    that a test starts and stops with them.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    gc.disable()  # until all is collected: what is loaded stays


LONG = (
    *("test_spark.py", "test_kills.py", "test_docs.py", "test_every_target.py", "test_spark_cluster.py"),
    *("engines", "fuzz", "integrations", "asking", "js", "report", "exports", "learning", "cli"),
)
"""Files and folders that take longest; begun first, no worker is left alone with one of them at the end."""


SPARK = ("engines/test_spark.py", "engines/test_spark_cluster.py", "integrations/test_spark.py")
"""Files whose tests share one Spark: one worker runs them all, so that it is started once."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give the files that need Spark to one worker, and every other file to any."""
    if config.getvalue("dist") != "loadfile":
        return None
    scheduler = import_module("xdist.scheduler").LoadFileScheduling(config, log)
    by_file = scheduler._split_scope  # noqa: SLF001 -- what a scheduler of one's own is to override
    scheduler._split_scope = lambda test: "spark" if by_file(test).endswith(SPARK) else by_file(test)  # noqa: SLF001
    return scheduler


def _turn(item: pytest.Item) -> int:
    places = [LONG.index(name) for name in (item.path.name, item.path.parent.name) if name in LONG]
    return min(places, default=len(LONG))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, in the order of `LONG`."""
    items.sort(key=_turn)


def pytest_collection_finish() -> None:
    """Leave all that was loaded out of the collection of garbage: it is never freed, and large."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Count a skipped test as failed when the run is strict."""
    return _fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Count a skipped file (`pytest.importorskip`) as failed when the run is strict."""
    return _fail_if_skipped((yield))
