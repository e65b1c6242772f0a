"""Real servers on loopback: nginx and Apache as the distribution has them, each with its folder and port."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IS_ROOT = os.getuid() == 0


class Server(NamedTuple):
    """A server that runs on loopback, and its folder."""

    name: str
    port: int
    folder: Path
    process: int

    def processor_time(self) -> float:
        """The seconds that its threads have worked; what else the machine does is not in it."""
        waiting, spent = [self.process], 0
        while waiting:
            for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                spent += int((task / "schedstat").read_text().split()[0])
                waiting += map(int, (task / "children").read_text().split())
        return spent / 1e9


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def apache_modules() -> Path:
    """Where the modules of Apache lie; without them the test is skipped."""
    places = map(Path, ("/usr/lib/apache2/modules", "/usr/lib64/httpd/modules"))
    found = next((path for path in places if path.exists()), None)
    if found is None:
        pytest.skip("apache2 has no modules where they are looked for")
    return found


@contextlib.contextmanager
def serving(name: str, configure: Callable[[Path, int], str]) -> Iterator[Server]:
    """Run nginx or apache2 with a configuration for a folder and a port; it is stopped at the end."""
    program = shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip(f"{name} is not installed")
    # Not below pytest's own folder, which the user that a server may become cannot enter.
    folder = Path(tempfile.mkdtemp(prefix=f"undust-{name}-"))
    folder.chmod(0o755)
    port = free_port()
    config = folder / "server.conf"
    config.write_text(configure(folder, port), encoding="utf-8")
    if name == "nginx":
        command = [program, "-c", str(config), "-e", str(folder / "error.log"), "-p", str(folder)]
    else:
        command = [program, "-f", str(config), "-DFOREGROUND"]
    with _running(command, port, folder) as process:
        yield Server(name, port, folder, process)
    shutil.rmtree(folder)


@contextlib.contextmanager
def _running(command: list[str], port: int, folder: Path) -> Iterator[int]:
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        for _ in range(2000):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert process.poll() is None, (folder / "output").read_text()
            time.sleep(0.05)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=200)
