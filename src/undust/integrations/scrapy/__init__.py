"""Scrapy: a crawl that compares requests by key, and that teaches the next crawl.

    ADDONS = {"undust.integrations.scrapy.Addon": 500}
    UNDUST_RULES = "rules.json"

The add-on puts the other parts in their places, as far as the settings ask for them. They can be named
one by one in the settings of a project as well.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from undust.extras import missing_extra, require

require("scrapy", "2.14", extra="scrapy")

from undust.integrations.scrapy.addon import Addon  # noqa: E402 -- what is required is loaded then
from undust.integrations.scrapy.applying import (  # noqa: E402
    DuplicateItemsPipeline,
    RequestFingerprinter,
    RewriteMiddleware,
)

if TYPE_CHECKING:
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


_READING = {"LearningMiddleware": "learning", "ObservationsMiddleware": "observing"}
"""Loaded at first use: they read pages, which takes `undust[learn]`; comparing by key does not."""


def __getattr__(name: str) -> object:
    if name not in _READING:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    try:
        return getattr(import_module(f"{__name__}.{_READING[name]}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from None
