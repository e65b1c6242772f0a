"""What is known of the distinct URLs of one site, as columns, and pairs of them that are taken for two pages.

`SiteFacts` is the input of `SiteEvidence`.

Pairs are drawn at random within a shape, and as neighbours one value apart. Pairs at random are too easy, for
pages about one subject are more alike, so half of the pairs are neighbours. Some of them are copies of one
page; the calibration tolerates that, for the price of weaker evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Pairs = tuple[Ints, Ints]


class UrlShapes(NamedTuple):
    """Which URLs look alike."""

    shape: Ints
    """Of each row: the same host, number of segments and names of parameters."""
    context: Ints
    """Equal for entries whose URLs differ in one value only …"""
    context_row: Ints
    """… and the row of each entry."""


class Earlier(NamedTuple):
    """Earlier sightings of URLs: the site's own witnesses of how a page differs from itself."""

    row: Ints
    """The row of the URL that was seen."""
    blocks: pa.Array
    title: pa.Array
    language: Ints


@dataclass(frozen=True, eq=False)
class SiteFacts:
    """Columns over the distinct URLs (rows) of one site; codes count from 0, -1 means unknown."""

    shows: Bools
    """Rows whose content may be compared: not redirects, errors, empty pages, login walls."""
    label: Ints
    """Equal label, same page, as the user says."""
    digest: Ints
    """Equal digest, equal content."""
    sketches: NDArray[np.uint32]
    """One row of minima for each URL that has a sketch."""
    sketch_row: Ints
    blocks: pa.Array
    """For each row its blocks (`list<int64>`, see `undust.reading.text`), null where unknown."""
    title: pa.Array
    """The title of each row's page, null where unknown."""
    home: Ints
    """The URL that the site declares for the page of a row: by rel=canonical, a redirect, its sitemap."""
    has_list: bool
    """Whether a sitemap of the site is known, which names each page once."""
    language: Ints
    shapes: Callable[[], UrlShapes]
    """Asked for when pairs of different pages are drawn."""
    earlier: Earlier

    def __len__(self) -> int:
        return len(self.label)

    @property
    def has_blocks(self) -> bool:
        """Whether any page was taken apart into blocks."""
        return bool(self.blocks.null_count < len(self.blocks))


DRAWN = 1500
"""Pairs of each kind."""


def other_pairs(facts: SiteFacts, rows: Ints) -> tuple[Pairs, Pairs]:
    """Return pairs at random within a shape, and neighbours, of rows that may be compared."""
    generator = np.random.Generator(np.random.PCG64(len(rows)))
    may = np.zeros(len(facts), np.bool_)
    may[rows] = True
    shapes = facts.shapes()
    random = _drawn(shapes.shape[rows], rows, generator)
    entries = np.flatnonzero(may[shapes.context_row])
    near = _drawn(shapes.context[entries], shapes.context_row[entries], generator)
    return _different(facts, random), _different(facts, near)


def _drawn(group: Ints, row: Ints, generator: np.random.Generator) -> Pairs:
    """Draw pairs of rows of one group, each group by its size."""
    order = np.lexsort((row, group))
    group, row = group[order], row[order]
    if not len(group):
        return row, row
    starts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    sizes = np.diff(np.append(starts, len(group)))
    several = np.repeat(sizes > 1, sizes)
    if not several.any():
        return row[:0], row[:0]
    first = np.flatnonzero(several)[generator.integers(0, int(several.sum()), DRAWN)]
    start, size = np.repeat(starts, sizes)[first], np.repeat(sizes, sizes)[first]
    second = start + (first - start + 1 + generator.integers(0, size - 1)) % size
    return row[first], row[second]


def _different(facts: SiteFacts, pairs: Pairs) -> Pairs:
    """Return the pairs of which nothing says that they are one page."""
    left, right = pairs
    digest, home, label = facts.digest, facts.home, facts.label
    is_one = (digest[left] >= 0) & (digest[left] == digest[right])
    is_one |= (home[left] >= 0) & (home[left] == home[right])
    is_one |= (label[left] >= 0) & (label[left] == label[right])
    kept = ~is_one & (left != right)
    return left[kept], right[kept]


def equal_pairs(column: Ints, rows: Ints) -> Pairs:
    """Return pairs of rows with one value of a column: the first of each value with each other one."""
    known = rows[column[rows] >= 0]
    order = known[np.lexsort((known, column[known]))]
    is_first = np.diff(column[order], prepend=-1) != 0
    first = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]] if len(order) else order
    return first[~is_first], order[~is_first]
