"""Requests sent to the canonical URL instead of the one that was found.

Comparing by key and fetching what was found is the safe way. This middleware is for those who want the
canonical URL in their items and caches: a canonical URL that cannot be had is not the end of a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from undust.integrations.scrapy.fingerprinter import RequestFingerprinter
from undust.integrations.scrapy.starting import OPT_OUT, canonicalizer_of, is_for_rules

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ORIGIN = "undust_rewritten"
"""The key of `Request.meta` that holds the URL which was found, and the one it was changed to."""
_FIRST_ERROR = 400


class RewriteMiddleware:
    """A downloader middleware."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._canonicalize = canonicalizer_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware of a crawl."""
        return cls(crawler)

    def process_request(self, request: Request) -> Request | None:
        """Return the request for the canonical URL, if that is another one."""
        if not is_for_rules(request) or self._is_explored(request):
            return None
        canonical = self._canonicalize(request.url)
        if canonical == request.url or canonical in request.meta.get("redirect_urls", ()):
            return None  # it is there, or was sent here from there
        rewritten = request.replace(
            url=canonical, meta={**request.meta, ORIGIN: [request.url, canonical]}, dont_filter=True
        )
        if rewritten.url == request.url or self._canonicalize(rewritten.url) != canonical:
            return None  # Scrapy writes it in another way, and it would repeat without end
        fingerprinter = self._crawler.request_fingerprinter
        # Without our fingerprinter it is the rewritten request that a duplicate is known by.
        if fingerprinter.fingerprint(rewritten) != fingerprinter.fingerprint(request):
            rewritten = rewritten.replace(dont_filter=request.dont_filter)
        self._crawler.stats.inc_value("undust/rewritten")
        return rewritten

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Return the request for the URL that was found, if the canonical one gives an error."""
        return (self._original(request) if response.status >= _FIRST_ERROR else None) or response

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # noqa: ARG002 -- Scrapy's
        """Return the same if there is no answer at all: no such host, or robots.txt forbids it."""
        return self._original(request)

    def _original(self, request: Request) -> Request | None:
        found, canonical = request.meta.get(ORIGIN) or (None, None)
        if found is None or canonical != request.url:
            return None
        self._crawler.stats.inc_value("undust/rewritten_in_vain")
        meta = {key: value for key, value in request.meta.items() if key != ORIGIN}
        return request.replace(url=found, meta=meta | {OPT_OUT: False}, dont_filter=True)

    def _is_explored(self, request: Request) -> bool:
        fingerprinter = self._crawler.request_fingerprinter
        return isinstance(fingerprinter, RequestFingerprinter) and fingerprinter.explores(request)
