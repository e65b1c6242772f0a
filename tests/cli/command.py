"""The command as people run it: a process of its own, in which a traceback is never right."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path
    from typing import IO

UNDUST = (sys.executable, "-m", "undust")
# Python takes a short write of a compiled module for a whole one (CPython gh-126606), so what may only
# write small files must not compile: it would break every later run. Nor must coverage be counted there.
SMALL_FILES = (
    "ulimit -f {blocks}; unset COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG; "
    'PYTHONDONTWRITEBYTECODE=1 exec "$@"'
)

# Linux counts the memory of the parent before exec into what it says of a child (getrusage), so the
# child has to look at itself.
MEASURED = """
import sys
from pathlib import Path
from undust.cli import main
try:
    main()
finally:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(status["VmHWM"].split()[0], file=sys.stderr)
"""


class Ended(NamedTuple):
    """How a run ended."""

    code: int
    out: bytes
    err: str


def run(
    *arguments: str | Path,
    data: bytes = b"",
    stdout: int | IO[bytes] = subprocess.PIPE,
    file_blocks: int | None = None,
) -> Ended:
    """Run the command; `file_blocks` is the size that a file may have, in blocks of 512 bytes."""
    words: list[str] = [*UNDUST, *map(str, arguments)]
    if file_blocks is not None:
        words = ["sh", "-c", SMALL_FILES.format(blocks=file_blocks), "sh", *words]
    done = subprocess.run(words, input=data, stdout=stdout, stderr=subprocess.PIPE, check=False)
    err = done.stderr.decode()
    assert "Traceback" not in err, err
    return Ended(done.returncode, done.stdout or b"", err)


def peak_memory_bytes(*arguments: str | Path) -> int:
    """Return the most memory that a run of the command ever held."""
    words = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, check=True)
    return int(done.stderr) * 1024


def start(*arguments: str | Path, stdin: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """Start the command and give its process."""
    words = [*UNDUST, *map(str, arguments)]
    return subprocess.Popen(words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def sentence(ended: Ended, code: int = 1) -> str:
    """Return the one sentence in which a run has to end that went wrong."""
    assert ended.code == code, ended
    assert ended.err.startswith("undust: "), ended.err
    assert ended.err.endswith("\n"), ended.err
    assert ended.err.count("\n") == 1, ended.err
    return ended.err.removeprefix("undust: ").rstrip("\n")
