"""The limits of asking: how often, how long and how much, and which addresses may be fetched from.

A rule file names hosts of strangers. The answer for a name may be `127.0.0.1`, or a public address now and a
private one a moment later. So a name is looked up once for each connection, what comes back is judged, and
the connection is made to that very address: there is no second look-up to mislead.

Which IP addresses belong to the public internet is an allow-list. An address is public if it is in a range
that is handed out for public use and in no range of the IANA special-purpose address registries (RFC 6890 and
its updates). Python's `ipaddress.is_global` uses a list of what is not public instead, so a
range that it does not know counts as public.

Registries: iana-ipv4-special-registry, iana-ipv6-special-registry, ipv6-unicast-address-assignments.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Manners:
    """The user's options for requests to sites."""

    delay_s: float = 1.0
    """Seconds between two requests to one host, at least; robots.txt can only raise it."""
    max_fetches: int = 10_000
    """Requests of one job, to all hosts together."""
    max_fetches_per_host: int | None = None
    contact: str | None = None
    """How the user can be reached: an address of mail or web."""
    allow_private: bool = False
    """Ask also where a name leads to a private, loopback or link-local address."""
    ask_hosts: frozenset[str] | None = None
    """The only hosts that are asked, `*.shop.test` for all below one; None for any. A log or a list says
    what strangers want it to say, so that the user names the hosts."""
    connect_to: Mapping[HostAndPort, HostAndPort] = field(default_factory=dict)
    """Hosts whose requests go to another address; a person named it, so it may be any."""
    stage_timeout_s: float = 20.0
    """For each of: looking up a name, connecting, encrypting, sending, the next bytes."""
    answer_timeout_s: float = 60.0
    """For a whole answer, so that a server cannot send it byte by byte for hours."""
    largest_body: int = 8 << 20
    """Bytes of a body, packed as well as unpacked."""
    redirects: int = 5
    retries: int = 3
    """Times that a URL is requested again when its host is busy."""
    longest_pause_s: float = 300.0
    """A host that wants to be left alone for longer is left alone for the rest of the job."""

    def may_ask(self, host: str) -> bool:
        """Return whether a host is one of those that may be asked."""
        if self.ask_hosts is None or host in self.ask_hosts:
            return True
        parts = host.split(".")
        return any(f"*.{'.'.join(parts[at:])}" in self.ask_hosts for at in range(1, len(parts)))


SPECIAL_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # "this network" (RFC 791)
            "10.0.0.0/8",  # private use (RFC 1918)
            "100.64.0.0/10",  # shared by customers of one provider (RFC 6598)
            "127.0.0.0/8",  # loopback (RFC 1122)
            "169.254.0.0/16",  # link local (RFC 3927); cloud metadata services
            "172.16.0.0/12",  # private use (RFC 1918)
            "192.0.0.0/24",  # IETF protocol assignments (RFC 6890)
            "192.0.2.0/24",  # documentation (RFC 5737)
            "192.31.196.0/24",  # AS112 (RFC 7535)
            "192.52.193.0/24",  # automatic multicast tunnels (RFC 7450)
            "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
            "192.168.0.0/16",  # private use (RFC 1918)
            "192.175.48.0/24",  # AS112 (RFC 7534)
            "198.18.0.0/15",  # benchmarks (RFC 2544)
            "198.51.100.0/24",  # documentation (RFC 5737)
            "203.0.113.0/24",  # documentation (RFC 5737)
            "224.0.0.0/4",  # multicast (RFC 5771)
            "240.0.0.0/4",  # reserved (RFC 1112), with the limited broadcast address
        ),
    )
)
"""IPv4 ranges that are not public. The few registered as reachable serve the network itself, not pages."""

PUBLIC_IPV6 = IPv6Network("2000::/3")
"""The only IPv6 range from which global unicast addresses are handed out (RFC 4291, 2.4)."""

SPECIAL_IPV6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # IETF protocol assignments: Teredo, benchmarks, AMT, AS112, ORCHID, DRIP (RFC 2928)
            "2001:db8::/32",  # documentation (RFC 3849)
            "2620:4f:8000::/48",  # AS112 (RFC 7534)
            "3ffe::/16",  # 6bone, returned (RFC 3701)
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)
"""Ranges inside `PUBLIC_IPV6` that are not public. All that is outside it is not public either."""

_LOW_32 = 0xFFFF_FFFF
_MAPPED, _NAT64, _SIX_TO_FOUR = map(IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96", "2002::/16"))
_ISATAP = {0x0000_5EFE, 0x0200_5EFE}
"""The upper half of the interface identifier in front of an IPv4 address (RFC 5214, 6.1)."""


def is_public_address(address: IPv4Address | IPv6Address) -> bool:
    """Return whether an address is public; IPv6 that leads to an IPv4 address is judged by both."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in SPECIAL_IPV4)
    number = int(address)
    if address in _MAPPED or address in _NAT64:
        # Nothing but an IPv4 address in other words (RFC 4291, 2.5.5.2; RFC 6052, 2.1).
        return is_public_address(IPv4Address(number & _LOW_32))
    if address not in PUBLIC_IPV6 or any(address in network for network in SPECIAL_IPV6):
        return False
    inside = []
    if address in _SIX_TO_FOUR:
        inside.append(number >> 80 & _LOW_32)  # RFC 3056, 2
    if number >> 32 & _LOW_32 in _ISATAP:
        inside.append(number & _LOW_32)
    return all(is_public_address(IPv4Address(each)) for each in inside)


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
