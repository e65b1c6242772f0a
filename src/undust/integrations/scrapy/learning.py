"""A crawl that learns while it runs: each request is decided just before it is fetched.

What is skipped may come back. So the request is kept, and sent again when the learner hands its URL back.

Spiders of one process with the same `UNDUST_STATE` share one learner; each gets its own requests back. So a
spider that has skipped requests ends with the last one: until then the answer to a request of another spider
may bring them back. What another spider is fetching is not fetched a second time.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from os.path import realpath
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.utils.request import request_from_dict

from undust.crawling import CrawlLearner
from undust.crawling.journal import StateInUse
from undust.crawling.messages import WAS_FETCHED
from undust.errors import RefusedStart, UndustError, file_sentence
from undust.integrations.scrapy.applying import BACKGROUND, is_for_rules
from undust.integrations.scrapy.observing import CUT_SHORT
from undust.rules import load

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

RULES_FILE = "rules.json"
"""Beside the state: what was believed when the crawl ended."""

RETURNED = "undust_returned"
"""The key of `Request.meta` of a request that was skipped and is fetched after all."""
IS_UNDER_WAY = "another spider is fetching it"
_NO_ANSWER = 599
"""Stands for no answer at all: an error of the network."""

_shared: dict[str, SharedLearner] = {}


class SharedLearner:
    """A learner, and which spider skipped which request."""

    def __init__(self, state: str | None, settings: BaseSettings) -> None:
        self.state = state
        self.users: list[Crawler] = []
        self.learner = _learner(state, settings)
        self.skipped: dict[str, tuple[Crawler, dict[str, Any]]] = {}
        """URLs that were skipped: the crawler that asked, and its request."""
        self.under_way: dict[str, Crawler] = {}
        """URLs that are being fetched, each with the crawler that does it."""
        self.busy: set[Crawler] = set()
        """Crawlers that have something to do."""

    def must_wait(self, crawler: Crawler) -> bool:
        """Return whether requests that a crawler skipped may come back by what others fetch."""
        return bool(self.busy - {crawler}) and any(owner is crawler for owner, _ in self.skipped.values())

    def send(self, url: str, asked_by: Crawler) -> None:
        """Let the spider that skipped a URL fetch it; if it has ended, another one."""
        crawler, kept = self.skipped.pop(url, (asked_by, None))
        owner = next(each for each in (crawler, asked_by, *self.users) if each in self.users)
        request = Request(url)
        # Another spider may have no callback of this name; its own one for pages gets the page then.
        with suppress(ValueError):
            request = request_from_dict(kept, spider=owner.spider) if kept else request
        again = request.replace(dont_filter=True, meta={**request.meta, RETURNED: True})
        owner.engine.crawl(again)

    def release(self, crawler: Crawler) -> None:
        """Go on without a crawler; after the last one close the learner, and write its rules."""
        self.users.remove(crawler)
        self.busy.discard(crawler)
        dropped = [url for url, owner in self.under_way.items() if owner is crawler]
        for url in dropped:
            del self.under_way[url]
        if self.users:
            # What it was to fetch has no answer, so what was skipped for it comes back.
            for url in dropped:
                if url in self.skipped:
                    self.send(url, self.users[0])
                else:
                    self.learner.observe({"url": url, "status": _NO_ANSWER})
            for url in self.learner.returned():
                self.send(url, self.users[0])
            return
        if self.state is not None:
            _shared.pop(realpath(self.state), None)
            if not self.learner.follows:
                self.learner.rules.save(f"{self.state}/{RULES_FILE}")
        self.learner.close()


def shared_learner(crawler: Crawler) -> SharedLearner:
    """Return the learner for the settings of a crawl; `release` it at the end."""
    settings = crawler.settings
    state = settings.get("UNDUST_STATE")
    place = realpath(state) if state else None
    found = _shared.get(place) if place else None
    if found is None:
        found = SharedLearner(str(state) if state else None, settings)
        if place:
            _shared[place] = found
    found.users.append(crawler)
    return found


def _learner(state: str | None, settings: BaseSettings) -> CrawlLearner:
    try:
        path = settings.get("UNDUST_RULES")
        options: dict[str, Any] = {
            "rules": load(path) if path else None,
            "background": settings.get("UNDUST_LEARN") == BACKGROUND,
            "skip_traps": settings.getbool("UNDUST_SKIP_TRAPS"),
        }
        try:
            return CrawlLearner(state, **options)
        except StateInUse:
            logger.info(
                "another process writes the state in %s; this one uses the rules that it learns", state
            )
            return CrawlLearner(state, follow=True, **options)
    except UndustError as error:
        raise RefusedStart(str(error)) from error
    except OSError as error:
        raise RefusedStart(file_sentence(error)) from error


ROBOTS_TXT = "/robots.txt"
_COUNTED = ("decided", "skipped", "explored", "returned", "pages", "learned", "withdrawn")


class LearningMiddleware:
    """A downloader middleware, next to the downloader; `UNDUST_LEARN` asks for it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._shared = shared_learner(crawler)
        self._learner = self._shared.learner
        crawler.signals.connect(self._open, signal=signals.spider_opened)
        crawler.signals.connect(self._idle, signal=signals.spider_idle)
        crawler.signals.connect(self._close, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Let a request pass, or drop it as a probable duplicate."""
        self._shared.busy.add(self._crawler)
        if not self._is_asked_about(request):
            return
        decision = self._learner.decide(request.url)
        # What gave an error counts as fetched; Scrapy may try it again all the same.
        is_again = bool(request.meta.get("retry_times")) and decision.reason == WAS_FETCHED
        is_others = self._shared.under_way.get(request.url, self._crawler) is not self._crawler
        if (decision.is_fetch and not is_others) or is_again:
            self._shared.skipped.pop(request.url, None)
            self._shared.under_way[request.url] = self._crawler
            return
        spider = self._crawler.spider
        self._shared.skipped[request.url] = self._crawler, request.to_dict(spider=spider)
        self._tell()
        reason = IS_UNDER_WAY if decision.is_fetch else decision.reason
        message = f"undust skips {request.url}: {reason}"
        raise IgnoreRequest(message)

    def process_response(self, request: Request, response: Response) -> Response:
        """Learn from a response, and hand it on as it is."""
        self._note_answer(request)
        if request.method == "GET" and is_for_rules(request) and not request.url.endswith(ROBOTS_TXT):
            if CUT_SHORT.isdisjoint(response.flags):
                headers = {
                    key.decode("latin-1"): [value.decode("latin-1") for value in values]
                    for key, values in response.headers.items()
                }
                self._learner.observe_response(request.url, response.status, headers, response.body)
            self._send_returned()
            self._tell()
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Give another URL of the same key its turn if there was no answer."""
        self._note_answer(request)
        if not isinstance(exception, IgnoreRequest) and self._is_asked_about(request):
            self._learner.observe({"url": request.url, "status": _NO_ANSWER})
            self._send_returned()

    def _note_answer(self, request: Request) -> None:
        if self._shared.under_way.get(request.url) is self._crawler:
            del self._shared.under_way[request.url]

    def _is_asked_about(self, request: Request) -> bool:
        """Return whether the learner decides about a request: not if the spider insists on it."""
        if not is_for_rules(request) or request.url.endswith(ROBOTS_TXT) or request.meta.get(RETURNED):
            return False
        again = request.meta.get("redirect_times") or request.meta.get("retry_times")
        return not request.dont_filter or bool(again)

    def _send_returned(self) -> bool:
        """Send the requests that were skipped wrongly; return whether there were any."""
        urls = self._learner.returned()
        for url in urls:
            self._shared.send(url, self._crawler)
        return bool(urls)

    def _open(self) -> None:
        self._shared.busy.add(self._crawler)

    def _idle(self) -> None:
        """Keep the crawl open as long as something comes back, or may."""
        self._learner.settle()
        if self._send_returned():
            raise DontCloseSpider
        self._shared.busy.discard(self._crawler)
        if self._shared.must_wait(self._crawler):
            raise DontCloseSpider

    def _tell(self) -> None:
        for name in _COUNTED:
            self._crawler.stats.set_value(f"undust/{name}", self._learner.counts[name])

    def _close(self) -> None:
        self._tell()
        self._shared.release(self._crawler)
