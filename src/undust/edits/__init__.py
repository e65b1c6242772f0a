"""Typed edits: what is done to a URL, as values that learners propose, judge and search among."""

from undust.edits.edit import (
    DROP,
    KEEP,
    MASK,
    MOVE,
    OPERATIONS,
    RESPELL,
    SWAP,
    WRITE,
    Edit,
    Keep,
    Rewrite,
    Several,
    Swap,
    is_somebodys,
)
from undust.edits.reading import Given
from undust.edits.shapes import Guard, Named, Shape, ShapeCapture, ShapeParameter

__all__ = [
    "DROP",
    "KEEP",
    "MASK",
    "MOVE",
    "OPERATIONS",
    "RESPELL",
    "SWAP",
    "WRITE",
    "Edit",
    "Given",
    "Guard",
    "Keep",
    "Named",
    "Rewrite",
    "Several",
    "Shape",
    "ShapeCapture",
    "ShapeParameter",
    "Swap",
    "is_somebodys",
]
