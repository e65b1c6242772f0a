"""Where the work runs.

Sites are independent, so the whole job is one function mapped over sites. An engine reads files into a
table, brings the rows of a site together, calls the function once per site, and writes what
came out. Whichever engine does it, the answer is the same.
"""

from __future__ import annotations

from undust.engines.contract import NONE_SET_ASIDE, Engine, File, Files, Reader, SetAside, SiteTest, Survey
from undust.engines.local import LocalEngine
from undust.engines.spark import SparkEngine
from undust.errors import UndustError
from undust.reading.observations import SITE

__all__ = [
    "ENGINES",
    "NONE_SET_ASIDE",
    "SITE",
    "Engine",
    "File",
    "Files",
    "LocalEngine",
    "Reader",
    "SetAside",
    "SiteTest",
    "SparkEngine",
    "Survey",
    "engine_named",
]

ENGINES = (LocalEngine, SparkEngine)
"""The engines: each is a class with a `name`, the verbs of `Engine`, and `started`, which makes one."""


def engine_named(
    name: str,
    *,
    memory: int | None = None,
    threads: int | None = None,
    folder: str | None = None,
    master: str | None = None,
) -> Engine:
    """Return an engine, to be used in a `with` block.

    Args:
        name: One of `ENGINES`.
        memory: Bytes that it may use, on each machine.
        threads: How many to use on each machine; all cores by default.
        folder: Where files go that do not outlive the job.
        master: The address of the cluster, for engines that work on one.

    """
    for engine in ENGINES:
        if engine.name == name:
            return engine.started(memory=memory, threads=threads, folder=folder, master=master)
    message = f"there is no engine '{name}'; use {' or '.join(engine.name for engine in ENGINES)}"
    raise UndustError(message)
