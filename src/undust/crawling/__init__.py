"""Learning while a crawl runs: which URLs to fetch, and what each response teaches."""

from undust.crawling.decision import Decision
from undust.crawling.learner import CrawlLearner

__all__ = ["CrawlLearner", "Decision"]
