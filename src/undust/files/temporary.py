"""Temporary folders that no signal leaves behind.

A signal is an exception that may come between any two steps. A folder is therefore known before it is made:
its removal is registered first. And a removal that has begun is finished before the signal is raised.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import weakref
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from undust.files.process import POLITE

if TYPE_CHECKING:
    from collections.abc import Iterator


class TemporaryFolder:
    """A folder that is removed by `close`, with its object, or at the end of the program."""

    def __init__(self, parent: Path, prefix: str) -> None:
        self.path = parent / f"{prefix}{os.urandom(8).hex()}"
        self.files: list[int] = []
        """Open files that are closed when the folder is removed, such as its lock."""
        self._end = weakref.finalize(self, _remove_at_last, self.path, self.files)
        self.path.mkdir(0o700)

    def close(self) -> None:
        """Remove the folder; a signal that comes meanwhile is raised afterwards."""
        with undisturbed():
            if self._end.detach():
                _remove(self.path, self.files)


@contextmanager
def temporary_folder(prefix: str, parent: str | None = None) -> Iterator[str]:
    """Give a folder that is removed at the end of the block."""
    folder = TemporaryFolder(Path(parent or tempfile.gettempdir()), prefix)
    try:
        yield str(folder.path)
    finally:
        folder.close()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let no polite signal end the block half-way; one that came is raised after it."""
    came: list[int] = []
    with _handled_by(lambda number, _: came.append(number)):
        yield
    for number in came:
        signal.raise_signal(number)


@contextmanager
def _handled_by(handler: object) -> Iterator[None]:
    """Let polite signals be handled otherwise in the block; in the main thread, for no other hears them."""
    before = {}
    try:
        with suppress(ValueError):
            for number in POLITE:
                before[number] = signal.getsignal(number)
                signal.signal(number, handler)  # type: ignore[arg-type]
        yield
    finally:
        for number, other in before.items():
            if other is not None:  # as those are that Python did not set
                with suppress(ValueError):
                    signal.signal(number, other)


def _remove(folder: Path, files: list[int]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for file in files:
        os.close(file)


def _remove_at_last(folder: Path, files: list[int]) -> None:
    """Remove a folder that was not closed: here an exception would end as a traceback on the terminal."""
    with _handled_by(signal.SIG_IGN):
        _remove(folder, files)
