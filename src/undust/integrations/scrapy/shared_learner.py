"""The learner of a process: spiders with the same `UNDUST_STATE` share one; each gets its requests back."""

from __future__ import annotations

import logging
from os.path import realpath
from typing import TYPE_CHECKING, Any

from undust.crawling import CrawlLearner
from undust.crawling.journal import StateInUse
from undust.errors import RefusedStart, UndustError, file_sentence
from undust.integrations.scrapy.starting import BACKGROUND
from undust.rules import load

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
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
