"""Sites over HTTP on loopback, each under its own hosts, with a log of what was asked.

    with serving(site("forum", 10_000), site("shop", 10_000)) as server:
        ...  # ask 127.0.0.1:server.port, with the Host that is meant

The name of the host decides which site answers, so clients must be told to connect here, as with
`--connect-to HOST=127.0.0.1:PORT`, or take it for their proxy, or set the header themselves.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from bench.sites.answers import Answer
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPBACK = "127.0.0.1"
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
"""What every site says in its robots.txt, if nothing else is said."""
_PLAIN = {"Content-Type": "text/plain"}


class Request(NamedTuple):
    """One request, as the server saw it."""

    moment: float
    """Seconds of a clock that only goes forward."""
    method: str
    url: str
    status: int


class Served(Protocol):
    """What can be served: a `Site`, or anything that answers like one."""

    @property
    def domain(self) -> str:
        """The registered domain."""

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return what the site answers; `version` counts the fetches of this URL before."""


class SiteServer:
    """Answers for several sites."""

    def __init__(self, *sites: Served, port: int = 0, robots: bytes = ROBOTS) -> None:
        self.requests: list[Request] = []
        """All of them, in the order of their answers."""
        self._sites = {site.domain: site for site in sites}
        self._robots = robots
        self._fetches: Counter[str] = Counter()
        self._lock = threading.Lock()
        # The library makes a handler for each connection, so that the server has to be a part of its class.
        handler = type("Handler", (_Handler,), {"sites": self})
        self._http = ThreadingHTTPServer((LOOPBACK, port), handler)
        self._http.daemon_threads = True

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._http.server_address[1])

    def run(self) -> None:
        """Answer until it is closed."""
        self._http.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        """End answering."""
        self._http.shutdown()
        self._http.server_close()

    def answer(self, handler: _Handler, method: str) -> None:
        """Answer one request, and remember it."""
        host = handler.headers.get("Host", "").partition(":")[0].lower()
        # Not `path`, in which the library has put one slash for several. Of a proxy the whole URL is asked.
        path = handler.requestline.split(" ")[1].removeprefix(f"http://{host}")
        url = f"http://{host}{path}"
        site = self._sites.get(site_of(url) or "")
        if site is None:
            answer = Answer(404, _PLAIN, b"no such site\n", None)
        elif path == "/robots.txt":
            answer = Answer(200, _PLAIN, self._robots, None)
        else:
            with self._lock:
                version = self._fetches[url]
                self._fetches[url] += method == "GET"
            answer = site.answer(url, version)
        # Before the reply: whoever has an answer finds the request here.
        with self._lock:
            self.requests.append(Request(monotonic(), method, url, answer.status))
        handler.reply(answer, method)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small answers on kept connections must not wait for each other's acknowledgement.
    disable_nagle_algorithm = True

    sites: ClassVar[SiteServer]

    def do_GET(self) -> None:
        self.sites.answer(self, "GET")

    def do_HEAD(self) -> None:
        self.sites.answer(self, "HEAD")

    def reply(self, answer: Answer, method: str) -> None:
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if method != "HEAD":
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the library's name
        """Write nothing: requests are kept by the server."""


@contextmanager
def serving(*sites: Served, port: int = 0, robots: bytes = ROBOTS) -> Iterator[SiteServer]:
    """Serve sites while the block runs."""
    server = SiteServer(*sites, port=port, robots=robots)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
