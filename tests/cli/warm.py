"""A process that has loaded undust and waits: each run of the command is a fork of it.

Loading pyarrow, numpy and the learner takes ten times as long as most commands that the tests run. What runs
is still the command in a process of its own, as `python -m undust` starts it: with its own arguments,
folder, streams, exit code and end. All forks have one hash seed and the memory of this process; a run that is
about either is started fresh (`command.run`).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from tools.faults.processes import load_everything

REPOSITORY = Path(__file__).resolve().parent.parent.parent
_LONGEST = 1 << 20
"""Bytes of the words of one command."""


class WarmCommand:
    """Starts the waiting process when it is first needed, and asks it for one run after the other."""

    def __init__(self) -> None:
        self._environment: dict[str, str] = {}
        self._line: socket.socket | None = None
        self._turn = threading.Lock()

    def fits(self) -> bool:
        """Return whether a run now would have the environment in which the process was started."""
        return not self._environment or self._environment == _environment()

    def run(self, arguments: list[str], streams: tuple[int, int, int]) -> int:
        """Run the command with these three files as its streams, and return its exit code."""
        with self._turn:
            if self._line is None:
                self._line = self._started()
            message = json.dumps([str(Path.cwd()), arguments]).encode()
            socket.send_fds(self._line, [message], streams)
            answer = self._line.recv(64)
        return int(answer)

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._environment = _environment()
        words = [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno())]
        nowhere = subprocess.DEVNULL
        process = subprocess.Popen(
            words, stdin=nowhere, stdout=nowhere, pass_fds=[theirs.fileno()], cwd=REPOSITORY
        )
        theirs.close()
        atexit.register(_stop, ours, process)
        return ours


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def _stop(line: socket.socket, process: subprocess.Popen[bytes]) -> None:
    line.close()
    process.wait()


def serve(line: socket.socket) -> list[str] | None:
    """Wait for commands; return the arguments of one in the fork that is to run it, and None at the end."""
    while True:
        message, streams, _, _ = socket.recv_fds(line, _LONGEST, 3)
        if not message:
            return None
        child = os.fork()
        if child == 0:
            line.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            folder, arguments = json.loads(message)
            os.chdir(folder)
            return list(arguments)
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(BrokenPipeError):
            line.send(str(code).encode())


def main() -> None:
    """Load what commands load, then wait; a fork becomes the command."""
    load_everything()
    gc.freeze()
    arguments = serve(socket.socket(fileno=int(sys.argv[1])))
    if arguments is not None:
        sys.argv[1:] = arguments
        sys.path[0] = str(Path.cwd())
        code: object = None
        try:
            runpy.run_module("undust", run_name="__main__", alter_sys=True)
        except SystemExit as ending:
            code = ending.code
        _end(code)


def _end(code: object) -> None:
    """End as Python does, but leave the memory to the system: to free each module takes longer than a run.

    Whatever is left to say, Python says itself.
    """
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    atexit._run_exitfuncs()  # noqa: SLF001 -- there is no public name
    if code is None or isinstance(code, int):
        with suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code or 0)
    sys.exit(code)  # type: ignore[arg-type]  # a text is printed


if __name__ == "__main__":
    main()
