"""What a job may use of the machine; what it finds does not depend on that, or it says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Resources:
    """Bounds that a person set for the whole program, passed to the learners that can keep them."""

    memory: int | None = None
    """Bytes for all that the program holds; None without a limit."""
    threads: int = 1
    folder: str | None = None
    """For temporary files; None for that of the system."""
