"""Processor time of small work, measured so that other work on the machine changes little."""

from __future__ import annotations

import gc
from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def quickest(work: Callable[[], object], tries: int = 3) -> float:
    """Return the processor time of the quickest of some tries, in seconds.

    Without the garbage collector: with all that earlier tests have left, one pass takes longer than the work.
    """
    gc.collect()
    gc.disable()
    try:
        times = []
        for _ in range(tries):
            started = process_time()
            work()
            times.append(process_time() - started)
    finally:
        gc.enable()
    return min(times)
