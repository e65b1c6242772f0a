"""Temporary folders that no signal leaves behind, lines sorted in them, and what a process knows of itself.

A signal is an exception that may come between any two steps. A folder is therefore known before it is made:
its removal is registered first. And a removal that has begun is finished before the signal is raised.

Lines are sorted by their bytes, with a bounded amount of memory however many there are.

What a process knows of itself: its signals, and the most memory that it ever held.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import weakref
from contextlib import ExitStack, contextmanager, suppress
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO


try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]


STATUS = Path("/proc/self/status")
POLITE = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a program to end, and leave it time to clean up; Windows has no SIGHUP."""


def peak_memory_bytes() -> int:
    """Return the most memory that this process ever held; 0 if the system does not report it.

    What `getrusage` says has the memory of the parent in it, if that was larger when it started us.
    """
    try:
        lines = dict(line.split(":", 1) for line in STATUS.read_text(encoding="utf-8").splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        if resource is None:
            return 0
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def give_back_memory() -> None:
    """Give memory that is free again back to the system: allocators keep it for later, others need it now."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    import ctypes  # noqa: PLC0415 -- slow to load, and small commands need none of it

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # only glibc has it
        return


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
    folder = TemporaryFolder(parent_of_folders(parent), prefix)
    try:
        yield str(folder.path)
    finally:
        folder.close()


_of_others: list[Path] = []


def keep_all_in(folder: str) -> None:
    """Let all temporary folders of this process be made in one that another process removes."""
    _of_others[:] = [Path(folder)]


def parent_of_folders(named: str | None = None) -> Path:
    """Return where temporary folders are made: the folder that a person named, or that of the system.

    That of another process goes before, where `keep_all_in` was called.

    Python tries the folder of the system by writing a file there, which a signal could leave behind.
    """
    if _of_others or named:
        return _of_others[0] if _of_others else Path(str(named))
    from tempfile import gettempdir  # noqa: PLC0415 -- slow to load, and most commands need no folder

    with undisturbed():
        return Path(gettempdir())


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


RUN_BYTES = 64 << 20
"""Bytes of the lines that are sorted in memory at a time; Python needs two or three times as much."""
MOST_RUNS = 128
"""Files that are merged at a time: few enough to be open together on any system."""


def sorted_lines(
    lines: Iterable[bytes],
    run_bytes: int = RUN_BYTES,
    most_runs: int = MOST_RUNS,
    folder: str | None = None,
) -> Iterator[bytes]:
    r"""Yield lines, each with its line feed, in the order of their bytes.

    >>> list(sorted_lines([b"b\n", b"a\n", b"B\n"], run_bytes=3))
    [b'B\n', b'a\n', b'b\n']
    """
    runs = _runs(iter(lines), run_bytes)
    first = next(runs, [])
    second = next(runs, None)
    if second is None:
        yield from first
        return
    with temporary_folder("undust-sort-", folder) as made_folder:
        place = Path(made_folder)
        paths = [_written(first, place / "0"), _written(second, place / "1")]
        del first, second
        made = len(paths)
        for run in runs:
            paths.append(_written(run, place / str(made)))
            made += 1
        while len(paths) > most_runs:
            joined = _written(_merged(paths[:most_runs]), place / str(made))
            made += 1
            for path in paths[:most_runs]:
                path.unlink()
            paths = [*paths[most_runs:], joined]
        yield from _merged(paths)


def _runs(lines: Iterator[bytes], run_bytes: int) -> Iterator[list[bytes]]:
    """Yield sorted runs of lines, each of about this many bytes."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= run_bytes:
            held.sort()
            yield held
            held, size = [], 0
    if held:
        held.sort()
        yield held


def _written(lines: Iterable[bytes], path: Path) -> Path:
    with path.open("wb") as file:
        rest = iter(lines)
        while some := list(islice(rest, 4096)):
            file.write(b"".join(some))
    return path


def _merged(paths: list[Path]) -> Iterator[bytes]:
    with ExitStack() as opened:
        yield from merge(*(opened.enter_context(path.open("rb")) for path in paths))


HELD_LINE_BYTES = 8 << 20
"""Lines of more bytes than these go to a file."""


class OrderedLines:
    r"""Lines that come in any order and are read in the order of their bytes, as often as wanted.

    If they are many, they lie in a file without a name, which ends with the process, however that ends.

    >>> lines = OrderedLines()
    >>> lines.add(b"b"), lines.add(b"a"), list(lines), len(lines)
    (None, None, [b'a', b'b'], 2)
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._use(self._new_file())
        self._count = 0
        self._is_ordered = True

    def _new_file(self) -> IO[bytes]:
        from tempfile import SpooledTemporaryFile  # noqa: PLC0415 -- slow to load, and few commands need it

        return cast(
            "IO[bytes]", SpooledTemporaryFile(HELD_LINE_BYTES, dir=str(parent_of_folders(self._folder)))
        )

    def _use(self, file: IO[bytes]) -> None:
        self._file = file
        self._end = weakref.finalize(self, file.close)

    def add(self, line: bytes) -> None:
        """Take a line, which has no line feed."""
        if self._is_ordered:
            self._file.seek(0, os.SEEK_END)
            self._is_ordered = False
        self._file.write(line + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        if not self._is_ordered:
            self._put_in_order()
        at = 0
        # Several readers may be at different places.
        while lines := self._lines_at(at):
            at += sum(map(len, lines))
            yield from (line[:-1] for line in lines)

    def _lines_at(self, place: int) -> list[bytes]:
        self._file.seek(place)
        return self._file.readlines(HELD_LINE_BYTES // 8)

    def _put_in_order(self) -> None:
        self._file.seek(0)
        ordered = self._new_file()
        # Line by line: `writelines` would take them all into memory before any goes to the file.
        for line in sorted_lines(self._file, HELD_LINE_BYTES, folder=self._folder):
            ordered.write(line)
        self._end()
        self._use(ordered)
        self._is_ordered = True
