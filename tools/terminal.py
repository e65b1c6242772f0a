"""What the command prints on a terminal, colours included."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS = 60


def on_a_terminal(arguments: Sequence[str], folder: Path, columns: int, **environment: str) -> str:
    """Return what `undust` prints to a terminal as stdout; what goes to stderr is left out."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR", "CI"}}
    known |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | environment
    words = [sys.executable, "-m", "undust", *arguments]
    process = subprocess.Popen(
        words, cwd=folder, env=known, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    said = b""
    while data := _read(ours):
        said += data
    os.close(ours)
    if process.wait():
        message = f"undust {' '.join(arguments)} failed; run it by hand to see why"
        raise RuntimeError(message)
    return said.decode().replace("\r\n", "\n")


def _read(ours: int) -> bytes:
    try:
        return os.read(ours, 1 << 16)
    except OSError:  # a terminal whose other end is gone
        return b""
