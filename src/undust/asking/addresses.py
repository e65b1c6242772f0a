"""The addresses of a host name, and which of them may be fetched from.

A rule file names hosts of strangers. The answer for a name may be `127.0.0.1`, or a public
address now and a private one a moment later. So a name is looked up once for each connection, what comes
back is judged, and the connection is made to that very address: there is no second look-up to lie to.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from typing import NamedTuple

from undust.asking.public_ranges import is_public_address
from undust.errors import UndustError

_LARGEST_PORT = 65_535
_PORT = re.compile(r"[0-9]{1,5}")


class HostAndPort(NamedTuple):
    """A host and a port; without a port, all ports of the host."""

    host: str
    port: int | None = None


class ForbiddenAddress(Exception):  # noqa: N818 -- it is an answer, and the message says why
    """A connection that is not made."""


def is_public(address: str) -> bool:
    """Return whether an address is one of the public internet, whichever way it is written.

    >>> [is_public(address) for address in ("1.1.1.1", "127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254")]
    [True, False, False, False]
    """
    if "%" in address:
        return False  # a zone names a network of this machine; public addresses have none
    try:
        return is_public_address(ipaddress.ip_address(address))
    except ValueError:
        return False


def addresses_of(host: str, port: int, timeout_s: float, *, allow_private: bool) -> list[str]:
    """Return the addresses of a host that may be connected to; raise `Refused` if it has no such address."""
    found = _looked_up(host, port, timeout_s)
    allowed = found if allow_private else [address for address in found if is_public(address)]
    if not allowed:
        message = f"{host} leads to {found[0]}, which is not a public address"
        raise ForbiddenAddress(message)
    return allowed


def _looked_up(host: str, port: int, timeout_s: float) -> list[str]:
    """Look a name up, in a thread of its own: the system's function knows no timeout."""
    found: list[str] = []
    problems: list[str] = []

    def look() -> None:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(row[4][0]) for row in rows))
        except (OSError, UnicodeError) as error:
            problems.append(getattr(error, "strerror", None) or str(error))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(timeout_s)
    if not found:
        reason = problems[0] if problems else f"no answer within {timeout_s:g} s"
        message = f"the name {host} cannot be looked up: {reason}"
        raise ForbiddenAddress(message)
    return found


def connection_from(text: str) -> tuple[HostAndPort, HostAndPort]:
    """Return what `HOST[:PORT]=ADDRESS:PORT` says.

    >>> connection_from("www.shop.test=127.0.0.1:8080")
    (HostAndPort(host='www.shop.test', port=None), HostAndPort(host='127.0.0.1', port=8080))
    """
    left, equals, right = text.partition("=")
    host, target = _place(left), _place(right)
    if not (equals and host and target and target.port):
        message = f"'{text}' is not HOST[:PORT]=ADDRESS:PORT, as in www.shop.test=127.0.0.1:8080"
        raise UndustError(message)
    return host._replace(host=host.host.lower()), target


def _place(text: str) -> HostAndPort | None:
    host, colon, port = text.strip().rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text.strip(), ""
    if port and not (_PORT.fullmatch(port) and 0 < int(port) <= _LARGEST_PORT):
        return None
    host = host.removeprefix("[").removesuffix("]")
    return HostAndPort(host, int(port) if port else None) if host else None
