"""Asks for URLs of one site as a guest should, and never twice for what it knows.

Every question goes the same way: is it recorded, may it be asked (site, robots.txt, budget), when; then
the answer is written to the journal before it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import time
from typing import TYPE_CHECKING, Protocol

from undust.asking.answers import BUSY, Answer
from undust.asking.fetching import DROPPED
from undust.asking.hosts import Robots, robots_from
from undust.reading.text import common_shingles, sketch
from undust.urls import Url, site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from undust.asking.answers import Why
    from undust.asking.fetch_options import Manners
    from undust.asking.hosts import Host, RequestBudget, VisitedHosts
    from undust.asking.journal import AnswerJournal

SKETCHED_BYTES = 1 << 20
"""Of a text; the rest of a longer one is not looked at."""
ROBOTS_LAST_S = 24 * 3600.0
"""How long a robots.txt is believed (RFC 9309, 2.4)."""
OUTSIDE = "it sends on to another site"
CIRCLE = "it redirects in a circle"
NOT_NAMED = "its host is not one of those named with --ask-host"


class AnswerSource(Protocol):
    """The source of answers: the network, or an archive."""

    is_live: bool

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return the answer to one request."""

    def close(self) -> None:
        """Let go of what is held."""


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
        """Of each URL the answers that say something: not those of a host that was busy."""
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
        """Take what most pages have in common for the template of the site, and leave it out from now on."""
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
        """Return what a URL shows when it is asked for once more; None if it cannot be fetched again."""
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
