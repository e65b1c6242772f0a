"""A folder for files that no run leaves behind.

It is removed when the work ends, well or not, and when a polite signal ends the program. A program that is
killed outright cannot clean up: its folder is recognised by a lock that no process holds, and the
next run in the same place removes it.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from undust.errors import UndustError
from undust.files.replacing import CLOSED_IN_CHILDREN, is_own, lock
from undust.files.temporary import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRATCH_PREFIX = "undust-scratch-"
LOCK = "lock"
YOUNG = 60.0
"""Seconds in which a folder may be without its lock, for it is just being made."""


class Scratch:
    """The folder, made when it is first asked for."""

    def __init__(self, parent: str | None = None) -> None:
        self.parent = Path(parent or tempfile.gettempdir())
        self._made: TemporaryFolder | None = None

    @property
    def folder(self) -> Path:
        """Where files may go."""
        if self._made is None:
            with self.naming():
                remove_abandoned(self.parent)
                made = TemporaryFolder(self.parent, SCRATCH_PREFIX)
                made.files.append(
                    os.open(made.path / LOCK, os.O_CREAT | os.O_RDWR | CLOSED_IN_CHILDREN, 0o600)
                )
            lock(made.files[0])
            self._made = made
        return self._made.path

    def close(self) -> None:
        """Remove the folder."""
        if self._made is not None:
            self._made.close()
            self._made = None

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Say which folder has no room, or cannot be written to, and what to do."""
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
                message = (
                    f"{self.parent}: there is no room for temporary files; free some, or name another --tmp"
                )
            elif error.errno in {errno.ENOENT, errno.ENOTDIR}:
                message = f"{self.parent}: there is no such folder for temporary files; make it first"
            elif error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                message = f"{self.parent}: temporary files cannot be written there; name another --tmp"
            else:
                raise
            raise UndustError(message) from None


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of programs that were killed."""
    for folder in sorted(parent.glob(f"{SCRATCH_PREFIX}*")):
        with suppress(OSError):
            if is_own(folder) and _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        held = os.open(folder / LOCK, os.O_RDWR | CLOSED_IN_CHILDREN)
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > YOUNG
    try:
        lock(held)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(held)
