"""A process that has loaded a program and waits: each run of the program is a fork of it.

Loading pyarrow, numpy and the learner takes ten times as long as most commands that the tests run, and
loading Scrapy as long as a small crawl. What runs is still the program in a process of its own, as
`python -m undust` or `python -m scrapy` starts it: with its own arguments, folder, environment, streams, exit
code and end. All forks have one hash seed and the memory of this process; a run that is about either is
started fresh (`command.run`).
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
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from tools.faults.processes import load_everything

if TYPE_CHECKING:
    from collections.abc import Mapping

REPOSITORY = Path(__file__).resolve().parent.parent.parent
_LONGEST = 1 << 20
"""Bytes of the words of one command."""
_OF_SCRAPY = ("core", "downloadermiddlewares", "extensions", "http", "spidermiddlewares", "utils")
_DEPRECATED = {"scrapy.core.downloader.handlers.http", "scrapy.extensions.statsmailer"}
CLIENT = """#!{python} -IS
import json, os, socket, sys
line = socket.socket(fileno=int(os.environ["UNDUST_LINE"]))
message = json.dumps([os.getcwd(), sys.argv[1:], dict(os.environ)]).encode()
socket.send_fds(line, [message], [0, 1, 2])
sys.exit(int(line.recv(64)))
"""
"""A program that asks the waiting process for one run with its own words and streams."""
OURS_FOR_SCRAPY = ("applying", "learning", "observing")


class WarmCommand:
    """Starts the waiting process when it is first needed, and asks it for one run after the other."""

    def __init__(self, program: str = "undust") -> None:
        self._program = program
        self._environment: dict[str, str] = {}
        self._line: socket.socket | None = None
        self._turn = threading.Lock()

    def fits(self) -> bool:
        """Return whether a run now would have the environment in which the process was started."""
        return not self._environment or self._environment == _environment()

    def run(
        self,
        arguments: list[str],
        streams: tuple[int, int, int],
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Run the program with these three files as its streams, and return its exit code."""
        with self._turn:
            if self._line is None:
                self._line = self._started()
            message = json.dumps([str(Path.cwd()), arguments, dict(environment or {})]).encode()
            socket.send_fds(self._line, [message], streams)
            answer = self._line.recv(64)
        return int(answer)

    def client_in(self, folder: Path) -> int:
        """Write a program of the same name that shells can call; return the file that it must inherit.

        Its number is given in UNDUST_LINE. Two such runs at a time would wait for each other.
        """
        if self._line is None:
            self._line = self._started()
        client = folder / self._program
        client.write_text(CLIENT.format(python=sys.executable), encoding="utf-8")
        client.chmod(0o755)
        return self._line.fileno()

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._environment = _environment()
        words = [sys.executable, "-m", "tests.cli.warm", self._program, str(theirs.fileno())]
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
            folder, arguments, environment = json.loads(message)
            os.chdir(folder)
            os.environ.update(environment)
            return list(arguments)
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(BrokenPipeError):
            line.send(str(code).encode())


def load_scrapy() -> None:
    """Load what a spider would load, but for the loop of events that each run chooses for itself."""
    for part in _OF_SCRAPY:
        package = import_module(f"scrapy.{part}")
        for module in walk_packages(package.__path__, f"scrapy.{part}."):
            if module.name not in _DEPRECATED:
                import_module(module.name)
    import_module("scrapy.commands.runspider")
    for name in OURS_FOR_SCRAPY:
        import_module(f"undust.integrations.scrapy.{name}")
    assert "twisted.internet.reactor" not in sys.modules


LOADING = {"undust": load_everything, "scrapy": load_scrapy}


def main() -> None:
    """Load what a program loads, then wait; a fork becomes the program."""
    program = sys.argv[1]
    LOADING[program]()
    gc.freeze()
    arguments = serve(socket.socket(fileno=int(sys.argv[2])))
    if arguments is not None:
        sys.argv[1:] = arguments
        sys.path[0] = str(Path.cwd())
        code: object = None
        try:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
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
