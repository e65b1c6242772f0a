"""Counts what a canonicalizer did to the URLs of a site: pages merged and lost, requests and bytes saved.

Whole columns at a time: a comparison of methods counts the same pages again for every rule set. Pages are
counted given the page that each URL shows; requests and bytes a day, what people pay for, by who asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.measuring.measures import Measures
from undust.pages.clustering.nodes import is_ascending

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.rules import RuleSet


NEAR = 29 / 32
"""Share of minima in which two pages must agree to count as near copies of each other."""


@dataclass(frozen=True, eq=False)
class LabelledPages:
    """Which page each URL shows, made once for all the images that are measured against it."""

    names: pa.Array
    codes: NDArray[np.int64]
    sketches: Mapping[str, Sequence[int]]
    """One a page, where there are any; pages without one are never near copies of another."""
    contents: int
    """Distinct contents by their sketches."""

    @classmethod
    def of(cls, pages: Sequence[str], sketches: Mapping[str, Sequence[int]] | None = None) -> LabelledPages:
        """Return the pages of URLs, one name a URL."""
        names, codes = coded(pages)
        return cls(names, codes, sketches or {}, _distinct_contents(names, sketches or {}))


def measure(
    pages: Sequence[str],
    images: Sequence[str] | pa.Array,
    sketches: Mapping[str, Sequence[int]] | None = None,
) -> Measures:
    """Return the measures of one site: row i is one URL, the page it shows and its image."""
    return measure_images(LabelledPages.of(pages, sketches), images)


def measure_images(pages: LabelledPages, images: Sequence[str] | pa.Array) -> Measures:
    """Return the measures of one site whose pages are known, given the image of each URL."""
    if not len(pages.codes):
        return Measures()
    image_names, image_codes = coded(images)
    groups = _ImageCounts.of(image_codes, pages.codes)
    lost, lost_unlike = _lost(groups, pages)
    sizes = np.bincount(image_codes, minlength=len(image_names))
    page_sizes = np.bincount(pages.codes, minlength=len(pages.names))
    images_of_page = np.bincount(groups.pages, minlength=len(pages.names))
    return Measures(
        urls=len(pages.codes),
        canonical_urls=len(image_names),
        clusters=len(pages.names),
        joined_clusters=_components(groups, len(pages.names)),
        sketches=pages.contents,
        support_pairs=_pairs(sizes),
        false_positive_pairs=_pairs(sizes) - _pairs(groups.counts),
        merged_urls=int(sizes[sizes > 1].sum()),
        misplaced_urls=int(sizes.sum() - groups.largest.sum()),
        lost_pages=lost,
        lost_unlike=lost_unlike,
        duplicate_clusters=int((page_sizes > 1).sum()),
        collapsed_clusters=int(((page_sizes > 1) & (images_of_page == 1)).sum()),
    )


def coded(names: Sequence[str] | pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the distinct names in order, and of each row the place of its name among them."""
    column = names if isinstance(names, pa.Array) else pa.array(names, pa.large_string())
    if is_ascending(column):
        return column, np.arange(len(column))
    encoded = column.dictionary_encode()
    order = np.asarray(pc.sort_indices(encoded.dictionary), np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return encoded.dictionary.take(pa.array(order)), rank[np.asarray(encoded.indices)]


@dataclass(frozen=True, slots=True)
class _ImageCounts:
    """How many URLs of each page lie under each image; one row a combination, by image."""

    images: NDArray[np.int64]
    pages: NDArray[np.int64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    """First row of each image."""
    largest: NDArray[np.int64]
    """URLs of each image's main page."""

    @classmethod
    def of(cls, images: NDArray[np.int64], pages: NDArray[np.int64]) -> _ImageCounts:
        width = int(pages.max(initial=0)) + 1
        rows, counts = np.unique(images * width + pages, return_counts=True)
        image, page = np.divmod(rows, width)
        starts = np.flatnonzero(np.diff(image, prepend=-1))
        return cls(image, page, counts, starts, np.maximum.reduceat(counts, starts))

    def mixed(self) -> Iterator[slice]:
        """Yield the rows of each image that has several pages; on most sites these are few."""
        ends = np.append(self.starts[1:], len(self.pages))
        for place in np.flatnonzero(ends - self.starts > 1):
            yield slice(int(self.starts[place]), int(ends[place]))


def _pairs(sizes: NDArray[np.int64]) -> int:
    return int((sizes.astype(np.int64) * (sizes - 1) // 2).sum())


def _lost(groups: _ImageCounts, pages: LabelledPages) -> tuple[int, int]:
    """Return the pages under another's image, all of them and those that are not near copies.

    The main page of an image is the one with most URLs; of equals, the first by name.
    """
    found = list(_lost_names(groups, pages))
    return sum(len(others) for others, _ in found), sum(len(unlike) for _, unlike in found)


def _lost_names(groups: _ImageCounts, pages: LabelledPages) -> Iterator[tuple[list[str], list[str]]]:
    sketches = pages.sketches
    for rows in groups.mixed():
        names = pages.names.take(pa.array(groups.pages[rows])).to_pylist()
        main = names[int(np.argmax(groups.counts[rows]))]
        others = [name for name in names if name != main]
        yield others, [name for name in others if not is_near(sketches.get(name), sketches.get(main))]


def lost_by_image(pages: LabelledPages, images: Sequence[str] | pa.Array) -> list[list[str]]:
    """Return the pages that are lost under the image of another, image by image; near copies are forgiven.

    >>> lost_by_image(LabelledPages.of(["a", "a", "b", "c"]), ["/x", "/x", "/x", "/c"])
    [['b']]
    """
    if not len(pages.codes):
        return []
    found = _lost_names(_ImageCounts.of(coded(images)[1], pages.codes), pages)
    return [unlike for _, unlike in found if unlike]


def is_near(left: Sequence[int] | None, right: Sequence[int] | None) -> bool:
    """Return whether two sketches agree in at least 29 of 32 minima, or as large a share."""
    if left is None or right is None or len(left) == 0 or len(right) == 0:
        return False
    return agreeing(left, right) >= least_agreeing(len(left))


def agreeing(left: Sequence[int], right: Sequence[int]) -> int:
    """Return in how many minima two sketches agree."""
    return sum(a == b for a, b in zip(left, right, strict=False))


def least_agreeing(size: int) -> int:
    """Return in how many minima two sketches of a size must agree to count as near copies."""
    return ceil(NEAR * size)


def _distinct_contents(page_names: pa.Array, sketches: Mapping[str, Sequence[int]]) -> int:
    if not sketches:
        return len(page_names)
    return len({tuple(sketches.get(name, ())) or name for name in page_names.to_pylist()})


def _components(groups: _ImageCounts, pages: int) -> int:
    """Return how many sets of pages there are when pages under one image belong together."""
    parent: dict[int, int] = {}

    def root(page: int) -> int:
        while (above := parent.get(page, page)) != page:
            parent[page] = parent.get(above, above)
            page = parent[page]
        return page

    joined = pages
    for rows in groups.mixed():
        first, *others = groups.pages[rows].tolist()
        for page in others:
            left, right = root(first), root(page)
            if left != right:
                parent[right] = left
                joined -= 1
    return joined


TRAFFIC = pa.schema(
    [
        pa.field("url", pa.large_string(), nullable=False),
        pa.field("crawler", pa.string()),
        pa.field("day", pa.int32()),
        pa.field("requests", pa.int64(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
    ]
)
"""One row for each URL in normal form, who asked for it, and the day, since 1970."""
EVERYBODY = "all"


@dataclass(frozen=True)
class Savings:
    """Requests of one client, and those that rules make redundant."""

    who: str
    requests: int
    bytes: int
    saved_requests: int
    saved_bytes: int
    days: int

    def to_json(self) -> dict[str, Any]:
        """Return it as an object, with what is saved on one day."""
        return {
            "crawler": self.who,
            "requests": self.requests,
            "bytes": self.bytes,
            "saved_requests": self.saved_requests,
            "saved_bytes": self.saved_bytes,
            "saved_requests_per_day": round(self.saved_requests / self.days, 1),
            "saved_bytes_per_day": round(self.saved_bytes / self.days),
        }


def savings(rules: RuleSet, traffic: pa.Table) -> list[Savings]:
    """Return what rules save of a log's requests: first of all, then of each who asks, by requests.

    Of the URLs with one key, the one that is asked for most is needed, and requests for the others are not.
    """
    if not len(traffic):
        return []
    keys = rules.compile().batch(traffic.column("url").combine_chunks(), keys=True)
    by_url = pa.table({"key": keys, "url": traffic.column("url"), "requests": traffic.column("requests")})
    needed = _needed(by_url)
    saved = pc.invert(pc.is_in(traffic.column("url"), needed))
    counted = traffic.append_column("is_saved", saved)
    days = max(1, len(pc.unique(traffic.column("day").drop_null())))
    found = [_counted(EVERYBODY, counted, days)]
    names = sorted(name for name in pc.unique(traffic.column("crawler")).to_pylist() if name is not None)
    each = [_counted(name, counted.filter(pc.equal(counted.column("crawler"), name)), days) for name in names]
    return found + sorted(each, key=lambda one: (-one.requests, one.who))


def _needed(by_url: pa.Table) -> pa.Array:
    """Return of each key the URL that is asked for most; the first of several."""
    total = by_url.group_by(["key", "url"]).aggregate([("requests", "sum")])
    order = [("key", "ascending"), ("requests_sum", "descending"), ("url", "ascending")]
    ranked = total.take(pc.sort_indices(total, order))
    code = ranked.column("key").combine_chunks().dictionary_encode().indices
    first = np.flatnonzero(np.diff(np.asarray(code), prepend=-1))
    return ranked.column("url").take(pa.array(first)).combine_chunks()


def _counted(who: str, rows: pa.Table, days: int) -> Savings:
    gone = rows.filter(rows.column("is_saved"))

    def total(some: pa.Table, name: str) -> int:
        return int(pc.sum(some.column(name)).as_py() or 0)

    saved = total(gone, "requests"), total(gone, "bytes")
    return Savings(who, total(rows, "requests"), total(rows, "bytes"), *saved, days)
