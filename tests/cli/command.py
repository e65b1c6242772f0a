"""The command as people run it: a process of its own, in which a traceback is never right."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from tests.cli.warm import WarmCommand
from undust.cli import ENTRIES

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

FRESH = {"review", "serve"}
"""Commands that go on until somebody ends them."""
FRESH_WORDS = ("--memory", "spark")
"""Arguments of runs that are about the memory of a process, or that start Spark."""
IS_FRESH = {"UNDUST_FRESH", "PYTHONHASHSEED", "COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"}
"""Variables of the environment with which every run is a process of its own."""
WARM = WarmCommand()

# Linux counts the memory of the parent before exec into what it says of a child (getrusage), so the
# child has to look at itself.
MEASURED = """
import sys
from pathlib import Path
from undust.__main__ import main
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
    if file_blocks is None and may_be_warm(arguments):
        return _warm(list(map(str, arguments)), data, stdout)
    words: list[str] = [*UNDUST, *map(str, arguments)]
    if file_blocks is not None:
        words = ["sh", "-c", SMALL_FILES.format(blocks=file_blocks), "sh", *words]
    done = subprocess.run(words, input=data, stdout=stdout, stderr=subprocess.PIPE, check=False)
    return _ended(done.returncode, done.stdout, done.stderr)


def _ended(code: int, out: bytes | None, err: bytes) -> Ended:
    text = err.decode()
    assert "Traceback" not in text, text
    return Ended(code, out or b"", text)


def may_be_warm(arguments: tuple[str | Path, ...]) -> bool:
    """Whether a fork of the process that waits shows what a fresh process would."""
    is_brief = arguments[:1] and str(arguments[0]) in ENTRIES.keys() - FRESH
    is_plain = not any(str(each).startswith(FRESH_WORDS) for each in arguments)
    return bool(is_brief and is_plain) and not IS_FRESH & os.environ.keys() and WARM.fits()


def _warm(arguments: list[str], data: bytes, stdout: int | IO[bytes]) -> Ended:
    given, theirs = os.pipe(), [os.pipe(), os.pipe()]
    out = (
        theirs[0][1] if stdout == subprocess.PIPE else stdout if isinstance(stdout, int) else stdout.fileno()
    )
    found: dict[int, bytes] = {}
    threads = [threading.Thread(target=_put, args=(given[1], data))]
    threads += [
        threading.Thread(target=_take, args=(found, place, ends[0])) for place, ends in enumerate(theirs)
    ]
    for thread in threads:
        thread.start()
    try:
        code = WARM.run(arguments, (given[0], out, theirs[1][1]))
    finally:
        for end in (given[0], theirs[0][1], theirs[1][1]):
            os.close(end)
        for thread in threads:
            thread.join()
    return _ended(code, found[0], found[1])


def _put(end: int, data: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(end, "wb") as pipe:
        pipe.write(data)


def _take(found: dict[int, bytes], place: int, end: int) -> None:
    with os.fdopen(end, "rb") as pipe:
        found[place] = pipe.read()


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
