"""Items of a page that was already found under another URL are dropped.

A page may give many items, and all of them have its URL. So an item is a duplicate if its URL has the key
of another URL that came first; items with the very same URL are not duplicates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from undust.errors import RefusedStart
from undust.integrations.scrapy.starting import canonicalizer_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class DuplicateItemsPipeline:
    """An item pipeline; `UNDUST_ITEM_FIELD` names the field that holds the URL."""

    def __init__(self, crawler: Crawler) -> None:
        field = crawler.settings.get("UNDUST_ITEM_FIELD")
        if not isinstance(field, str):
            message = f"UNDUST_ITEM_FIELD is {field!r}; name the field of your items that holds their URL"
            raise RefusedStart(message)
        self._field = field
        self._stats = crawler.stats
        self._key = canonicalizer_of(crawler).key
        self._first_urls: dict[tuple[type, str], str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline of a crawl."""
        return cls(crawler)

    def process_item(self, item: Any) -> Any:  # noqa: ANN401 -- whatever a spider gives
        """Return the item, or drop it."""
        url = ItemAdapter(item).get(self._field)
        if not isinstance(url, str):
            return item
        first = self._first_urls.setdefault((type(item), self._key(url)), url)
        if first == url:
            return item
        self._stats.inc_value("undust/items_dropped")
        message = f"the page of {url} was found as {first}"
        raise DropItem(message)
