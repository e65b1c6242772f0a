"""What is settled before a crawl starts: the rules and the other settings, or a refusal in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from undust.errors import RefusedStart, UndustError, file_sentence
from undust.rules import load

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

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
