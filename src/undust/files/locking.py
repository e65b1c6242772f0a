"""Locks on files and folders, by which programs notice each other; without locks they do not.

A lock lasts as long as the file is open, so a program that is killed holds none.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

CLOSED_IN_CHILDREN: int = getattr(os, "O_CLOEXEC", 0)
"""The flag by which a program that is started does not inherit an open file; Windows does not need it."""
_ONLY_FOLDERS: int = getattr(os, "O_DIRECTORY", 0)


class HasFileNumber(Protocol):
    """An open file."""

    def fileno(self) -> int:
        """Return its number."""


def lock(file: int | HasFileNumber) -> None:
    """Lock an open file for this program alone; raises `BlockingIOError` if another one holds a lock."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def wait_to_share(file: int | HasFileNumber) -> None:
    """Lock an open file together with others who share it; one who has it alone is waited for."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_SH)


def opened_folder(folder: Path) -> int:
    """Return a folder as an open file, to be locked; raises `OSError` if the system does not open it."""
    return os.open(folder, os.O_RDONLY | _ONLY_FOLDERS | CLOSED_IN_CHILDREN)


def is_own(path: Path) -> bool:
    """Return whether a file belongs to the user who runs the program; without users, everything does."""
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()
