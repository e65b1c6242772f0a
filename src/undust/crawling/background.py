"""A thread that learns one site after the other."""

from __future__ import annotations

import logging
from queue import SimpleQueue
from threading import Condition, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


class Background:
    """Calls a function with each name that was added, in order; a name that waits is not added twice."""

    def __init__(self, work: Callable[[str], None]) -> None:
        self._work = work
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._open: set[str] = set()
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="undust learning", daemon=True)
        self._thread.start()

    def add(self, name: str) -> None:
        """Add a name."""
        with self._changed:
            if name in self._open:
                return
            self._open.add(name)
        self._queue.put(name)

    def _run(self) -> None:
        while (name := self._queue.get()) is not None:
            try:
                self._work(name)
            except Exception:
                # The crawl goes on with the rules it has; one site must not end the learning of the others.
                logger.exception("learning the rules of %s failed; the rules from before stay in use", name)
            finally:
                with self._changed:
                    self._open.discard(name)
                    self._changed.notify_all()

    def settle(self) -> None:
        """Wait until nothing is left to do."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open)

    def close(self) -> None:
        """End the thread after what was added."""
        self._queue.put(None)
        self._thread.join()
