"""A file that is there whole or not at all, whatever ends the program.

What is written goes to a part beside the target, which takes its name at the end. A program that is killed
outright cannot remove its part: it is recognised by a lock that no process holds, and the next run
that writes to the same folder removes it.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from undust.errors import UndustError
from undust.files.locking import lock, opened_folder, wait_to_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PREFIX, SUFFIX = ".undust-", ".part"


@contextmanager
def replaced(path: str) -> Iterator[BinaryIO]:
    """Give a file to write to; it gets its name only if the block ends well, and is removed otherwise."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        # A device or a named pipe is written to; putting a file in its place would be a disaster.
        with naming(path, target), target.open("wb") as file:
            yield file
        return
    require_folder(path)
    part = target.with_name(f"{_PREFIX}{os.urandom(8).hex()}{SUFFIX}")
    try:
        with naming(path, part), _locked_part(part) as file:
            yield file
            os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def require_folder(path: str) -> None:
    """Raise if the folder of a file is not there."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        message = f"{path}: there is no folder '{folder}' to write it to; make it first"
        raise UndustError(message)


@contextmanager
def _locked_part(part: Path) -> Iterator[BinaryIO]:
    # The lock on the folder keeps others from taking a part for abandoned before its own lock is there.
    with _folder_lock(part.parent, lock) as is_alone:
        if is_alone:
            _remove_abandoned(part.parent)
    with _folder_lock(part.parent, wait_to_share):
        file = part.open("xb")
        with suppress(OSError):  # not every file system has locks
            lock(file)
    with file:
        yield file


@contextmanager
def _folder_lock(folder: Path, take: Callable[[int], None]) -> Iterator[bool]:
    """Hold a lock on a folder; to have it alone is not waited for, to share it is."""
    try:
        held = opened_folder(folder)
    except OSError:  # it may be written to and not read
        yield False
        return
    try:
        try:
            take(held)
            is_held = True
        except OSError:
            is_held = False
        yield is_held
    finally:
        os.close(held)


def _remove_abandoned(folder: Path) -> None:
    for part in sorted(folder.glob(f"{_PREFIX}*{SUFFIX}")):
        with suppress(OSError), part.open("rb") as file:
            lock(file)
            part.unlink()


@contextmanager
def naming(name: str, inner_name: Path | None = None) -> Iterator[None]:
    """Let a failure be reported with the name that the user gave."""
    # A failed write does not know its file, and a failed open may know it by a name of ours.
    try:
        yield
    except OSError as error:
        if error.filename is None or error.filename == str(inner_name):
            error.filename = name
        raise
