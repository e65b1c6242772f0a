"""What proposers look at: one URL of each key, in parts, and which of them show one page."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from undust.judging import KeyState

_FEW = 6
"""Of a page with more URLs than this, only some pairs are compared."""


class SeenParts(NamedTuple):
    """A URL in normal form, in parts as written."""

    scheme: str
    host: str
    segments: tuple[str, ...]
    query: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(parameter.partition("=")[0] for parameter in self.query)


@lru_cache(1 << 14)
def parts_of(url: str) -> SeenParts:
    """Return the parts of a URL in normal form."""
    scheme, _, rest = url.partition("://")
    rest, _, query = rest.partition("?")
    host, _, path = rest.partition("/")
    return SeenParts(scheme, host, tuple(path.split("/")), tuple(query.split("&")) if query else ())


class SeenSite:
    """One image of each key whose page is known, with that page.

    Args:
        state: The current URLs.
        held: Pages that are not looked at; what is proposed can be tested on them.

    """

    def __init__(self, state: KeyState, held: NDArray[np.bool_] | None = None) -> None:
        self.site = state.site.name
        is_seen = state.site.is_labelled[state.speaker]
        rows = np.flatnonzero(is_seen if held is None else is_seen & ~held[state.page_of_key])
        texts = state.image_texts
        self.urls = [texts[image] for image in state.image_of_key[rows].tolist()]
        self.pages: list[int] = state.site.page[state.speaker[rows]].tolist()

    @cached_property
    def parts(self) -> list[SeenParts]:
        """Each URL in parts."""
        return [parts_of(url) for url in self.urls]

    @cached_property
    def names(self) -> Counter[str]:
        """How many URLs have each parameter."""
        return Counter(name for parts in self.parts for name in set(parts.names))

    @cached_property
    def of_page(self) -> dict[int, list[int]]:
        """The rows of each page that has several, the shortest URL first."""
        return rows_of_pages(self.urls, self.pages)

    @cached_property
    def pairs(self) -> list[tuple[int, int, int]]:
        """Pairs of a page's rows with that page: all of few, else neighbours and those with the shortest."""
        return [(left, right, page) for page, rows in self.of_page.items() for left, right in _pairs(rows)]


def rows_of_pages(urls: Sequence[str], pages: Sequence[int]) -> dict[int, list[int]]:
    """Return the rows of each page that has several, the shortest URL first.

    >>> rows_of_pages(["a/long", "b", "a"], [7, 8, 7])
    {7: [2, 0]}
    """
    found: dict[int, list[int]] = defaultdict(list)
    for row, page in enumerate(pages):
        found[page].append(row)
    return {
        page: sorted(rows, key=lambda row: (len(urls[row]), urls[row]))
        for page, rows in found.items()
        if len(rows) > 1
    }


def _pairs(rows: list[int]) -> Iterator[tuple[int, int]]:
    if len(rows) <= _FEW:
        yield from combinations(rows, 2)
        return
    step = max(1, len(rows) // (4 * _FEW))
    some = rows[: 4 * _FEW * step : step]
    near = {(left, right) for left in some[:3] for right in some if left != right}
    near |= set(pairwise(some)) | set(zip(some, some[2:], strict=False))
    yield from sorted({(min(pair), max(pair)) for pair in near})


def frequent(counts: Counter[str], least: int, most: int) -> list[str]:
    """Return the most frequent texts, by count and then by text."""
    ranked = sorted((item for item in counts.items() if item[1] >= least), key=lambda it: (-it[1], it[0]))
    return [text for text, _ in ranked[:most]]
