"""A small server for crawlers in other languages: the learner over HTTP and JSON, bounded in every direction.

It listens on loopback or on a Unix socket. A page in a browser on the same machine can send requests here.
Its Origin gives it away, and so does a name that it points at 127.0.0.1 (DNS rebinding); both are refused.
"""

from __future__ import annotations

import hmac
import json
import socket
import sys
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.crawling.learner import CrawlLearner


MOST_REQUEST_BYTES = 8 << 20
MOST_AT_ONCE = 1_000
"""URLs or rows in one request."""
_JSON, _TEXT = "application/json", "text/plain; version=0.0.4; charset=utf-8"
_HELP = {
    "decided": "URLs that were asked about.",
    "skipped": "URLs that were skipped.",
    "explored": "Probable duplicates that were fetched to test the rules.",
    "returned": "Skipped URLs that were handed back.",
    "observed": "URLs of which a response was observed.",
    "pages": "Different texts that were seen.",
    "learned": "Times that the rules of a site were learned.",
    "withdrawn": "Times that rules failed and were withdrawn.",
}
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


class Reply(NamedTuple):
    """What is sent back."""

    status: int
    kind: str
    body: bytes


class _BadRequest(Exception):  # noqa: N818 -- an answer, not a failure
    pass


def refusal(status: int, message: str) -> Reply:
    """Return an error as JSON."""
    return Reply(status, _JSON, json.dumps({"error": message}).encode())


def reply_to(learner: CrawlLearner, method: str, path: str, body: bytes) -> Reply:
    """Return the reply to a request."""
    route = _ROUTES.get(path)
    if route is None:
        return refusal(404, f"there is no {path[:100]}; the paths are {', '.join(_ROUTES)}")
    expected, work = route
    if method != expected:
        return refusal(405, f"{path} takes {expected}")
    try:
        return work(learner, _parsed(body) if method == "POST" else {})
    except _BadRequest as problem:
        return refusal(400, str(problem))
    except UndustError as error:
        return refusal(400, str(error))


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        message = "the body is not a JSON object"
        raise _BadRequest(message)
    return found


def _list_in(asked: dict[str, Any], name: str, kind: type) -> list[Any]:
    """Return the list that a request must have, all of one type and not too long."""
    found = asked.get(name)
    if set(asked) != {name} or not isinstance(found, list) or not all(isinstance(it, kind) for it in found):
        words = "texts" if kind is str else "objects"
        message = f"the body must be an object with '{name}', a list of {words}, and nothing else"
        raise _BadRequest(message)
    if len(found) > MOST_AT_ONCE:
        message = f"'{name}' has {len(found):,} entries; send at most {MOST_AT_ONCE:,} at a time"
        raise _BadRequest(message)
    return found


def _decide(learner: CrawlLearner, asked: dict[str, Any]) -> Reply:
    decisions = learner.decide_many(_list_in(asked, "urls", str))
    return _as_json({"decisions": [decision._asdict() for decision in decisions]})


def _observe(learner: CrawlLearner, asked: dict[str, Any]) -> Reply:
    rows = _list_in(asked, "rows", dict)
    learner.observe_many(rows)
    return _as_json({"observed": len(rows)})


def _returned(learner: CrawlLearner, asked: dict[str, Any]) -> Reply:
    most = asked.get("most", MOST_AT_ONCE)
    if set(asked) - {"most"} or not isinstance(most, int) or not 0 < most <= MOST_AT_ONCE:
        message = f"the body must be an object with 'most', from 1 to {MOST_AT_ONCE}, or empty"
        raise _BadRequest(message)
    return _as_json({"urls": learner.returned(most)})


def _rules(learner: CrawlLearner, _: dict[str, Any]) -> Reply:
    return Reply(200, _JSON, learner.rules.dumps())


def _metrics(learner: CrawlLearner, _: dict[str, Any]) -> Reply:
    lines = []
    for name, meaning in _HELP.items():
        full = f"undust_{name}_total"
        lines += [f"# HELP {full} {meaning}", f"# TYPE {full} counter", f"{full} {learner.counts[name]}"]
    return Reply(200, _TEXT, ("\n".join(lines) + "\n").encode())


def _openapi(_: CrawlLearner, __: dict[str, Any]) -> Reply:
    return _as_json(openapi())


def _as_json(value: object) -> Reply:
    return Reply(200, _JSON, json.dumps(value).encode())


_ROUTES: dict[str, tuple[str, Callable[[CrawlLearner, dict[str, Any]], Reply]]] = {
    "/decide": ("POST", _decide),
    "/observe": ("POST", _observe),
    "/returned": ("POST", _returned),
    "/rules": ("GET", _rules),
    "/metrics": ("GET", _metrics),
    "/openapi.json": ("GET", _openapi),
}


def openapi() -> dict[str, Any]:
    """Return the description of this interface in OpenAPI 3.1."""
    texts = {"type": "array", "items": {"type": "string"}, "maxItems": MOST_AT_ONCE}
    row = {"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}}
    decision = {
        "url": {"type": "string"},
        "action": {"enum": ["fetch", "skip"]},
        "key": {"type": "string"},
        "canonical": {"type": "string"},
        "reason": {"type": "string"},
        "explore": {"type": "boolean"},
    }
    decisions = {"type": "array", "items": {"type": "object", "properties": decision}}
    rows = {"type": "array", "items": row, "maxItems": MOST_AT_ONCE}
    most = {"type": "integer", "minimum": 1, "maximum": MOST_AT_ONCE}
    posts: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "/decide": ("Decide which URLs to fetch.", {"urls": texts}, {"decisions": decisions}),
        "/observe": ("Report what was seen.", {"rows": rows}, {"observed": {"type": "integer"}}),
        "/returned": ("Take back URLs that were skipped, each once.", {"most": most}, {"urls": texts}),
    }
    gets = {"/rules": "The rules that are believed now.", "/metrics": "Counters for Prometheus."}
    paths: dict[str, Any] = {path: {"get": _operation(text)} for path, text in gets.items()}
    for path, (text, asked, told) in posts.items():
        body = {"required": True, "content": _content(asked)}
        paths[path] = {"post": _operation(text, told) | {"requestBody": body}}
    return {"openapi": "3.1.0", "info": {"title": "undust serve", "version": "1"}, "paths": paths}


def _operation(text: str, told: dict[str, Any] | None = None) -> dict[str, Any]:
    done = {"description": "Done."} | ({"content": _content(told)} if told else {})
    wrong = {"description": "What is wrong.", "content": _content({"error": {"type": "string"}})}
    return {"summary": text, "responses": {"200": done, "400": wrong}}


def _content(properties: dict[str, Any]) -> dict[str, Any]:
    return {_JSON: {"schema": {"type": "object", "properties": properties}}}


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
