"""Tables as a terminal of 80 columns shows them: whole, and in colour only where that is wanted."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import UNDUST, run

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = 80
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7])(?:;[0-9;]*)?m")
COMMANDS = {
    "evaluate": (["evaluate", "rules.json", "shop.jsonl.gz"], "teapots.test"),
    "compare": (
        [
            "compare",
            "shop.jsonl.gz",
            "--method",
            "drop-query",
            "--method",
            "substring",
            "--method",
            "standard",
        ],
        "drop-query",
    ),
    "learn": (["learn", "shop.jsonl.gz"], "teapots.test"),
    "tree": (["tree", "shop.jsonl.gz"], "teapots.test"),
    "cluster": (["cluster", "shop.jsonl.gz"], "clusters"),
    "rules": (["rules", "list", "rules.json"], "teapots.test"),
    "show": (["rules", "show", "rules.json", "770f5d1e"], "{s}://{h}/p/{*}/{id:int}"),
}


def on_a_terminal(folder: Path, arguments: list[str], **environment: str) -> str:
    """Return what the command prints on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR", "CI"}}
    known |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | environment
    process = subprocess.Popen(
        [*UNDUST, *arguments], cwd=folder, env=known, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    said = b""
    while data := _read(ours):
        said += data
    assert process.wait() == 0
    os.close(ours)
    return said.decode().replace("\r", "")


def _read(ours: int) -> bytes:
    try:
        return os.read(ours, 1 << 16)
    except OSError:  # a terminal whose other end is gone
        return b""


@pytest.mark.parametrize("name", COMMANDS)
def test_tables_fit_and_name_everything(name: str, repository: Path) -> None:
    """No line is longer than the terminal, and what a row is about is never squeezed away."""
    arguments, wanted = COMMANDS[name]
    text = STYLE.sub("", on_a_terminal(repository / "examples", arguments))
    assert max(map(len, text.splitlines())) <= COLUMNS
    assert wanted in text


def test_colour_is_for_terminals_and_can_be_declined(repository: Path) -> None:
    """A terminal gets colours, `NO_COLOR` takes them away, a pipe never has any."""
    folder, (arguments, _) = repository / "examples", COMMANDS["show"]
    assert COLOUR.search(on_a_terminal(folder, arguments))
    assert not COLOUR.search(on_a_terminal(folder, arguments, NO_COLOR="1"))
    assert b"\x1b" not in run(*arguments[:2], folder / "rules.json", arguments[3]).out
