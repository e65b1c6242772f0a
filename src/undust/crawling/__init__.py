"""Learning while a crawl runs: which URLs to fetch, and what each response teaches."""

from undust.crawling.learner import CrawlLearner
from undust.crawling.messages import Decision

__all__ = ["CrawlLearner", "Decision"]
