"""A small cluster of Spark on this machine: a master and workers, each a process of its own, on loopback.

with cluster(folder) as address:
    …  # undust learn --engine spark --master {address}
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = "127.0.0.1"
PATIENCE = 300.0
"""Seconds that a process has to start, on a machine with other work."""
SETTINGS = {
    "SPARK_LOCAL_IP": HERE,
    "SPARK_NO_DAEMONIZE": "1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


@contextmanager
def cluster(folder: Path, workers: int = 2, memory: str = "1g") -> Iterator[str]:
    """Give the address of a cluster, whose processes end with the block; each worker has a folder there."""
    port = _free_port()
    address = f"spark://{HERE}:{port}"
    with ExitStack() as running:
        words = ["org.apache.spark.deploy.master.Master", "--host", HERE, "--port", str(port)]
        running.enter_context(_process(words, folder / "master.log", "I have been elected leader"))
        for number in range(workers):
            place = folder / f"worker{number}"
            place.mkdir()
            words = ["org.apache.spark.deploy.worker.Worker", address, "--host", HERE, "--cores", "1"]
            words += ["--memory", memory, "--work-dir", str(place)]
            log = folder / f"worker{number}.log"
            running.enter_context(_process(words, log, "Successfully registered with master"))
        yield address


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((HERE, 0))
        return int(one.getsockname()[1])


@contextmanager
def _process(words: Sequence[str], log: Path, sign: str) -> Iterator[None]:
    """Run a class of Spark's; it is ready when its log has the sign."""
    import pyspark  # noqa: PLC0415 -- an extra

    program = Path(str(pyspark.__file__)).parent / "bin" / "spark-class"
    environment = os.environ | SETTINGS | {"PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(program), *words, "--webui-port", "0"],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        end = time.monotonic() + PATIENCE
        while sign not in log.read_text(encoding="utf-8", errors="replace"):
            if process.poll() is not None or time.monotonic() > end:
                message = f"{words[0]} did not start; {log} says why"
                raise RuntimeError(message)
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()
