"""The spider of `bench.crawl`: follows every link from one page on, and has an item for each page.

scrapy runspider bench/crawl_spider.py -a start=URL -O items.jsonl
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.linkextractors import LinkExtractor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import TextResponse


class LinkSpider(scrapy.Spider):
    """Follows links."""

    name = "links"

    def __init__(self, start: str, **arguments: Any) -> None:  # noqa: ANN401 -- Scrapy's
        super().__init__(**arguments)
        self.start_urls = [start]
        self._links = LinkExtractor()

    def parse(  # type: ignore[override]  # every page of such a site is a text
        self, response: TextResponse
    ) -> Iterator[dict[str, str] | scrapy.Request]:
        """Give the page as an item, and where it leads."""
        yield {"url": response.url}
        for link in self._links.extract_links(response):
            yield response.follow(link)
