"""Files that survive whatever ends the program: replaced as a whole, locked, or with a checksum in each line.

What is written goes to a part beside the target, which takes its name at the end. A program that is killed
outright cannot remove its part: it is recognised by a lock that no process holds, and the next run that
writes to the same folder removes it.

By locks on files and folders programs notice each other; without locks they do not. A lock lasts as long as
the file is open, so a program that is killed holds none.

Journals are lines of JSON with a checksum in front: a line that a kill cut short is recognised.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from undust.errors import UndustError

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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


DIGITS = 8
"""Of a checksum."""


def checked_line(content: object) -> bytes:
    r"""Return a line that holds a value.

    >>> checked_line(["a", 1])
    b'4ccbc44a ["a", 1]\n'
    """
    data = json.dumps(content).encode()
    return b"%0*x %s\n" % (DIGITS, zlib.crc32(data), data)


def content_of_line(line: bytes) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value that a whole line holds."""
    return json.loads(line[DIGITS + 1 :])


def whole_lines(file: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines up to the first that was not written whole."""
    for line in file:
        data = line[DIGITS + 1 : -1]
        if not line.endswith(b"\n") or line[: DIGITS + 1] != b"%0*x " % (DIGITS, zlib.crc32(data)):
            return
        yield line
