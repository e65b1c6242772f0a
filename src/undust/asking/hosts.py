"""When each host may be asked next, what it asks of robots, and how much of the budget is left.

The time between two requests runs from the end of an answer, not from the question: however long the way, the
host itself never sees two questions closer together than was promised. Its robots.txt (RFC 9309) says where
not to go, and how slowly.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from time import monotonic, time
from time import time as now
from typing import TYPE_CHECKING

from protego import Protego

from undust.asking.answers import BUSY, FIRST_ERROR, FIRST_FAILURE, OK
from undust.asking.fetching import AGENT_NAME

if TYPE_CHECKING:
    from undust.asking.answers import Answer
    from undust.asking.fetch_options import Manners

SHORTEST_PAUSE_S = 0.5
"""Doubled each time that a host says it is busy, where no delay asks for more."""
SPENT = "the budget of fetches is used up"
SPENT_ON_HOST = "the host's budget of fetches is used up"


class Stopped(Exception):  # noqa: N818 -- not an error
    """The job is being ended."""


@dataclass
class Host:
    """One host: its pace, and what it said about being asked."""

    delay_s: float
    ready_at: float
    """On the clock that only goes forward."""
    strikes: int = 0
    """How often in a row it said that it is busy."""
    closed: str | None = None
    """Why it is not asked any more."""
    fetches: int = 0


class VisitedHosts:
    """All hosts of a job."""

    def __init__(self, manners: Manners, *, is_resumed: bool = False) -> None:
        self._manners = manners
        # A question may have been on its way when the run before was ended.
        self._wait_first = is_resumed
        self._hosts: dict[str, Host] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def __len__(self) -> int:
        return sum(host.fetches > 0 for host in self._hosts.values())

    def stop(self) -> None:
        """Let all who wait, or will, end instead."""
        self._stopped.set()

    def __getitem__(self, name: str) -> Host:
        with self._lock:
            if name not in self._hosts:
                start = monotonic() + (self._manners.delay_s if self._wait_first else 0.0)
                self._hosts[name] = Host(self._manners.delay_s, start)
            return self._hosts[name]

    def slow_down(self, name: str, delay_s: float) -> None:
        """Ask a host no more often than this; what was slower stays slower."""
        host = self[name]
        if delay_s > self._manners.longest_pause_s:
            host.closed = f"robots.txt asks for {delay_s:,.0f} s between requests, more than is waited"
        if delay_s > host.delay_s:
            host.ready_at += delay_s - host.delay_s
            host.delay_s = delay_s

    def wait(self, name: str) -> None:
        """Return when a host may be asked."""
        self._stopped.wait(max(0.0, self[name].ready_at - monotonic()))
        self.require_running()

    def require_running(self) -> None:
        """Raise if the job is being ended."""
        if self._stopped.is_set():
            raise Stopped

    def note(self, name: str, answer: Answer) -> None:
        """Learn from an answer, new or recorded, when its host may be asked next."""
        host = self[name]
        host.fetches += 1
        pause = host.delay_s
        if answer.status in BUSY:
            host.strikes += 1
            pause = max(pause, SHORTEST_PAUSE_S) * 2**host.strikes
            pause = max(min(pause, self._manners.longest_pause_s), answer.retry_after_s or 0.0)
            if pause > self._manners.longest_pause_s:
                host.closed = f"the host asks to be left alone for {pause:,.0f} s"
        elif answer.problem is None:
            host.strikes = 0
        host.ready_at = max(host.ready_at, monotonic() + pause - max(0.0, time() - answer.time))


class RequestBudget:
    """How many requests one part of a job may still make; recorded ones count as made."""

    def __init__(self, fetches: int, per_host: int | None) -> None:
        self.left = fetches
        self._per_host = per_host

    @property
    def for_one_host(self) -> int:
        """Requests that a single host could get at most."""
        return self.left if self._per_host is None else min(self.left, self._per_host)

    def refuses(self, host: Host) -> str | None:
        """Return why one more request is too much; None if it is not."""
        if self.left <= 0:
            return SPENT
        if self._per_host is not None and host.fetches >= self._per_host:
            return SPENT_ON_HOST
        return None

    def spend(self) -> None:
        """Count one request."""
        self.left -= 1


TOO_MANY_REQUESTS = 429
FORBIDDEN = "robots.txt forbids it"


@dataclass(frozen=True)
class Robots:
    """The wishes of one origin."""

    delay_s: float = 0.0
    """Seconds between requests, by `Crawl-delay` and `Request-rate`, whichever asks for more."""
    refusal: str | None = None
    """Why nothing may be asked for at all."""
    time: float = field(default_factory=now)
    _parsed: Protego = field(default_factory=lambda: Protego.parse(""))

    def refuses(self, url: str) -> str | None:
        """Return why a URL must not be fetched; None if it may be."""
        if self.refusal is not None:
            return self.refusal
        return None if self._parsed.can_fetch(url, AGENT_NAME) else FORBIDDEN


def robots_from(answer: Answer, problem: str | None = None) -> Robots:
    """Return what the answer to a request for robots.txt means; what cannot be read forbids everything."""
    if problem is not None:
        return Robots(refusal=f"robots.txt cannot be read: {problem}")
    status = answer.status or FIRST_FAILURE
    if status == OK:
        return robots_of((answer.text or b"").decode("utf-8-sig", "replace"))
    if FIRST_ERROR <= status < FIRST_FAILURE and status != TOO_MANY_REQUESTS:
        return Robots()
    return Robots(refusal=f"robots.txt cannot be read: status {status}")


def robots_of(text: str) -> Robots:
    r"""Return what a robots.txt asks of us.

    >>> robots = robots_of("User-agent: *\nDisallow: /private/\nCrawl-delay: 2\nRequest-rate: 1/5")
    >>> robots.delay_s, robots.refuses("http://a.test/private/x"), robots.refuses("http://a.test/x")
    (5.0, 'robots.txt forbids it', None)
    """
    parsed = Protego.parse(text)
    rate = parsed.request_rate(AGENT_NAME)
    delays = [parsed.crawl_delay(AGENT_NAME) or 0.0, rate.seconds / rate.requests if rate else 0.0]
    return Robots(max(delays), _parsed=parsed)
