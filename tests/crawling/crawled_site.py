"""A small site in memory, crawled by asking a learner about every URL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from undust import CrawlLearner

HOST = "http://shop.test"


def sessions(items: int, each: int, start: int = 0) -> Iterator[str]:
    """Yield the URLs of items, each under several session ids, items mixed."""
    for session in range(each):
        for item in range(start, start + items):
            yield f"{HOST}/item?id={item}&sid={(7919 * item + 104729 * session) % 999983:06x}"


def row_of(url: str, page: str) -> dict[str, Any]:
    """Return what a fetch shows."""
    return {"url": url, "status": 200, "digest": f"digest of {page}"}


def page_by_id(url: str) -> str:
    """Return the page of a URL of `sessions`."""
    return url.partition("id=")[2].partition("&")[0]


@dataclass
class Crawl:
    """What was fetched, in order."""

    learner: CrawlLearner
    page_of: Any = page_by_id
    fetched: list[str] = field(default_factory=list)

    @property
    def pages(self) -> set[str]:
        """The pages that were found."""
        return {self.page_of(url) for url in self.fetched}

    def ask(self, urls: Iterable[str]) -> None:
        """Ask about URLs, fetch what is wanted and what is handed back."""
        waiting = list(urls)[::-1]
        while waiting:
            url = waiting.pop()
            if self.learner.decide(url).action == "fetch":
                self.fetch(url)
            waiting += self.learner.returned()

    def fetch(self, url: str) -> None:
        """Fetch one URL."""
        self.fetched.append(url)
        self.learner.observe(self.row(url))

    def row(self, url: str) -> Mapping[str, Any]:
        """Return what is seen of a URL."""
        return row_of(url, self.page_of(url))
