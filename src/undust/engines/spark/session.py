"""Spark itself: how it is started, which files it knows, and in one sentence what it lacks or why it failed.

Files are those on HDFS, S3, Azure, Google, and in folders that all machines see. What Spark says when a job
ends is a hundred lines; the sentence is found in them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import MissingExtra, SourceError, UndustError
from undust.extras import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

OLDEST = "4.1"
LEAST_HEAP = 512 << 20
"""With less, Java starts and Spark refuses to."""
SHUFFLE = "spark.sql.shuffle.partitions"
CLUSTER_PARTITIONS, PARTITIONS = "200", 8
"""What Spark cuts a shuffle into, for a cluster, and what is enough for each core of one machine: each part
costs a fifth of a second of processor time."""
STDERR = 2
QUIET = {
    "spark.log.level": "OFF",
    "spark.sql.warehouse.dir": os.devnull,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""A command prints what it has to say itself; under spark-submit, what was said there holds."""


def require_spark() -> None:
    """Raise unless Spark can be loaded."""
    require("pyspark", OLDEST, extra="spark")


class Session(NamedTuple):
    """A session, and whether it was there before."""

    spark: SparkSession
    is_new: bool


def started(
    master: str | None = None,
    memory: int | None = None,
    threads: int | None = None,
    folder: str | None = None,
) -> Session:
    """Return the session of this process: the one that runs already, or a new one.

    Args:
        master: The address of a cluster, or `local[2]`; by default all cores of this machine, and under
            spark-submit the one that was given there.
        memory: Bytes that each machine may use; half of it is Java's, the rest is for Python.
        threads: Cores of this machine to use, if no master is named.
        folder: Where Spark puts what does not fit into memory.

    """
    require_spark()
    from py4j.protocol import Py4JError  # noqa: PLC0415 -- slow to load
    from pyspark import SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    is_running = SparkContext._active_spark_context is not None  # noqa: SLF001 -- there is no public name
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if not is_submitted:
        _require_java()
    said: dict[str, bool | float | int | str | None] = {} if is_submitted else dict(QUIET)
    if not is_submitted and (master or "local").startswith("local"):
        # Or it would be whichever python3 is first on the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if folder is not None:
        said["spark.local.dir"] = folder
    if memory is not None and not is_running:
        said |= _shared_out(memory)
    builder = SparkSession.builder.appName("undust").config(map=said)
    if master is not None or not is_submitted:
        builder = builder.master(master or f"local[{threads or '*'}]")
    try:
        with _keeping_ctrl_c(), nullcontext() if is_submitted or is_running else _without_chatter():
            session = Session(builder.getOrCreate(), is_new=not is_running)
    except (Py4JError, PySparkException, OSError, RuntimeError) as error:
        raise _not_started(str(error), master) from error
    if session.is_new and not is_submitted:
        _cut_for_one_machine(session.spark, _cores_here(master, threads))
    return session


def _cut_for_one_machine(spark: SparkSession, cores: int | None) -> None:
    """Cut shuffles into as many parts as one machine needs, unless a person said how many."""
    if cores is not None and spark.conf.get(SHUFFLE) == CLUSTER_PARTITIONS:
        spark.conf.set(SHUFFLE, str(PARTITIONS * cores))


def _cores_here(master: str | None, threads: int | None) -> int | None:
    """Return how many cores of this machine a master means; None for those of a cluster.

    >>> _cores_here("local[3]", None), _cores_here("local", 8), _cores_here(None, 5), _cores_here("yarn", 5)
    (3, 1, 5, None)
    """
    if master is None:
        return threads or os.cpu_count() or 1
    found = re.fullmatch(r"local(?:\[(\d{1,9}|\*)(?:, *\d+)?\])?", master)
    if found is None:
        return None
    return os.cpu_count() or 1 if found[1] == "*" else int(found[1] or 1)


@contextmanager
def _keeping_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C mean what it meant: Spark's own handler asks Java in the middle of another question."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and current_thread() is main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Discard what Java prints when it starts: a dozen lines, before its logging can be set."""
    try:
        kept = os.dup(STDERR)
    except OSError:  # it does not exist
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STDERR)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, STDERR)
        os.close(kept)


def _shared_out(memory: int) -> dict[str, str]:
    """Return the settings for the memory of a machine."""
    heap = memory // 2
    if heap < LEAST_HEAP:
        message = (
            f"--memory {memory >> 20}MB is too little for Spark, whose Java takes half of it and needs "
            "512 MB; give 1GB or more"
        )
        raise UndustError(message)
    java = f"{heap >> 20}m"
    # What Python takes is beside the heap, and a cluster manager ends a process beyond its limit.
    return {
        "spark.driver.memory": java,
        "spark.executor.memory": java,
        "spark.executor.memoryOverhead": f"{memory - heap >> 20}m",
    }


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"at JAVA_HOME={home}" if home else "on the path"
        message = (
            f"Spark needs Java 17 or newer, which is not {where}; "
            "install it (on Debian: apt-get install default-jre-headless), or set JAVA_HOME"
        )
        raise MissingExtra(message, name="java")


def _not_started(reason: str, master: str | None) -> UndustError:
    if "JAVA_GATEWAY_EXITED" in reason:
        return UndustError(
            "Spark did not start: Java ended at once; Spark needs Java 17 or newer, see 'java -version', "
            "and enough --memory"
        )
    line = reason.strip().splitlines()[0].rstrip(".") if reason.strip() else "it does not say why"
    return UndustError(f"Spark did not start at '{master}' ({line}); check the address with --master")


MEMORY = (
    "give the executors more room with spark.executor.memory and spark.executor.memoryOverhead, or spread "
    "the work over more partitions with spark.sql.shuffle.partitions"
)
ADDRESS = r"\w+:/[^\n]*?\.parquet\b|\w+:/[^\s,;]*\w"
"""Of a file; only those that end as most do may hold spaces."""
SENTENCES = {
    r"No module named '(?P<what>undust|pyarrow|numpy|pandas)[.']?": (
        "the executors have no {what}; install undust on every machine, or ship it with spark.archives"
    ),
    r"PATH_NOT_FOUND\] Path does not exist: (?P<what>\S+?)\.? ": (
        "{what}: there is no such file; check the name"
    ),
    r"PARQUET_TYPE_(?:ILLEGAL|NOT_SUPPORTED)\] [^:]*: (?P<what>[^\n]*?)\. SQLSTATE": (
        "Spark reads no Parquet column of type {what}; write another, and times in microseconds"
    ),
    r"No space left on device|Disk quota exceeded|File too large": (
        "a machine of the cluster has no space left on its disk; free some, or name another disk with "
        "spark.local.dir"
    ),
    r"No FileSystem for scheme \"(?P<what>[^\"]+)\"": (
        "Spark knows no file system '{what}'; add the package that has it, as in --packages "
        "org.apache.hadoop:hadoop-aws:VERSION"
    ),
    rf"(?:FAILED_READ_FILE|CANNOT_READ_FILE_FOOTER|while reading file)[^\n]*? (?P<what>{ADDRESS})": (
        "{what}: it cannot be read as Parquet; get it again, or leave it out"
    ),
    r"(?P<what>\w+:/\S+) is not a Parquet file": (
        "{what}: it is not a whole Parquet file; get it again, or leave it out"
    ),
    r"Python worker exited unexpectedly|Python worker failed to connect back": (
        f"a Python process of an executor was lost again and again, most likely for want of memory; {MEMORY}"
    ),
    r"ExecutorLostFailure|Could not recover from a failed .* stage|executor .* exited|"
    r"Master removed our application|has failed the maximum allowable number of times": (
        f"an executor was lost again and again; {MEMORY}"
    ),
    r"java\.lang\.OutOfMemoryError|SparkOutOfMemoryError": f"an executor ran out of memory; {MEMORY}",
    r"SparkContext (?:was|has been) shut ?down|Cannot call methods on a stopped SparkContext": (
        "Spark was stopped while it worked; start it again"
    ),
}
"""What Spark says, and what a person can do about it; the first that fits."""

_LONGEST = 300


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn what goes wrong in Spark into one of our errors."""
    from py4j.protocol import Py4JError, Py4JNetworkError  # noqa: PLC0415 -- they come with Spark
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        message = "the Java process of Spark has ended, most likely for want of memory; give it more --memory"
        raise UndustError(message) from error
    except (Py4JError, PySparkException) as error:
        raise told(str(error)) from error


def told(text: str) -> UndustError:
    """Return the error that a text of Spark describes."""
    for pattern, sentence in SENTENCES.items():
        found = re.search(pattern, text)
        if found:
            kind = SourceError if "what" in found.groupdict() else UndustError
            return kind(sentence.format(**found.groupdict()))
    return UndustError(f"Spark gave up: {_core_of(text)}; its log says more")


def _core_of(text: str) -> str:
    """Return the line of a stack trace that says most: the last cause."""
    lines = [line.strip().removeprefix(": ") for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("at ")]
    causes = [line for line in lines if re.match(r"(?:Caused by: )?[\w.]+(?:Error|Exception)\b", line)]
    line = (causes or lines or ["it does not say why"])[-1].removeprefix("Caused by: ").rstrip(".;")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


LARGEST = (1 << 31) - (1 << 20)
"""Bytes of a file that Spark hands over in one piece."""
_HIDDEN = (".", "_")
"""How names start that are not data: `_SUCCESS`, and what is still being written."""


def found(spark: SparkSession, paths: Sequence[str]) -> dict[str, bool]:
    """Return the files that addresses, folders and patterns mean, and whether a person named each."""
    files: dict[str, bool] = {}
    for path in paths:
        for name, is_named in _files_of(spark, path):
            files[name] = files.get(name, False) or is_named
    return dict(sorted(files.items()))


def _files_of(spark: SparkSession, path: str) -> Iterator[tuple[str, bool]]:
    place, system = _system(spark, path)
    matches = system.globStatus(place)
    if not matches:
        message = f"{path}: there is no such file, or none fits this pattern; check the name"
        raise SourceError(message)
    for match in matches:
        name = match.getPath().toString()
        if match.isDirectory():
            yield from ((below, False) for below in _files_below(system, match.getPath()))
        else:
            yield name, name.endswith(path.split("://", 1)[-1])


def _files_below(system: Any, folder: Any) -> Iterator[str]:  # noqa: ANN401 -- objects of Java
    for status in system.listStatus(folder):
        if status.getPath().getName().startswith(_HIDDEN):
            continue
        if status.isDirectory():
            yield from _files_below(system, status.getPath())
        else:
            yield status.getPath().toString()


def literal(path: str) -> str:
    """Return an address in which nothing is a pattern."""
    return re.sub(r"[\\\[\]{}*?]", r"\\\g<0>", path)


def require_small(spark: SparkSession, path: str) -> None:
    """Raise if Spark cannot hand over a file in one piece."""
    place, system = _system(spark, path)
    size = system.getFileStatus(place).getLen()
    if size > LARGEST:
        message = (
            f"{path}: {size:,} bytes are more than Spark hands over in one piece; cut it, or store Parquet"
        )
        raise SourceError(message)


def _system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    """Return a path and its file system, as Hadoop has them."""
    context = spark.sparkContext
    place = context._jvm.org.apache.hadoop.fs.Path(path)  # type: ignore[union-attr]  # noqa: SLF001 -- no other way
    return place, place.getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001
