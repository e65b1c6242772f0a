"""What a process and all below it take, looked at from outside: memory now, and processor time so far.

The memory is what only these processes can give back. Pages of files (the code of libraries above all)
are not in it: how many of them are counted depends on how the system keeps its cache, 99 or 142 MB for
the same installation.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARENT, _TIMES = 1, slice(11, 15)
"""Places in what the system tells of a process, after its name; children that ended are in its times."""
_OWN = ("RssAnon:", "RssShmem:")
"""Lines of memory that is no page of a file, in kB."""


class Taken(NamedTuple):
    """By all of them together."""

    memory_bytes: int
    processor_seconds: float


def taken(root: int) -> Taken:
    """Return what a process and all that it started take."""
    told = dict(_told())
    own = {root}
    while below := {process for process, fields in told.items() if int(fields[_PARENT]) in own} - own:
        own |= below
    alive = [told[process] for process in own if process in told]
    ticks = sum(int(value) for fields in alive for value in fields[_TIMES])
    return Taken(sum(map(_memory_bytes, own)), ticks / os.sysconf("SC_CLK_TCK"))


def _memory_bytes(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # it ended meanwhile
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(_OWN))


def _told() -> Iterator[tuple[int, list[str]]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            continue
        yield int(path.parent.name), text.rpartition(")")[2].split()
