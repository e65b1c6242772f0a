"""Archived sites whose pages are known: `NAME.warc.gz` beside `NAME.labels.tsv.gz`."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.common import data_folder
from undust.reading.observations import arrow_table
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".warc.gz"


@dataclass(frozen=True)
class LabelledArchive:
    """One site."""

    path: Path

    @property
    def name(self) -> str:
        """The name of the site."""
        return self.path.name.removesuffix(SUFFIX)

    @cached_property
    def seen(self) -> pa.Table:
        """The observations of the whole archive."""
        return arrow_table(undust.read(self.path))

    @cached_property
    def pages(self) -> dict[str, str]:
        """The page of each URL, the URLs as they were fetched."""
        labels = self.path.with_name(f"{self.name}.labels.tsv.gz")
        with gzip.open(labels, "rt", encoding="utf-8") as lines:
            next(lines)
            return dict(line.rstrip("\n").split("\t") for line in lines)

    @cached_property
    def page_of(self) -> dict[str, str]:
        """The page of each URL in normal form."""
        return {normalize(url): page for url, page in self.pages.items()}

    def is_unseen(self, page: str, seed: int) -> bool:
        """Return whether a page is kept for judging under a seed."""
        name = f"{seed}:{self.name}/{page}" if seed else f"{self.name}/{page}"
        return hashlib.blake2b(name.encode(), digest_size=8).digest()[0] & 1 == 1

    def half(self, seed: int) -> tuple[pa.Table, dict[str, str]]:
        """Return the observations to learn from, and the URLs to judge on with their pages."""
        judged = {url: page for url, page in self.pages.items() if self.is_unseen(page, seed)}
        unseen = pa.array(sorted({normalize(url) for url in judged}), pa.string())
        urls = normalize(self.seen["url"].combine_chunks()).cast(pa.string())
        return self.seen.filter(pc.invert(pc.is_in(urls, value_set=unseen))), judged


def archives(names: list[str]) -> Iterator[LabelledArchive]:
    """Yield the sites of the folder of real data, or those that are named."""
    for path in sorted((data_folder() / "raw").glob(f"*{SUFFIX}")):
        if not names or path.name.removesuffix(SUFFIX) in names:
            yield LabelledArchive(path)
