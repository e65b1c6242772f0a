"""Why a job on Spark ended, in one sentence, out of the hundred lines that it says."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from undust.errors import SourceError, UndustError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
