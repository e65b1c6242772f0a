"""Scrapy: a crawl that compares requests by key, and that teaches the next crawl.

    ADDONS = {"undust.integrations.scrapy.Addon": 500}
    UNDUST_RULES = "rules.json"

The add-on puts the other parts in their places, as far as the settings ask for them. They can be named
one by one in the settings of a project as well.
"""

from undust.extras import require

require("scrapy", "2.14", extra="scrapy")

from undust.integrations.scrapy.addon import Addon  # noqa: E402 -- what is required is loaded then
from undust.integrations.scrapy.fingerprinter import RequestFingerprinter  # noqa: E402
from undust.integrations.scrapy.items import DuplicateItemsPipeline  # noqa: E402
from undust.integrations.scrapy.observing import ObservationsMiddleware  # noqa: E402
from undust.integrations.scrapy.rewriting import RewriteMiddleware  # noqa: E402

__all__ = [
    "Addon",
    "DuplicateItemsPipeline",
    "ObservationsMiddleware",
    "RequestFingerprinter",
    "RewriteMiddleware",
]
