"""Asks for URLs of one site as a guest should, at the pace of each host, and never twice for what it knows.

Every question goes the same way: is it recorded, may it be asked (site, robots.txt, budget), when; then the
answer is written to the journal before it is used.

The time between two requests runs from the end of an answer, not from the question: however long the way, the
host itself never sees two questions closer together than was promised. Its robots.txt (RFC 9309) says where
not to go, and how slowly.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from time import monotonic, time
from time import time as now
from typing import TYPE_CHECKING, Protocol

from protego import Protego

from undust.asking.answers import BUSY, FIRST_ERROR, FIRST_FAILURE, OK, Answer
from undust.asking.fetching import AGENT_NAME, DROPPED
from undust.reading.text import common_shingles, sketch
from undust.urls import Url, site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from undust.asking.answers import AnswerJournal, Why
    from undust.asking.limits import Manners


SKETCHED_BYTES = 1 << 20
"""Of a text; the rest of a longer one is not looked at."""
ROBOTS_LAST_S = 24 * 3600.0
"""How long a robots.txt is used (RFC 9309, 2.4)."""
OUTSIDE = "it sends on to another site"
CIRCLE = "it redirects in a circle"
NOT_NAMED = "its host is not one of those named with --ask-host"


class AnswerSource(Protocol):
    """The source of answers: the network, or an archive."""

    is_live: bool

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return the answer to one request."""

    def close(self) -> None:
        """Release all resources."""


@dataclass(frozen=True)
class VisitedPage:
    """What is found at a URL, after all redirects inside its site."""

    url: str
    last: Answer
    """The answer at the end of the way."""
    problem: str | None = None
    """Why nothing is found that could be compared."""
    outside: str | None = None
    """Where the way leaves the site."""


class Visitor:
    """Asks on behalf of some rules; not to be shared between threads."""

    def __init__(  # noqa: PLR0913 -- all that decides whether a question may be asked
        self,
        source: AnswerSource,
        journal: AnswerJournal,
        manners: Manners,
        hosts: VisitedHosts,
        budget: RequestBudget,
        *,
        watch: Callable[[str], object] = lambda _: None,
        archive: AnswerSource | None = None,
    ) -> None:
        self._source, self._journal, self._archive = source, journal, archive
        self._manners, self._hosts, self.budget = manners, hosts, budget
        self._watch = watch
        self._asked: dict[str, list[Answer]] = {}
        self._found: dict[str, list[Answer]] = {}
        """Of each URL the answers that count: not those of a host that was busy."""
        self._robots: dict[str, Robots] = {}
        self._common: NDArray[np.uint64] | None = None
        self.fetches = 0
        """Requests so far, recorded ones included."""

    @property
    def needs_template(self) -> bool:
        """Whether texts are still gathered to learn what every page of the site repeats."""
        return self._source.is_live and self._common is None

    def texts(self) -> int:
        """Return how many different texts were gathered."""
        return len(self._texts())

    def _texts(self) -> list[bytes]:
        found = (answer for answers in self._found.values() for answer in answers if answer.why != "robots")
        return list(dict.fromkeys(answer.text for answer in found if answer.text is not None))

    def learn_template(self) -> None:
        """Treat what most pages have in common as the template of the site, and ignore it from now on."""
        self._common = common_shingles(self._texts())
        for answers in self._found.values():
            answers[:] = [self._sketched(answer) for answer in answers]

    def look(self, url: str, why: Why = "sample") -> VisitedPage:
        """Return what is found at a URL, asking for each step of the way once in the whole job."""
        seen = {url}
        answer = self._first(url, why)
        while answer.problem is None and answer.is_redirect:
            target = answer.redirect or ""
            if Url.parse(target) is None or site_of(target) != site_of(url):
                return VisitedPage(url, answer, OUTSIDE, target)
            if target in seen:
                return VisitedPage(url, answer, CIRCLE)
            if len(seen) > self._manners.redirects:
                return VisitedPage(url, answer, f"more than {self._manners.redirects} redirects")
            seen.add(target)
            answer = self._first(target, "robots" if why == "robots" else "redirect")
        return VisitedPage(url, answer, answer.problem)

    def look_again(self, url: str) -> Answer | None:
        """Return what a URL shows on another request; None if it cannot be fetched again."""
        found = self._found[url]
        if len(found) == 1:
            found.append(self._answer(url, "second look"))
        again = found[1]
        return None if again.problem is not None and not self._source.is_live else again

    def looked_again(self, url: str) -> Answer | None:
        """Return what a URL showed when it was asked for once more, if it was."""
        found = self._found[url]
        return found[1] if len(found) > 1 and found[1].is_page else None

    def _first(self, url: str, why: Why) -> Answer:
        if url not in self._found:
            self._found[url] = [self._answer(url, why)]
        return self._found[url][0]

    def _answer(self, url: str, why: Why) -> Answer:
        """Return the answer to a question, asked again where the host was busy or hung up."""
        answer = self._ask(url, why)
        if answer.problem == DROPPED:
            answer = self._ask(url, "robots" if why == "robots" else "retry")
        for _ in range(self._manners.retries):
            if answer.status not in BUSY or not self._source.is_live:
                break
            answer = self._ask(url, "robots" if why == "robots" else "retry")
        if answer.status in BUSY and answer.problem is None:
            answer = replace(answer, problem=f"the host is busy, status {answer.status}")
        return answer

    def _ask(self, url: str, why: Why) -> Answer:
        asked = self._asked.setdefault(url, [])
        if self._archive is not None and not asked and why != "robots":
            kept = self._archive.fetch(url, 0, why)
            if kept.problem is None:
                asked.append(kept)
                return kept
        parsed = Url.parse(url)
        if parsed is None or parsed.userinfo is not None or site_of(url) is None:
            return Answer(url, why=why, problem="not a URL that is fetched")
        if self._source.is_live and not self._manners.may_ask(parsed.host):
            return Answer(url, why=why, problem=NOT_NAMED)
        host = self._hosts[parsed.host]
        recorded = self._journal.recorded(url, len(asked))
        if self._source.is_live and (refusal := self._refusal(url, parsed, host, why)):
            return Answer(url, len(asked), why, problem=refusal)
        answer = recorded or self._fetched(url, parsed.host, len(asked), why)
        if self._source.is_live:
            self._hosts.note(parsed.host, answer)
        if self._source.is_live or answer.problem is None:
            self.budget.spend()
            self.fetches += 1
        asked.append(answer)
        return answer

    def _refusal(self, url: str, parsed: Url, host: Host, why: Why) -> str | None:
        """Return why a URL is not asked for."""
        if why != "robots":
            robots = self._robots_of(parsed)
            if refusal := robots.refuses(url):
                return refusal
        return host.closed or self.budget.refuses(host)

    def _fetched(self, url: str, host: str, turn: int, why: Why) -> Answer:
        self._watch(url)
        if self._source.is_live:
            self._hosts.wait(host)
        answer = self._sketched(self._source.fetch(url, turn, why))
        # What comes back through a connection that we closed ourselves is not an answer.
        self._hosts.require_running()
        self._journal.add("answer", answer.to_json())
        return answer

    def _sketched(self, answer: Answer) -> Answer:
        if answer.text is None or answer.why == "robots":
            return answer
        text = answer.text[:SKETCHED_BYTES]
        if self._common is None:
            return replace(answer, text=text)
        return answer.with_sketch(sketch(text, ignored=self._common))

    def _robots_of(self, url: Url) -> Robots:
        port = "" if url.port is None else f":{url.port}"
        origin = f"{url.scheme}://{url.host}{port}"
        if origin not in self._robots or time() - self._robots[origin].time > ROBOTS_LAST_S:
            self._robots[origin] = self._read_robots(f"{origin}/robots.txt")
            self._hosts.slow_down(url.host, self._robots[origin].delay_s)
        return self._robots[origin]

    def _read_robots(self, url: str) -> Robots:
        """Return what a host asks of robots; what was recorded days ago may have changed since."""
        shown = self.look(url, "robots")
        if time() - shown.last.time > ROBOTS_LAST_S and shown.last.url in self._found:
            self._found.pop(url)
            self._found.pop(shown.last.url, None)
            shown = self.look(url, "robots")
        return robots_from(shown.last, shown.problem)


SHORTEST_PAUSE_S = 0.5
"""Doubled each time that a host is busy, where no delay requires more."""
SPENT = "the budget of fetches is used up"
SPENT_ON_HOST = "the host's budget of fetches is used up"


class Stopped(Exception):  # noqa: N818 -- not an error
    """The job is being ended."""


@dataclass
class Host:
    """One host: its pace, and its answers to requests."""

    delay_s: float
    ready_at: float
    """On the clock that only goes forward."""
    strikes: int = 0
    """How often in succession it was busy."""
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
        """End all that wait, now or later."""
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
    """Seconds between requests, the larger of `Crawl-delay` and `Request-rate`."""
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
