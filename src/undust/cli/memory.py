"""How much memory a run may hold, and the most that it held, for its summary."""

from __future__ import annotations

from undust.errors import UndustError
from undust.files.process_memory import peak_memory_bytes

__all__ = ["peak_memory_bytes", "require_held", "require_room"]


def require_room(rows: int, memory: int | None, what: str) -> None:
    """Raise if this many observations do not fit, in commands that need all of them at once."""
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
