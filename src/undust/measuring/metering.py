"""What a method costs: seconds, and the memory that the process held at most."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

RESET_PEAK = "5"
"""What Linux takes as the wish to forget the peak so far."""


class Meter:
    """Measures what is done inside a `with`: methods run one after the other in one process.

    The peak is that of the process, data and interpreter included. Where the system cannot forget an
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
        self.peak_memory_bytes = _peak()


def _peak() -> int:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
