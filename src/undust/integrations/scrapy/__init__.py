"""Scrapy: a crawl that compares requests by key, and that teaches the next crawl.

    ADDONS = {"undust.integrations.scrapy.Addon": 500}
    UNDUST_RULES = "rules.json"

The add-on puts the other parts in their places, as far as the settings ask for them. They can be named
one by one in the settings of a project as well.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Self

from undust.errors import RefusedStart
from undust.extras import missing_extra, require

require("scrapy", "2.14", extra="scrapy")

from scrapy.settings import SETTINGS_PRIORITIES  # noqa: E402 -- what is required is loaded then
from scrapy.utils.misc import load_object  # noqa: E402

from undust.integrations.scrapy.applying import (  # noqa: E402
    BACKGROUND,
    DuplicateItemsPipeline,
    RequestFingerprinter,
    RewriteMiddleware,
    canonicalizer_of,
    share_of,
)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

    from undust.integrations.scrapy.learning import LearningMiddleware
    from undust.integrations.scrapy.observing import ObservationsMiddleware

__all__ = [
    "Addon",
    "DuplicateItemsPipeline",
    "LearningMiddleware",
    "ObservationsMiddleware",
    "RequestFingerprinter",
    "RewriteMiddleware",
]

logger = logging.getLogger(__name__)

FINGERPRINTER = "REQUEST_FINGERPRINTER_CLASS"
REDIS_FILTER = "undust.integrations.scrapy.redis.RedisDupeFilter"

NEXT_TO_THE_DOWNLOADER = 610
"""Before redirects (600) are followed, so that each of them is seen."""
BEFORE_ROBOTS_TXT = 90
"""What is not allowed (100) is asked about the URL that is fetched."""
EARLY = 100
"""A duplicate item should cost the other pipelines nothing."""

_READING = {"LearningMiddleware": "learning", "ObservationsMiddleware": "observing"}
"""Loaded at first use: they read pages, which takes `undust[learn]`; comparing by key does not."""


class Addon:
    """Puts each part of undust that the settings ask for into its place."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the add-on of a crawl."""
        return cls(crawler)

    def update_settings(self, settings: Settings) -> None:
        """Change the settings, or refuse the start of a crawl that could not go well."""
        uses_rules = bool(settings.get("UNDUST_RULES"))
        learns = learns_in(settings)
        if learns:
            self._learn(settings)
            uses_rules = False
        needing_rules = {
            "UNDUST_REWRITE": settings.getbool("UNDUST_REWRITE"),
            "UNDUST_ITEM_FIELD": settings.get("UNDUST_ITEM_FIELD"),
            "UNDUST_EXPLORE": share_of(settings, "UNDUST_EXPLORE"),
        }
        for name, value in needing_rules.items():
            if value and not uses_rules:
                message = f"{name} is set and UNDUST_RULES is not; name a rule file, or leave {name} out"
                raise RefusedStart(message)
        if not uses_rules and not learns and not settings.get("UNDUST_OBSERVATIONS"):
            message = "undust has nothing to do; set UNDUST_RULES, UNDUST_OBSERVATIONS, both or UNDUST_LEARN"
            raise RefusedStart(message)
        if uses_rules:
            canonicalizer_of(self._crawler)
            self._compare_by_key(settings)
        if settings.getbool("UNDUST_REWRITE"):
            settings.setdefault_in_component_priority_dict(
                "DOWNLOADER_MIDDLEWARES", RewriteMiddleware, BEFORE_ROBOTS_TXT
            )
        if settings.get("UNDUST_ITEM_FIELD"):
            settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", DuplicateItemsPipeline, EARLY)
        if settings.get("UNDUST_OBSERVATIONS"):
            settings.setdefault_in_component_priority_dict(
                "DOWNLOADER_MIDDLEWARES",
                _reading("ObservationsMiddleware", "UNDUST_OBSERVATIONS"),
                NEXT_TO_THE_DOWNLOADER,
            )

    def _learn(self, settings: Settings) -> None:
        """Let a learner decide about requests, and refuse what would decide beside it."""
        for name in ("UNDUST_REWRITE", "UNDUST_ITEM_FIELD", "UNDUST_EXPLORE"):
            if settings.get(name):
                message = f"{name} is set beside UNDUST_LEARN, which changes rules as it goes; leave one out"
                raise RefusedStart(message)
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES",
            _reading("LearningMiddleware", "UNDUST_LEARN"),
            NEXT_TO_THE_DOWNLOADER,
        )

    def _compare_by_key(self, settings: Settings) -> None:
        """Put our fingerprinter in front of the one that was chosen."""
        chosen = settings.get(FINGERPRINTER)
        settings.set("UNDUST_FALLBACK_FINGERPRINTER", chosen, priority="addon")
        # A choice in the project's settings has a higher priority than an add-on.
        priority = max(settings.getpriority(FINGERPRINTER) or 0, SETTINGS_PRIORITIES["addon"])
        settings.set(FINGERPRINTER, RequestFingerprinter, priority=priority)
        _warn_of_other_filter(settings)


def learns_in(settings: Settings) -> bool:
    """Return whether a crawl is to learn while it runs."""
    if settings.get("UNDUST_LEARN") == BACKGROUND:
        return True
    try:
        learns = settings.getbool("UNDUST_LEARN")
    except ValueError:
        message = f"UNDUST_LEARN is {settings.get('UNDUST_LEARN')!r}; set it to True, False or {BACKGROUND!r}"
        raise RefusedStart(message) from None
    if settings.get("UNDUST_STATE") and not learns:
        message = "UNDUST_STATE is set and UNDUST_LEARN is not; set UNDUST_LEARN = True, or leave it out"
        raise RefusedStart(message)
    return learns


def _reading(name: str, setting: str) -> type:
    """Return a middleware that reads pages."""
    try:
        found: type = getattr(import_module(f"{__name__}.{_READING[name]}"), name)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        message = f"{setting} is set, and {missing}"
        raise RefusedStart(message) from None
    return found


def _warn_of_other_filter(settings: Settings) -> None:
    """Say that rules have no effect if the duplicate filter is one of scrapy-redis."""
    chosen = settings.get("DUPEFILTER_CLASS")
    if chosen is None:
        return
    filter_class = load_object(chosen)
    made_by = getattr(getattr(filter_class, "request_fingerprint", None), "__module__", "")
    if made_by.partition(".")[0].startswith("scrapy_redis"):
        name = f"{filter_class.__module__}.{filter_class.__qualname__}"
        logger.warning(
            "The rules of undust have no effect: DUPEFILTER_CLASS is %s, which compares URLs by itself; "
            "set DUPEFILTER_CLASS = %r",
            name,
            REDIS_FILTER,
        )


def __getattr__(name: str) -> object:
    if name not in _READING:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        return getattr(import_module(f"{__name__}.{_READING[name]}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None
