"""What a method costs: seconds, and the memory that the process held at most."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.files.process_memory import peak_memory_bytes

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

RESET_PEAK = "5"
"""Written to reset the peak so far on Linux."""


class Meter:
    """Measures what is done inside a `with`: methods run one after the other in one process.

    The peak is that of the process, data and interpreter included. Where the system cannot reset an
    earlier peak, it is the highest so far.
    """

    seconds: float = 0.0
    peak_memory_bytes: int = 0

    def __enter__(self) -> Self:
        pa.default_memory_pool().release_unused()
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text(RESET_PEAK, encoding="ascii")
        self._started = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = perf_counter() - self._started
        self.peak_memory_bytes = peak_memory_bytes()
