"""A crawl that learns while it runs: each request is decided just before it is fetched.

What is skipped may come back. So the request is kept, and sent again when the learner hands its URL back.

Spiders of one process with the same `UNDUST_STATE` share one learner; each gets its own requests back.
"""

from __future__ import annotations

import logging
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

_shared: dict[str, SharedLearner] = {}


class SharedLearner:
    """A learner, and which spider skipped which request."""

    def __init__(self, state: str | None, settings: BaseSettings) -> None:
        self.state = state
        self.users = 0
        self.learner = _learner(state, settings)
        self.skipped: dict[str, tuple[Crawler, dict[str, Any]]] = {}
        """URLs that were skipped: the crawler that asked, and its request."""

    def release(self) -> None:
        """Close the learner when the last spider has ended, and write its rules."""
        self.users -= 1
        if self.users:
            return
        if self.state is not None:
            _shared.pop(realpath(self.state), None)
            if not self.learner.follows:
                self.learner.rules.save(f"{self.state}/{RULES_FILE}")
        self.learner.close()


def shared_learner(settings: BaseSettings) -> SharedLearner:
    """Return the learner for the settings of a crawl; `release` it at the end."""
    state = settings.get("UNDUST_STATE")
    place = realpath(state) if state else None
    found = _shared.get(place) if place else None
    if found is None:
        found = SharedLearner(str(state) if state else None, settings)
        if place:
            _shared[place] = found
    found.users += 1
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


RETURNED = "undust_returned"
"""The key of `Request.meta` of a request that was skipped and is fetched after all."""
ROBOTS_TXT = "/robots.txt"
_COUNTED = ("decided", "skipped", "explored", "returned", "pages", "learned", "withdrawn")


class LearningMiddleware:
    """A downloader middleware, next to the downloader; `UNDUST_LEARN` asks for it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._shared = shared_learner(crawler.settings)
        self._learner = self._shared.learner
        crawler.signals.connect(self._idle, signal=signals.spider_idle)
        crawler.signals.connect(self._close, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Let a request pass, or drop it as a probable duplicate."""
        if not self._is_asked_about(request):
            return
        decision = self._learner.decide(request.url)
        # What gave an error counts as fetched; Scrapy may try it again all the same.
        is_again = bool(request.meta.get("retry_times")) and decision.reason == WAS_FETCHED
        if decision.is_fetch or is_again:
            self._shared.skipped.pop(request.url, None)
            return
        spider = self._crawler.spider
        self._shared.skipped[request.url] = self._crawler, request.to_dict(spider=spider)
        self._tell()
        message = f"undust skips {request.url}: {decision.reason}"
        raise IgnoreRequest(message)

    def process_response(self, request: Request, response: Response) -> Response:
        """Learn from a response, and hand it on as it is."""
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
        if not isinstance(exception, IgnoreRequest) and self._is_asked_about(request):
            self._learner.observe({"url": request.url, "status": _NO_ANSWER})
            self._send_returned()

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
            crawler, kept = self._shared.skipped.pop(url, (self._crawler, None))
            owner = crawler if crawler.crawling else self._crawler
            request = request_from_dict(kept, spider=owner.spider) if kept else Request(url)
            again = request.replace(dont_filter=True, meta={**request.meta, RETURNED: True})
            owner.engine.crawl(again)
        return bool(urls)

    def _idle(self) -> None:
        """Keep the crawl open as long as something comes back."""
        self._learner.settle()
        if self._send_returned():
            raise DontCloseSpider

    def _tell(self) -> None:
        for name in _COUNTED:
            self._crawler.stats.set_value(f"undust/{name}", self._learner.counts[name])

    def _close(self) -> None:
        self._tell()
        self._shared.release()


_NO_ANSWER = 599
"""Stands for no answer at all: an error of the network."""
