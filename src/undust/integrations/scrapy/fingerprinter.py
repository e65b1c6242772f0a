"""Requests compared by the key of their URL; what is fetched is the URL that was found.

The fingerprint of a request is what the fallback, Scrapy's own if no other was chosen, makes of the same
request with the key in place of the URL. So all that the fallback merges stays merged, and a URL that no
rule concerns has the fingerprint that it had before undust.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary, WeakSet
from zlib import crc32

from scrapy import Request
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinter as ScrapyFingerprinter
from scrapy.utils.request import fingerprint
from w3lib.url import canonicalize_url

from undust.integrations.scrapy.starting import canonicalizer_of, is_for_rules, share_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol

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
