"""What the system lets a process know of itself: its signals, and the most memory that it ever held."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

POLITE = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to end, and leave it time to clean up; Windows has no SIGHUP."""
HAS_TIMER = hasattr(signal, "setitimer")
"""Whether a signal can be sent to oneself after a while."""


STATUS = Path("/proc/self/status")


def peak_memory_bytes() -> int:
    """Return the most memory that this process ever held; 0 if the system does not report it.

    What `getrusage` says has the memory of the parent in it, if that was larger when it started us.
    """
    try:
        lines = dict(line.split(":", 1) for line in STATUS.read_text(encoding="utf-8").splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        if resource is None:
            return 0
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def give_back_memory() -> None:
    """Give memory that is free again back to the system: allocators keep it for later, others need it now."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    import ctypes  # noqa: PLC0415 -- slow to load, and small commands need none of it

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # only glibc has it
        return
