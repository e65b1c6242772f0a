"""What a job does when nothing is wrong, to compare with what is left when something was."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from tools.faults.jobs import Job, prepare
from tools.faults.processes import LONGEST_S, Running

if TYPE_CHECKING:
    from pathlib import Path

MOMENTS = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")
"""When something was done, which no two runs have in common."""


class Lost(AssertionError):  # noqa: N818 -- what happened
    """A promise that was not kept."""


@dataclass
class Baseline:
    """What a job does when nothing is wrong."""

    job: Job
    seconds: float
    old: dict[str, bytes]
    new: dict[str, list[bytes]]
    """After one run, and after a second one, which may find its own work done."""
    files: frozenset[str]

    def state(self, folder: Path) -> str:
        """Return whether the outputs are old or new; raise if one is neither."""
        found = set()
        for name in self.job.writes:
            data = _without_moments(folder / name)
            if data is not None and data == self.old[name]:
                found.add("old")
            elif data in self.new[name]:
                found.add("new")
            else:
                size = "gone" if data is None else f"{len(data)} bytes that are neither old nor new"
                message = f"{name} is {size}"
                raise Lost(message)
        return "+".join(sorted(found))

    def left(self, folder: Path) -> list[str]:
        """Return the files that were not there before and are no output."""
        names = {path.name for path in folder.iterdir()} | {f"tmp/{p.name}" for p in folder.glob("tmp/*")}
        mine = {*self.files, *self.job.writes, "tmp"}
        kept = self.job.keeps
        return sorted(name for name in names - mine if not any(fnmatch(name, keep) for keep in kept))


def _without_moments(path: Path) -> bytes | None:
    return MOMENTS.sub(b"when", path.read_bytes()) if path.exists() else None


def baseline_of(job: Job, inputs: Path, folder: Path) -> Baseline:
    """Run a job twice where nothing is wrong."""
    ready = prepare(job, inputs, folder)
    old = {name: _without_moments(folder / name) or b"" for name in job.writes}
    files = frozenset(path.name for path in folder.iterdir())
    new: dict[str, list[bytes]] = {name: [] for name in job.writes}
    seconds = LONGEST_S
    for more in ((), job.again):
        started = time.monotonic()
        ended = Running(ready, folder, *more).ended()
        seconds = min(seconds, time.monotonic() - started)
        if ended.code != 0:
            raise Lost(f"{job.command} fails where nothing is wrong: {ended.said}")  # noqa: TRY003, EM102
        for name in job.writes:
            new[name].append(_without_moments(folder / name) or b"")
    return Baseline(ready, seconds, old, new, files)
