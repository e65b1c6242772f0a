"""How much memory a run may hold, and how much it held at most, as its summaries tell it."""

from __future__ import annotations

import resource
from pathlib import Path

from undust.errors import UndustError

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


def require_room(rows: int, memory: int | None, what: str) -> None:
    """Say that so many observations do not fit, for those who can only work on all of them at once."""
    from undust.engines.budget import ROW_BYTES  # noqa: PLC0415 -- slow to load, and not for --help

    needed = rows * ROW_BYTES
    if memory is not None and needed > memory:
        message = (
            f"{what} holds all of its input, and {rows:,} rows take about {needed / 1e9:.1f} GB; "
            "allow more --memory, or give it a part of the input"
        )
        raise UndustError(message)


def require_held(memory: int | None, what: str) -> None:
    """Say that what is held already is too much, for those who hold no more however long their input."""
    held = peak_memory_bytes()
    if memory is not None and held > memory:
        message = f"{what} takes {held / 1e9:.2f} GB; allow more --memory"
        raise UndustError(message)
