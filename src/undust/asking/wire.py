"""Connections that go where they may, and end when their time is up.

`httpcore` speaks HTTP/1.1 and HTTP/2 and leaves opening sockets to this module. It follows no
redirect, keeps no cookie, reads no proxy or password from the environment.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import httpcore

from undust.asking.addresses import ForbiddenAddress, HostAndPort, addresses_of

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from undust.asking.fetch_options import Manners


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
