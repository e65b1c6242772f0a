"""scrapy-redis: the crawls of several machines share one set of fingerprints, made from keys.

    SCHEDULER = "scrapy_redis.scheduler.Scheduler"
    DUPEFILTER_CLASS = "undust.integrations.scrapy.redis.RedisDupeFilter"

The duplicate filter of scrapy-redis makes a hash of the URL itself and never asks the fingerprinter of the
crawl, so the rules have no effect there. This one asks it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from undust.extras import require

require("scrapy-redis", "0.9")
# No extra of undust installs it: users who share a crawl have it already.
theirs: Any = import_module("scrapy_redis.dupefilter")

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol


class RedisDupeFilter(theirs.RFPDupeFilter):  # type: ignore[misc]  # scrapy-redis comes without types
    """The filter of scrapy-redis with the fingerprints of the crawl."""

    fingerprinter: RequestFingerprinterProtocol

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the filter for Scrapy's own scheduler."""
        return cls._asking(crawler, super().from_crawler(crawler))

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """Make the filter for the scheduler of scrapy-redis."""
        return cls._asking(spider.crawler, super().from_spider(spider))

    @classmethod
    def _asking(cls, crawler: Crawler, made: Any) -> Self:  # noqa: ANN401 -- of a class without types
        fingerprinter = crawler.request_fingerprinter
        assert fingerprinter is not None  # noqa: S101 -- a crawl that has started has one
        made.fingerprinter = fingerprinter
        return made  # type: ignore[no-any-return]

    def request_fingerprint(self, request: Request) -> str:
        """Return what two requests have in common if and only if one of them is enough."""
        return self.fingerprinter.fingerprint(request).hex()
