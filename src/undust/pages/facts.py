"""What is known of the distinct URLs of one site, as columns; the input of `SiteEvidence`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


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
    """For each row its blocks (`list<int64>`, see `undust.reading.content.sketch`), null where unknown."""
    title: pa.Array
    """The title of each row's page, null where unknown."""
    home: Ints
    """Where the site says that the page of a row is at home: by rel=canonical, a redirect, its sitemap."""
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
