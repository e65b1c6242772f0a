"""Labelled crawls to replay: rows, the page of each URL, and the orders in which a crawler may find them."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

from bench.common import data_folder
from bench.lost import undisputed
from undust.measuring.counts import NEAR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ORDERS = ("random", "time", "sorted")
"""`time`: as the rows were fetched, where that is known; `sorted`: like URLs one after the other."""


@dataclass(frozen=True)
class LabelledCrawl:
    """One site as it was crawled: every URL once, with its latest row."""

    group: str
    name: str
    rows: dict[str, dict[str, Any]]
    pages: dict[str, str]

    def part(self, share: int, seed: int) -> LabelledCrawl:
        """Return a smaller site: one page of so many, with all its URLs."""
        kept = {page for page in self.pages.values() if crc32(f"{page}x{seed}".encode()) % share == 0}
        return replace(self, pages={url: page for url, page in self.pages.items() if page in kept})

    def order(self, name: str, seed: int) -> list[str]:
        """Return the URLs in one order; those without a label are not asked for."""
        urls = sorted(self.pages)
        if name == "random":
            random.Random(f"{self.name} {seed}").shuffle(urls)
        elif name == "time":
            urls.sort(key=lambda url: (self.rows[url].get("time") or "", url))
        return urls

    def never_seen(self, fetched: Sequence[str]) -> set[str]:
        """Return the pages that were never fetched, neither they nor a near copy of them."""
        seen = {self.pages[url] for url in fetched}
        missing = set(self.pages.values()) - seen
        if not missing:
            return missing
        known = [sketch for url in fetched if (sketch := self.rows[url].get("sketch"))]
        index: dict[tuple[int, int], list[Sequence[int]]] = {}
        for sketch in known:
            for place, minimum in enumerate(sketch):
                index.setdefault((place, minimum), []).append(sketch)
        own: dict[str, list[Sequence[int]]] = {page: [] for page in missing}
        for url, page in self.pages.items():
            if page in own and (sketch := self.rows[url].get("sketch")):
                own[page].append(sketch)
        return {page for page in missing if not any(_has_near(sketch, index) for sketch in own[page])}

    def changed(self, pages: set[str], fetched: Sequence[str]) -> int:
        """Return how many of some pages were fetched under another session, campaign or spelling.

        Each fetch of such a page shows another text, which is another page by the labels.
        """
        seen = set(map(undisputed, fetched))
        return len({page for url, page in self.pages.items() if page in pages and undisputed(url) in seen})


def _has_near(sketch: Sequence[int], index: dict[tuple[int, int], list[Sequence[int]]]) -> bool:
    tried: set[int] = set()
    # Two sketches that agree in 29 of 32 minima agree in one of any four.
    for place in range(len(sketch) - int(NEAR * len(sketch)) + 1):
        for other in index.get((place, sketch[place]), ()):
            if id(other) not in tried:
                tried.add(id(other))
                if sum(a == b for a, b in zip(sketch, other, strict=False)) >= NEAR * len(sketch):
                    return True
    return False


def labelled_crawls(groups: Sequence[str], names: Sequence[str] = ()) -> Iterator[LabelledCrawl]:
    """Yield the labelled sites of the data folder."""
    for group in groups:
        for path in sorted((data_folder() / group).glob("*.jsonl.gz")):
            name = path.name.partition(".")[0]
            if names and name not in names:
                continue
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                rows = {row["url"]: row for row in map(json.loads, lines)}
            with gzip.open(path.with_name(f"{name}.labels.tsv.gz"), "rt", encoding="utf-8") as lines:
                next(lines)
                pages = dict(line.rstrip("\n").split("\t") for line in lines)
            known = {url: page for url, page in pages.items() if url in rows}
            yield LabelledCrawl(group, name, rows, known)
