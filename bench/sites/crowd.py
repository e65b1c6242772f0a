"""Many sites at once, as a crawl meets them: one giant, a heavy tail of small ones, all kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bench.sites.site import Site

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.sites.chance import Ints
    from bench.sites.model import Kind

SMALLEST = 10
"""URLs that every site has at least."""


def crowd(kinds: Sequence[Kind], urls: int, sites: int, seed: int = 0) -> Iterator[Site]:
    """Yield so many sites with so many URLs together, the largest first."""
    for rank, count in enumerate(sizes_of(urls, sites).tolist()):
        kind = kinds[(rank + seed) % len(kinds)]
        number = seed * sites + rank
        yield Site(kind, count, number, name=f"{kind.name.replace('_', '-')}{number}.test")


def sizes_of(urls: int, sites: int) -> Ints:
    """Return the URLs of each site, 1 / rank of the largest, and exactly `urls` together.

    >>> sizes_of(1000, 5).tolist()
    [426, 218, 149, 114, 93]
    """
    if urls < SMALLEST * sites:
        message = f"{urls:,} URLs are too few for {sites:,} sites; give at least {SMALLEST * sites:,}"
        raise ValueError(message)
    weights = 1 / np.arange(1, sites + 1)
    free = urls - SMALLEST * sites
    # Cumulated before rounding, so that nothing is lost.
    bounds = np.round(np.cumsum(weights) / weights.sum() * free).astype(np.int64)
    return np.asarray(np.diff(bounds, prepend=0) + SMALLEST)
