"""What a process and all below it take, looked at from outside: memory now, and processor time so far."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARENT, _TIMES, _PAGES = 1, slice(11, 15), 21
"""Places in what the system tells of a process, after its name; children that ended are in its times."""


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
    pages = sum(int(fields[_PAGES]) for fields in alive)
    ticks = sum(int(value) for fields in alive for value in fields[_TIMES])
    return Taken(pages * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK"))


def _told() -> Iterator[tuple[int, list[str]]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            continue
        yield int(path.parent.name), text.rpartition(")")[2].split()
