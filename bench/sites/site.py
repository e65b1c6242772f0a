"""One site: a function of its kind, its seed and its size, as rows of a crawl and as a server."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bench.sites.answers import Answer, Answers
from bench.sites.content import Content, same_page
from bench.sites.layout import Layout
from bench.sites.rows import Crawl, Maker
from undust.reading.observations import SCHEMA
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.sites.model import Kind
    from bench.sites.rows import Rows

BATCH_ROWS = 32_768


@dataclass(frozen=True)
class Site:
    """A site with known truth.

    `urls` is how many URLs it has; `giant` of them show one page.
    """

    kind: Kind
    urls: int
    seed: int = 0
    giant: int = 0
    name: str | None = None
    """The domain, if not the kind's name and the seed under `.test`."""

    def __post_init__(self) -> None:
        if not 0 <= self.giant < max(1, self.urls):
            message = f"{self.giant:,} of {self.urls:,} URLs cannot show one page; leave some for the others"
            raise ValueError(message)

    @property
    def domain(self) -> str:
        """The registered domain."""
        return self.name or f"{self.kind.name.replace('_', '-')}{self.seed}.test"

    @cached_property
    def _layout(self) -> Layout:
        return Layout(self.kind, self.seed, self.urls, self.giant)

    @cached_property
    def _content(self) -> Content:
        content = Content(self.kind, self.seed)
        if self.giant:
            page = np.array([self._layout.giant_page])
            family, number = (int(each[0]) for each in self._layout.family_of(page))
            content.always = family, int(same_page(self.kind.families[family], np.array([number]))[0])
        return content

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.domain, self._layout, self._content)

    def batches(self, crawl: Crawl | None = None, rows: int = BATCH_ROWS) -> Iterator[Rows]:
        """Yield what a crawl saw, with the truth beside it; neither depends on the size of the batches."""
        maker = Maker(self.domain, self._layout, self._content, crawl or Crawl())
        for start in range(0, maker.rows, rows):
            yield maker.make(start, start + rows)

    def observations(self, crawl: Crawl | None = None) -> pa.Table:
        """Return what a crawl saw, in the columns of undust."""
        return pa.Table.from_batches((rows.observations for rows in self.batches(crawl)), schema=SCHEMA)

    def truth(self, crawl: Crawl | None = None) -> pa.Table:
        """Return for the same rows `url` and the `page` that it is an address of."""
        bare = Crawl() if crawl is None else crawl
        bare = Crawl(0.0, bare.coverage, bare.sightings, evidence=())
        parts = [
            pa.record_batch({"url": rows.observations["url"], "page": rows.page})
            for rows in self.batches(bare)
        ]
        return pa.Table.from_batches(parts)

    @property
    def rules(self) -> RuleSet:
        """The rules that hold on every page of the site."""
        return RuleSet([self._rule(text) for text in self.kind.true_rules])

    @property
    def false_rules(self) -> RuleSet:
        """Rules that look right and merge different pages."""
        return RuleSet([self._rule(text) for text in self.kind.false_rules])

    def _rule(self, text: str) -> Rule:
        return Rule.parse(text.replace("SITE", self.domain), site=self.domain)

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return what the site answers; `version` counts the fetches of this URL before."""
        return self._answers.answer(url, version)
