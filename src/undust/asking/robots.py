"""What a host asks of robots (RFC 9309): where not to go, and how slowly."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time as now
from typing import TYPE_CHECKING

from protego import Protego

from undust.asking.answers import FIRST_ERROR, FIRST_FAILURE, OK
from undust.asking.fetching import AGENT_NAME

if TYPE_CHECKING:
    from undust.asking.answers import Answer

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
