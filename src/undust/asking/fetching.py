"""One request, one answer: asked for plainly, read within bounds, reduced to its evidence.

Nothing of a page is run or followed. Its text is extracted, and that is all.

Connections go where they may, and end when their time is up. `httpcore` speaks HTTP/1.1 and HTTP/2 and leaves
opening sockets to this module. It follows no redirect, keeps no cookie, reads no proxy or password from the
environment.
"""

from __future__ import annotations

import platform
import socket
import ssl
import threading
from dataclasses import replace
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

import httpcore

from undust.asking.answers import FIRST_ERROR, FIRST_REDIRECT, Answer
from undust.asking.limits import ForbiddenAddress, HostAndPort, addresses_of
from undust.reading.formats.bodies import UNKNOWN_ENCODING, DecodedBody
from undust.reading.page import Body, content_of
from undust.urls import Url, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from undust.asking.answers import Why
    from undust.asking.limits import Manners


class Wire(httpcore.NetworkBackend):
    """Opens the connections of one host; `begin` starts the time of an answer."""

    def __init__(self, manners: Manners) -> None:
        self._manners = manners
        self._real = httpcore.SyncBackend()
        self._ends = monotonic()
        self.is_new = False
        """Whether the answer came, or should have come, through a connection that was made for it."""

    def begin(self) -> None:
        """Give the next answer its whole time."""
        self.is_new = False
        self._ends = monotonic() + self._manners.answer_timeout_s

    def left(self, timeout_s: float | None) -> float:
        """Return the seconds that one more step may take; raise if no time is left."""
        left = self._ends - monotonic()
        if left <= 0:
            message = f"no whole answer within {self._manners.answer_timeout_s:g} s"
            raise httpcore.ReadTimeout(message)
        return left if timeout_s is None else min(left, timeout_s)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to an address of the host that was judged before, and to none that was not."""
        self.is_new = True
        chosen = self._manners.connect_to.get(HostAndPort(host, port)) or self._manners.connect_to.get(
            HostAndPort(host)
        )
        if chosen:
            addresses, port = [chosen.host], chosen.port or port
        else:
            wait = self.left(timeout)
            addresses = addresses_of(host, port, wait, allow_private=self._manners.allow_private)
        failure: Exception = ForbiddenAddress(f"{host} has no address")
        for address in addresses:
            try:
                stream = self._real.connect_tcp(
                    address, port, self.left(timeout), local_address, socket_options
                )
                return _Timed(stream, self)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _Timed(httpcore.NetworkStream):
    """A connection whose every step is held to the time that is left."""

    def __init__(self, stream: httpcore.NetworkStream, wire: Wire) -> None:
        self._stream, self._wire = stream, wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._wire.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._wire.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, self._wire.left(timeout))
        return _Timed(stream, self._wire)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 -- whatever the library wants to know
        return self._stream.get_extra_info(info)


AGENT_NAME = "undust"
"""The name of the crawler in robots.txt."""
KEPT_ALIVE_S = 15.0
LARGEST_ROBOTS = 500 << 10
"""Bytes of a robots.txt that are read (RFC 9309, 2.5)."""
DROPPED = "the host closed a connection that was kept open"
"""It may do so at any time, which shows nothing about the URL."""
_DROPS = (httpcore.RemoteProtocolError, httpcore.ReadError, httpcore.WriteError)
LARGE = "a body larger than is read"


def user_agent(contact: str | None) -> str:
    """Return the user agent: the program, and how to reach the person who runs it."""
    reachable = contact or f"postmaster@{socket.getfqdn() or platform.node() or 'localhost'}"
    plain = "".join(character if " " <= character <= "~" else "?" for character in reachable)
    return f"{AGENT_NAME}/{version('undust')} (proof of URL rules; contact: {plain})"


class TooLarge(Exception):  # noqa: N818 -- the message says what is
    """The answer is larger than the limit."""


class Fetcher:
    """Asks hosts over the network, each through one connection."""

    is_live = True

    def __init__(self, manners: Manners, ssl_context: ssl.SSLContext | None = None) -> None:
        self._manners = manners
        self._ssl_context = ssl_context
        self._lines: dict[str, _Line] = {}
        self._lock = threading.Lock()
        self._headers = [
            ("User-Agent", user_agent(manners.contact)),
            ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
            ("Accept-Encoding", "gzip, deflate, br, zstd"),
        ]

    def close(self) -> None:
        """Close all connections."""
        for line in self._lines.values():
            line.pool.close()

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return the answer to one request; an error is an answer too."""
        answer = Answer(url, turn, why)
        parsed = Url.parse(url)
        if parsed is None or parsed.userinfo is not None:
            return replace(answer, time=time(), problem="not a URL that is fetched")
        line = self._line(parsed.host)
        try:
            answer = self._asked(answer, parsed, line)
        except (ForbiddenAddress, TooLarge) as error:
            answer = replace(answer, problem=str(error))
        except httpcore.TimeoutException as error:
            answer = replace(answer, problem=f"no answer in time: {str(error).strip() or 'it stopped'}")
        except Exception as error:  # noqa: BLE001 -- whatever strangers send, the job goes on
            said = str(error).strip() or type(error).__name__
            answer = replace(answer, problem=f"no proper answer: {said}")
            if not line.wire.is_new and isinstance(error, _DROPS):
                answer = replace(answer, problem=DROPPED)
        if answer.problem is not None or not _is_read_to_the_end(line.pool):
            # What else was on its way is not wanted any more.
            line.pool.close()
        return replace(answer, time=time())

    def _line(self, host: str) -> _Line:
        with self._lock:
            if host not in self._lines:
                if self._ssl_context is None:
                    self._ssl_context = ssl.create_default_context()
                wire = Wire(self._manners)
                pool = httpcore.ConnectionPool(
                    self._ssl_context,
                    max_connections=1,
                    keepalive_expiry=KEPT_ALIVE_S,
                    http2=True,
                    network_backend=wire,
                )
                self._lines[host] = _Line(pool, wire)
            return self._lines[host]

    def _asked(self, answer: Answer, url: Url, line: _Line) -> Answer:
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), self._manners.stage_timeout_s)
        line.wire.begin()
        with line.pool.stream(
            "GET", _address(url), headers=self._headers, extensions={"timeout": timeouts}
        ) as response:
            headers: dict[str, list[str]] = {}
            for name, value in response.headers:
                headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
            answer = replace(
                answer, status=response.status, retry_after_s=_seconds(headers.get("retry-after", []))
            )
            if FIRST_REDIRECT <= response.status < FIRST_ERROR:
                # Its body is for people whose browser does not follow it.
                return replace(answer, redirect=_target(answer.url, headers.get("location", [])))
            pieces = response.iter_stream()
            if answer.why == "robots":
                return self._robots(answer, pieces, headers)
            return self._page(answer, pieces, headers)

    def _page(self, answer: Answer, pieces: Iterator[bytes], headers: dict[str, list[str]]) -> Answer:
        most = self._manners.largest_body
        decoded = DecodedBody(_Packed(pieces, most), headers)
        body = Body.of(_at_most(most, decoded))
        if decoded.problem not in {None, UNKNOWN_ENCODING}:
            return replace(answer, problem=decoded.problem)
        content = content_of(body, next(iter(headers.get("content-type", ())), None))
        return replace(answer, size=content.size, digest=content.digest, text=content.text or None)

    @staticmethod
    def _robots(answer: Answer, pieces: Iterator[bytes], headers: dict[str, list[str]]) -> Answer:
        kept, size = [], 0
        try:
            for piece in DecodedBody(_Packed(pieces, LARGEST_ROBOTS), headers):
                kept.append(piece)
                size += len(piece)
                if size > LARGEST_ROBOTS:
                    break
        except TooLarge:
            pass
        text = b"".join(kept)
        if size > LARGEST_ROBOTS:
            # Half a line would forbid, or allow, something else than the whole one.
            text = text[:LARGEST_ROBOTS].rpartition(b"\n")[0]
        return replace(answer, size=size, text=text)


class _Line(NamedTuple):
    pool: httpcore.ConnectionPool
    wire: Wire


def _is_read_to_the_end(pool: httpcore.ConnectionPool) -> bool:
    """Return whether nothing follows the answer: it would be mistaken for the next one.

    Only the parser inside `httpcore` knows; where it cannot be asked, the connection is not kept.
    """
    for connection in pool.connections:
        inner = getattr(connection, "_connection", None)
        if isinstance(inner, httpcore.HTTP2Connection):
            continue
        behind, _ = getattr(getattr(inner, "_h11_state", None), "trailing_data", (b"unknown", False))
        if behind:
            return False
    return True


class _Packed:
    """A body as it comes over the wire, up to a bound."""

    def __init__(self, pieces: Iterator[bytes], most: int) -> None:
        self._pieces = pieces
        self._left = most
        self._held = b""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most this many bytes; b"" at the end."""
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._left -= len(piece)
            if self._left < 0:
                raise TooLarge(LARGE)
            self._held = piece
        end = len(self._held) if size < 0 else size
        piece, self._held = self._held[:end], self._held[end:]
        return piece


def _at_most(most: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        most -= len(piece)
        if most < 0:
            raise TooLarge(LARGE)
        yield piece


def _address(url: Url) -> httpcore.URL:
    host = url.host.removeprefix("[").removesuffix("]").encode("ascii")
    scheme = url.scheme.encode("ascii")
    target = url.path + ("" if url.query is None else f"?{url.query}")
    port = None if url.port is None else int(url.port)
    return httpcore.URL(scheme=scheme, host=host, port=port, target=target.encode("ascii"))


def _target(url: str, locations: list[str]) -> str | None:
    """Return where a redirect leads, absolute and in normal form."""
    if not locations:
        return None
    try:
        # Servers write UTF-8 where ASCII is required.
        text = locations[0].encode("latin-1").decode("utf-8", "replace").strip()
        return normalize(urljoin(url, text))
    except ValueError:
        return None


def _seconds(values: list[str]) -> float | None:
    """Return the pause of `Retry-After`: seconds, or a date (RFC 9110, 10.2.3)."""
    text = values[0].strip() if values else ""
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except (ValueError, OverflowError):
        return None
