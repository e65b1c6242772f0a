"""The right side of a rule as texts and references to groups."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ref:
    """The text of a group, written as it was taken."""

    name: str


Filled = tuple[str | Ref, ...]
"""What a rule writes: literals and references in sequence."""
