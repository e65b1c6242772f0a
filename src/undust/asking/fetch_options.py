"""How a site is asked: how often, how long, how much; the defaults are those of a careful guest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undust.asking.addresses import HostAndPort


@dataclass(frozen=True)
class Manners:
    """What a person may say about how sites are asked."""

    delay_s: float = 1.0
    """Seconds between two requests to one host, at least; robots.txt can only raise it."""
    max_fetches: int = 10_000
    """Requests of one job, to all hosts together."""
    max_fetches_per_host: int | None = None
    contact: str | None = None
    """How the person who asks can be reached: an address of mail or web."""
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
    """Times that a URL is asked for again when its host is busy."""
    longest_pause_s: float = 300.0
    """A host that wants to be left alone for longer is left alone for the rest of the job."""

    def may_ask(self, host: str) -> bool:
        """Return whether a host is one of those that may be asked."""
        if self.ask_hosts is None or host in self.ask_hosts:
            return True
        parts = host.split(".")
        return any(f"*.{'.'.join(parts[at:])}" in self.ask_hosts for at in range(1, len(parts)))
