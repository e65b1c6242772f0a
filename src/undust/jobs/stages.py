"""Where the time of a job goes: processor seconds by stage, those of other processes included."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

READING, GROUPING, CLUSTERING, LEARNING, GIANTS, ACROSS, WRITING = _NAMES = (
    *("reading", "grouping", "clustering", "learning", "giant sites", "across sites", "writing"),
)
"""The stages of every job; others, such as asking, are counted where they happen."""


def spent() -> float:
    """Return the processor seconds of this process and of those it started that have ended."""
    return sum(os.times()[:4])


class Stages:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(_NAMES, 0.0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Count what is spent in the block, less what other stages count within it."""
        before, inner = spent(), sum(self.seconds.values())
        try:
            yield
        finally:
            counted = sum(self.seconds.values()) - inner
            self.add(name, max(0.0, spent() - before - counted))

    def add(self, name: str, seconds: float) -> None:
        """Add seconds that were measured elsewhere."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def as_json(self) -> dict[str, float]:
        """Return the seconds for machines."""
        return {name: round(seconds, 3) for name, seconds in self.seconds.items()}
