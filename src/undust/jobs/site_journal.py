"""Finished sites of a long job, kept beside its output, so that a job that was killed goes on from there.

One line a site, with a checksum in front: the line that was being written when the program died is
recognised, and is all that is lost. The first line says which job it is. A short job leaves no trace: the
file appears when a job has lasted a while, and goes when it has ended well.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from undust.errors import UndustError, file_sentence
from undust.files.replacing import checked_line, content_of_line, lock, whole_lines
from undust.files.streams import STANDARD
from undust.jobs.read import is_address
from undust.reading.formats.files import find_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from io import BufferedRandom

JOURNAL_PATIENCE = 2.0
"""Seconds that a job lasts before it leaves a file."""
SYNCED = 1.0
"""Seconds of work that a power cut may cost."""


def journal_of(output: str) -> Path:
    """Return the path of the journal of an output; a name that starts with a dot is never read as input."""
    target = Path(os.path.realpath(output))
    return target.with_name(f".{target.name}.journal")


def job_of(paths: Iterable[str], said: Mapping[str, Any]) -> str:
    """Return what identifies a job: its files, what was said about them, and the version."""
    files = []
    for path, _ in find_files(paths):
        if path == STANDARD:
            message = "standard input cannot be read again from its start; give a file, or leave --resume out"
            raise UndustError(message)
        if is_address(path):
            # Its state is the cluster's to know; the name alone has to do.
            files.append((path, -1, -1))
            continue
        state = Path(path).stat()
        files.append((os.path.realpath(path), state.st_size, state.st_mtime_ns))
    facts = json.dumps([version("undust"), files, said], sort_keys=True, default=str)
    return hashlib.blake2b(facts.encode(errors="surrogateescape"), digest_size=16).hexdigest()


class SiteJournal:
    """What was done, and where it is written; used in a `with` block."""

    def __init__(self, path: Path, job: str, *, resume: bool = False) -> None:
        self.path = path
        self._head = checked_line({"undust": "journal", "job": job})
        self._waiting: list[bytes] = []
        self._file: BufferedRandom | None = None
        self._started = self._synced = time.monotonic()
        self.found: dict[str, str] = {}
        """Sites that were done before, with what they gave."""
        self.is_complete = False
        """Set when there is nothing left to go on with."""
        if resume and path.exists():
            self._resume()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            if self.is_complete:
                self.path.unlink(missing_ok=True)
            # What finds no room now is learned again; it must not hide why the job ended.
            with suppress(OSError):
                self._file.flush()
                os.fsync(self._file.fileno())
            with suppress(OSError):
                self._file.close()
        elif self.is_complete and self.path.exists():
            # Of a run before this one, which started anew and was quick.
            self.path.unlink()

    @property
    def is_written(self) -> bool:
        """Whether there is something on disk to go on from."""
        return self._file is not None

    def add(self, site: str, text: str) -> None:
        """Write down that a site is done."""
        self._waiting.append(checked_line([site, text]))
        now = time.monotonic()
        if now - self._started < JOURNAL_PATIENCE:
            return
        lines = self._waiting
        if self._file is None:
            self._file = self._opened("w+b")
            lines = [self._head, *lines]
        self._waiting = []
        try:
            self._file.writelines(lines)
            # From here on only the machine can lose it, not the program.
            self._file.flush()
            if now - self._synced > SYNCED:
                os.fsync(self._file.fileno())
                self._synced = now
        except OSError as error:
            error.filename = str(self.path)
            raise UndustError(file_sentence(error)) from None

    def _opened(self, mode: str) -> BufferedRandom:
        # Opened without harm first: another program may be at it.
        with suppress(FileExistsError):
            self.path.touch(0o600, exist_ok=False)
        file: BufferedRandom = self.path.open("r+b")
        try:
            lock(file)
        except BlockingIOError:
            file.close()
            message = f"{self.path}: another undust is at work on this output; wait for it, or name another"
            raise UndustError(message) from None
        if mode == "w+b":
            file.truncate(0)
        return file

    def _resume(self) -> None:
        file = self._opened("r+b")
        lines = whole_lines(file)
        head = next(lines, None)
        if head is None and self._is_begun(file):
            file.close()
            return
        if head != self._head:
            file.close()
            message = (
                f"{self.path}: it is of another job (other files or options, or another undust); "
                "start anew without --resume"
            )
            raise UndustError(message)
        end = len(self._head)
        for line in lines:
            site, text = content_of_line(line)
            self.found[site] = text
            end += len(line)
        file.seek(end)
        file.truncate()
        self._file = file

    def _is_begun(self, file: BufferedRandom) -> bool:
        """Return whether there is only the start of the first line, for the disk was full from then on."""
        file.seek(0)
        return self._head.startswith(file.read(len(self._head)))
