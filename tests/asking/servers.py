"""A server that may do anything: each path has a script that writes what it likes to the connection."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Script = Callable[["Connection", "Request"], None]

LOOPBACK = "127.0.0.1"


class Request(NamedTuple):
    """What the server read."""

    moment: float
    host: str
    path: str
    headers: dict[str, str]


class Connection(NamedTuple):
    """Where a script writes."""

    socket: socket.socket

    def send(self, data: bytes) -> None:
        """Send it all; raise when nobody reads any more."""
        self.socket.sendall(data)

    def reply(self, body: bytes = b"", status: int = 200, **headers: str) -> None:
        """Send a proper answer."""
        named = {
            "Content_Type": "text/html",
            "Content_Length": str(len(body)),
            "Connection": "close",
            **headers,
        }
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
        self.send("\r\n".join([f"HTTP/1.1 {status} Some Reason", *lines, "", ""]).encode() + body)


def page(text: str) -> Script:
    """A script that shows a page."""
    return lambda connection, _request: connection.reply(f"<p>{text}</p>".encode())


def moved(target: str, status: int = 302) -> Script:
    """A script that sends elsewhere."""
    return lambda connection, _request: connection.reply(status=status, Location=target)


def missing(connection: Connection, _request: Request) -> None:
    """Say that there is nothing."""
    connection.reply(b"nothing here", status=404)


@dataclass
class Server:
    """Listens on loopback; closes each connection after one answer."""

    scripts: Mapping[str, Script]
    log: list[Request] = field(default_factory=list)
    connections: int = 0
    hung_up: SimpleQueue[str] = field(default_factory=SimpleQueue)
    """Paths whose script was not at its end when the client closed the connection."""

    def __post_init__(self) -> None:
        self._listener = socket.create_server((LOOPBACK, 0))
        self.port = int(self._listener.getsockname()[1])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End listening."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _run(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(accepted,), daemon=True).start()

    def _serve(self, accepted: socket.socket) -> None:
        with accepted, suppress(OSError):
            accepted.settimeout(30)
            head = b""
            while b"\r\n\r\n" not in head and (piece := accepted.recv(4096)):
                head += piece
            if b"\r\n\r\n" not in head:
                return
            first, *lines = head.decode("latin-1").split("\r\n\r\n")[0].split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
            }
            request = Request(
                monotonic(), headers.get("host", "").partition(":")[0], first.split()[1], headers
            )
            self.log.append(request)
            path = request.path.partition("?")[0]
            try:
                self.scripts.get(path, missing)(Connection(accepted), request)
            except ConnectionError:
                self.hung_up.put(path)

    def asked(self, path: str) -> int:
        """How often a path was asked for, whatever its query."""
        return sum(request.path.partition("?")[0] == path for request in self.log)


@contextmanager
def serving(scripts: Mapping[str, Script]) -> Iterator[Server]:
    """Serve while the block runs."""
    server = Server(scripts)
    try:
        yield server
    finally:
        server.close()
