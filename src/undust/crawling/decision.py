"""The answer to a crawler that asks about one URL."""

from __future__ import annotations

from typing import Literal, NamedTuple

Action = Literal["fetch", "skip"]

NEW_KEY = "its key is new"
ASKED_AGAIN = "it was to be fetched, and no answer has been observed yet"
WAS_FETCHED = "it was fetched"
COVERED_KEY = "a URL with the same key is fetched"
NAMED_BY_PAGE = "a page that was fetched names it as its canonical URL"
TESTS_RULES = "a URL with the same key is fetched; this one tests the rules"
IS_UNSTABLE = "a URL with the same key is fetched, but pages like this are another one at every fetch"
IN_A_TRAP = "it is in a trap: many URLs were fetched there, and almost no new page was found"
IS_NO_URL = "it is not a URL of http or https"


class Decision(NamedTuple):
    """Whether to fetch a URL, and why.

    >>> import undust
    >>> learner = undust.CrawlLearner()
    >>> learner.decide("http://shop.test/item?id=7").action
    'fetch'
    >>> learner.decide("HTTP://shop.test:80/item?id=7").reason
    'a URL with the same key is fetched'
    """

    url: str
    action: Action
    key: str
    """What URLs of one page have in common under the rules of this moment."""
    canonical: str
    """The form that the rules prefer; the crawler may fetch this one instead."""
    reason: str
    explore: bool = False
    """Whether this is a probable duplicate that is fetched to test the rules."""

    @property
    def is_fetch(self) -> bool:
        """Whether to fetch it."""
        return self.action == "fetch"
