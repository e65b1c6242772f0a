"""The state of a crawl on disk: one file that only grows, one line an event, a checksum before each.

A process that is killed loses at most the line that it was writing. One process writes; others follow the
file and see new lines within a second.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from undust.errors import UndustError, file_sentence
from undust.files.replacing import checked_line, content_of_line, whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE_FILE = "crawl.state"
FORMAT, STATE_VERSION = "undust-crawl", 3
SYNCED_SECONDS = 1.0
"""Seconds of work that a power cut may cost; a kill of the process costs none."""


class StateInUse(UndustError):  # noqa: N818 -- names of the tree of errors say what is wrong
    """Another process writes this state."""


class Journal:
    """The file of one crawl, open for writing, or for following what another process writes."""

    def __init__(self, folder: str | os.PathLike[str], *, follow: bool = False) -> None:
        self.path = Path(folder) / STATE_FILE
        self.follows = follow
        self._offset = 0
        self._synced = time.monotonic()
        try:
            if follow:
                self._file = os.open(self.path, os.O_RDONLY)
            else:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                self._lock()
        except OSError as error:
            raise UndustError(file_sentence(error)) from None

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            message = (
                f"{self.path.parent}: another process writes this state; stop it, or open the state with "
                "follow=True"
            )
            raise StateInUse(message) from None

    def events(self) -> Iterator[list[Any]]:
        """Yield the events that were written since the last call, and check whose they are at the first."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(self._offset)
            for line in whole_lines(file):
                is_first, self._offset = self._offset == 0, self._offset + len(line)
                event = content_of_line(line)
                if is_first:
                    self._require_own(event)
                else:
                    yield event
        if not self._offset and os.fstat(self._file).st_size and not self.follows:
            self._require_begun()
        if not self.follows:
            # What a kill left of the last line is not part of the file.
            os.ftruncate(self._file, self._offset)
            if not self._offset:
                self.add({"format": FORMAT, "version": STATE_VERSION})

    def _require_own(self, head: object) -> None:
        version = head.get("version") if isinstance(head, dict) and head.get("format") == FORMAT else None
        if version != STATE_VERSION:
            known = f"it has version {version!r}, and this undust reads {STATE_VERSION}"
            message = f"{self.path}: {known}; use the undust that wrote it, or name another folder"
            raise UndustError(message)

    def _require_begun(self) -> None:
        """Raise for a file of another program; the part of our first line that a kill left is not one."""
        head = checked_line({"format": FORMAT, "version": STATE_VERSION})
        if not head.startswith(os.pread(self._file, len(head), 0)):
            message = f"{self.path}: it is not the state of a crawl; name another folder"
            raise UndustError(message)

    def add(self, event: object) -> None:
        """Write an event; when this returns, a kill cannot lose it."""
        line = checked_line(event)
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
            now = time.monotonic()
            if now - self._synced > SYNCED_SECONDS:
                self._synced = now
                os.fdatasync(self._file)
        except OSError as error:
            with suppress(OSError):  # so that half a line does not hide those that come later
                os.ftruncate(self._file, self._offset)
            error.filename = str(self.path)
            raise UndustError(file_sentence(error)) from None
        self._offset += len(line)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._file).st_size

    def close(self) -> None:
        """Close the file."""
        if not self.follows:
            os.fdatasync(self._file)
        os.close(self._file)
