"""The server that `validate` asks while it is killed, in a process of its own.

    python -m tools.faults.shop      prints its port, and ends when its standard input does

The process that forks the jobs has no other thread: a fork takes the locks of all threads along, and nobody
in the new process would ever open those that another thread held.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_S = 0.002
"""Seconds that the server takes for an answer, so that `validate` lasts."""


class Shop(BaseHTTPRequestHandler):
    """Pages that depend on `id` alone."""

    def do_GET(self) -> None:
        """Answer with the page."""
        time.sleep(SLOW_S)
        shown = re.sub(r"&?sid=[^&]*", "", self.path)
        body = f"<p>{f'words of {shown} ' * 20}".encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """One that says nothing when its client was killed."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[int]:
    """Give the port of the shop."""
    with subprocess.Popen(
        [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield int(cast("IO[bytes]", process.stdout).readline())


def main() -> None:
    """Serve until nobody is left who wants it."""
    with Server(("127.0.0.1", 0), Shop) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
