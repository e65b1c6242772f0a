"""How much memory this run held at most, as its summaries tell it."""

from __future__ import annotations

import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_memory_bytes() -> int:
    """Return the most memory that this process ever held.

    What `getrusage` says has the memory of the parent in it, if that was larger when it started us.
    """
    try:
        lines = dict(line.split(":", 1) for line in STATUS.read_text(encoding="utf-8").splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
