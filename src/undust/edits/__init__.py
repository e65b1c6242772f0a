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
)
from undust.edits.shapes import Capture, Guard, Named, Parameter, Shape

__all__ = [
    "DROP",
    "KEEP",
    "MASK",
    "MOVE",
    "OPERATIONS",
    "RESPELL",
    "SWAP",
    "WRITE",
    "Capture",
    "Edit",
    "Guard",
    "Keep",
    "Named",
    "Parameter",
    "Rewrite",
    "Several",
    "Shape",
    "Swap",
]
