"""Rules applied in a crawl: requests compared by key or sent to the canonical URL, duplicate items dropped.

The rules and the other settings are settled before a crawl starts, or its start is refused in one sentence.

The fingerprint of a request is what the fallback, Scrapy's own if no other was chosen, makes of the same
request with the key in place of the URL; what is fetched is the URL that was found. So all that the fallback
merges stays merged, and a URL that no rule concerns has the fingerprint that it had before undust.

That is the safe way. `RewriteMiddleware` is for those who want the canonical URL in their items and caches: a
canonical URL that cannot be had is not the end of a page.

A page may give many items, and all of them have its URL. So an item is a duplicate if its URL has the key of
another URL that came first; items with the very same URL are not duplicates.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary, WeakSet
from zlib import crc32

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.exceptions import DropItem
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter as ScrapyFingerprinter
from scrapy.utils.request import fingerprint
from w3lib.url import canonicalize_url

from undust.errors import RefusedStart, UndustError, file_sentence
from undust.rules import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.utils.request import RequestFingerprinterProtocol

    from undust.rules import Canonicalizer

OPT_OUT = "undust"
"""The key of `Request.meta` whose value False keeps the rules away from a request."""

BACKGROUND = "background"
"""The value of `UNDUST_LEARN` with which learning has a thread of its own."""

SAFE_METHODS = {"GET", "HEAD"}
"""Rules are learned from pages that were read; what else a request may do to a URL they do not know."""

_loaded: WeakKeyDictionary[Crawler, Canonicalizer] = WeakKeyDictionary()


def canonicalizer_of(crawler: Crawler) -> Canonicalizer:
    """Return the rules of a crawl; all parts of undust in it share them."""
    known = _loaded.get(crawler)
    if known is None:
        known = _loaded[crawler] = _compiled(crawler.settings)
    return known


def _compiled(settings: BaseSettings) -> Canonicalizer:
    path = settings.get("UNDUST_RULES")
    if not path:
        message = "UNDUST_RULES is not set; name a rule file, as 'undust learn' writes it"
        raise RefusedStart(message)
    try:
        return load(path).compile()
    except UndustError as error:
        raise RefusedStart(str(error)) from error
    except OSError as error:
        raise RefusedStart(file_sentence(error)) from error


def share_of(settings: BaseSettings, name: str) -> float:
    """Return a setting that is a share."""
    value = settings.get(name, 0)
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 1:
        message = f"{name} is {value!r}, which is not a share; give a number from 0 to 1, as in {name} = 0.01"
        raise RefusedStart(message)
    return share


def is_for_rules(request: Request) -> bool:
    """Return whether rules may say anything about a request."""
    meta = request.meta
    # Since Scrapy 2.19, `verbatim_url` says that the URL has to stay as it is written.
    return request.method in SAFE_METHODS and meta.get(OPT_OUT) is not False and not meta.get("verbatim_url")


PROBE = Request("http://undust.test/a?b=2&a=%C3%A9", method="HEAD", body=b"\x00body")


class RequestFingerprinter:
    """Scrapy's `REQUEST_FINGERPRINTER_CLASS` of a crawl with rules."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._key: Callable[[str], str] = canonicalizer_of(crawler).program.key
        self._explored_share = share_of(settings, "UNDUST_EXPLORE")
        chosen = load_object(settings.get("UNDUST_FALLBACK_FINGERPRINTER") or ScrapyFingerprinter)
        if chosen is RequestFingerprinter:  # the project named it, and then came the add-on
            chosen = ScrapyFingerprinter
        self._fallback: RequestFingerprinterProtocol = build_from_crawler(chosen, crawler)
        self._of_key = self._through_fallback
        # Another version of Scrapy may do it in another way.
        if chosen is ScrapyFingerprinter and _as_scrapy(PROBE, PROBE.url) == fingerprint(PROBE):
            self._of_key = _as_scrapy
        self._count = crawler.stats.inc_value
        self._made: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()
        self._explored: WeakSet[Request] = WeakSet()
        self._first_urls: dict[bytes, int] = {}
        """Of each key, the URL that came first, as a checksum; only where duplicates are let through."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the fingerprinter of a crawl."""
        return cls(crawler)

    def fingerprint(self, request: Request) -> bytes:
        """Return what two requests have in common if and only if one of them is enough."""
        made = self._made.get(request)
        if made is None:
            made = self._made[request] = self._fingerprint(request)
        return made

    def explores(self, request: Request) -> bool:
        """Return whether a request is a duplicate that is let through, to test the rules."""
        self.fingerprint(request)
        return request in self._explored

    def _fingerprint(self, request: Request) -> bytes:
        if not is_for_rules(request):
            self._count("undust/opted_out")
            return self._fallback.fingerprint(request)
        self._count("undust/compared")
        url = request.url
        key = self._key(url)
        if key != url:
            self._count("undust/changed")
        made = self._of_key(request, key)
        redirects = request.meta.get("redirect_urls")
        if redirects and key in map(self._key, redirects):
            # It was the key of the URL that led here, so the scheduler would drop the page itself.
            return self._apart(request)
        if self._explored_share and self._is_explored(made, url):
            self._count("undust/explored")
            self._explored.add(request)
            return self._apart(request)
        return made

    def _through_fallback(self, request: Request, key: str) -> bytes:
        return self._fallback.fingerprint(request if key == request.url else request.replace(url=key))

    def _apart(self, request: Request) -> bytes:
        """Return a fingerprint of the URL itself, which is not that of any key."""
        own = self._fallback.fingerprint(request)
        return hashlib.sha1(b"undust" + own, usedforsecurity=False).digest()

    def _is_explored(self, made: bytes, url: str) -> bool:
        data = url.encode("utf-8", "surrogatepass")
        own = crc32(data)
        if self._first_urls.setdefault(made, own) == own:
            return False
        digest = hashlib.blake2b(data, digest_size=8).digest()
        return int.from_bytes(digest, "big") < self._explored_share * 2**64


def _as_scrapy(request: Request, key: str) -> bytes:
    """Return what Scrapy's own fingerprinter makes of a request with another URL, without making one."""
    url = encode_basestring_ascii(canonicalize_url(key))
    text = f'{{"body": "{request.body.hex()}", "headers": {{}}, "method": "{request.method}", "url": {url}}}'
    return hashlib.sha1(text.encode(), usedforsecurity=False).digest()


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
