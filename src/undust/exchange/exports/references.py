"""The right side of a rule as texts and references to groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.rules.pattern import Capture

if TYPE_CHECKING:
    from undust.rules.pattern import Text


@dataclass(frozen=True)
class Ref:
    """The text of a group, written as it was taken."""

    name: str


Filled = tuple[str | Ref, ...]
"""What a rule writes: literals and references in sequence."""


def as_refs(texts: tuple[Text, ...]) -> tuple[Text, ...]:
    """Return texts of a left side as a right side would write them again: names alone, no class, no stars."""
    return tuple(tuple(as_ref(p) if isinstance(p, Capture) else p for p in text) for text in texts)


def as_ref(capture: Capture) -> Capture:
    """Return a capture as a right side would refer to it."""
    return Capture(capture.name, is_many=False, detail=None)
