"""A small server for crawlers in other languages: loopback or a Unix socket, bounded in every direction.

A page in a browser on the same machine can send requests here. Its Origin gives it away, and so does a name
that it points at 127.0.0.1 (DNS rebinding); both are refused.
"""

from __future__ import annotations

import hmac
import socket
import sys
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from undust.crawling.service import MOST_REQUEST_BYTES, Reply, refusal, reply_to

if TYPE_CHECKING:
    from undust.crawling.learner import CrawlLearner

MOST_CONNECTIONS = 128
"""That are served at a time; others are closed with an answer."""
IDLE_SECONDS = 20
"""Seconds that a connection may be idle, or a client may not take what is sent."""
SLOWEST_SECONDS = 30
"""Seconds that a client may take to send a request, however it divides them."""
_HEAD = (
    "HTTP/1.1 {} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
    "Retry-After: 1\r\nConnection: close\r\n\r\n"
)
_MOST_DIGITS = 12


class CrawlServer(ThreadingMixIn, TCPServer):
    """Serves one learner."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024

    def __init__(
        self, learner: CrawlLearner, address: tuple[str, int] | str, token: str | None = None
    ) -> None:
        """Listen on a host and a port, or on the path of a Unix socket; a token is asked for if given."""
        self.learner = learner
        self.token = token
        self.is_local_socket = isinstance(address, str)
        self._free = BoundedSemaphore(MOST_CONNECTIONS)
        self.receiving: dict[socket.socket, float] = {}
        """Connections in the middle of a request, and since when."""
        if isinstance(address, str):
            self.address_family = socket.AF_UNIX
            with suppress(FileNotFoundError):
                if Path(address).is_socket():
                    Path(address).unlink()
        super().__init__(address, _CrawlHandler)  # type: ignore[arg-type]  # a path, for a Unix socket
        if isinstance(address, str):
            Path(address).chmod(0o600)

    def server_close(self) -> None:
        """Stop listening, and remove the Unix socket."""
        super().server_close()
        if self.is_local_socket:
            Path(str(self.server_address)).unlink(missing_ok=True)

    @property
    def hosts(self) -> set[str]:
        """What requests may name as their host when there is no token."""
        port = self.server_address[1]
        return {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- of the base class
        """Serve a connection in a thread of its own, or refuse it if there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        _send_refusal(request, 503, f"there are more than {MOST_CONNECTIONS} connections; try again")
        self.shutdown_request(request)

    def service_actions(self) -> None:
        """End requests that take too long to arrive; the loop of the server calls this again and again."""
        now = time.monotonic()
        for connection, since in list(self.receiving.items()):
            if now - since > SLOWEST_SECONDS and self.receiving.pop(connection, None) is not None:
                _send_refusal(connection, 408, f"the request did not arrive within {SLOWEST_SECONDS} seconds")
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Serve a connection, and make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Say nothing of a client that hung up or was too slow."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _CrawlHandler(BaseHTTPRequestHandler):
    server: CrawlServer
    protocol_version = "HTTP/1.1"
    server_version = "undust"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = False

    def handle_one_request(self) -> None:
        """Wait for a request, and watch the time from its first byte on."""
        self.connection.settimeout(IDLE_SECONDS)
        try:
            is_begun = bool(self.rfile.peek(1))  # type: ignore[attr-defined]  # a buffered reader
        except OSError:
            is_begun = False
        if not is_begun:
            self.close_connection = True
            return
        self.connection.settimeout(2 * SLOWEST_SECONDS)  # the loop of the server is there before
        self.server.receiving[self.connection] = time.monotonic()
        try:
            super().handle_one_request()
        finally:
            self.server.receiving.pop(self.connection, None)

    def do_GET(self) -> None:
        """Answer a request without a body."""
        self.server.receiving.pop(self.connection, None)
        self._reply(self._refused() or reply_to(self.server.learner, "GET", self.path, b""))

    def do_POST(self) -> None:
        """Answer a request with a body."""
        refused = self._refused()
        text = self.headers.get("Content-Length", "")
        length = int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
        if refused is None and (length is None or length > MOST_REQUEST_BYTES):
            size = MOST_REQUEST_BYTES >> 20
            refused = refusal(413, f"a body has a Content-Length, and at most {size} MiB")
        if refused is not None or length is None:
            self.close_connection = True  # what is left of the body is not read
            self._reply(refused or refusal(400, "there is no length"))
            return
        body = self.rfile.read(length)
        if self.server.receiving.pop(self.connection, None) is None or len(body) < length:
            self.close_connection = True  # it took too long, or was cut off
            return
        self._reply(reply_to(self.server.learner, "POST", self.path, body))

    def _refused(self) -> Reply | None:
        if self.headers.get("Origin") is not None:
            return refusal(403, "requests of web pages are not answered")
        if self.server.token is not None:
            given = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(errors="replace"), self.server.token.encode()):
                return refusal(401, "the token is missing or wrong; send it as Authorization: Bearer TOKEN")
        elif not self.server.is_local_socket and self.headers.get("Host") not in self.server.hosts:
            return refusal(403, "this server answers to 127.0.0.1 and localhost only")
        return None

    def _reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in (
            ("Content-Type", reply.kind),
            ("Content-Length", str(len(reply.body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            *((("Connection", "close"),) if self.close_connection else ()),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Answer a request that is not HTTP, or has another method, as JSON too."""
        self.close_connection = True
        self._reply(refusal(code, message or "this is not a request that can be answered"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- of the base class
        """Say nothing: a crawl asks thousands of times a second."""


def _send_refusal(connection: socket.socket, status: int, message: str) -> None:
    """Answer outside of any request."""
    body = refusal(status, message).body
    head = _HEAD.format(status, HTTPStatus(status).phrase, len(body))
    with suppress(OSError):
        connection.sendall(head.encode() + body)
