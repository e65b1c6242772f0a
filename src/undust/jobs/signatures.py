"""The experiment of Soon and Lee (2009): how many URLs remain when pages of equal body text count as one.

    U_reg   the regular URLs: those that appear in every crawling session
    U_std   what standard normalization leaves of them
    U_fin   what is left when URLs of one signature count as one

The signature is the digest of an observation, the MD5 of the body text where we read the page. The second
option also wants an equal page size. A page without a digest, as one with an empty body, is like no other.
Pages of different sites are never one. Where labels say which URLs are truly one page, each step has a
contingency table, counted per URL as the paper does.

The paper prints its reduction rate with |U_std| below the line and computes it with |U_reg|. Both are here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.measuring.counts import measure
from undust.measuring.measures import Contingency, share
from undust.urls import normalize, site_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from undust.reading.observations import Observations

    Ints = NDArray[np.int64]

SIGNATURE_STEPS = {
    "standard": "standard normalization",
    "body_text": "… equal body text",
    "body_text_and_size": "… equal text and page size",
}
"""What makes two URLs one, in the order of the paper's tables."""

_FIRST_REDIRECT = 300


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """The URLs of one site: all of them, and what each step leaves."""

    site: str
    regular: int
    standard: int
    body_text: int
    body_text_and_size: int


@dataclass(frozen=True, slots=True)
class Experiment:
    """What was found."""

    sessions: int
    left_out: int
    """URLs that are not regular ones: not in every session, or never shown with success."""
    without_signature: int
    """URLs of U_std that have no digest."""
    sites: tuple[SiteCounts, ...]
    """Those with most regular URLs first."""
    tables: dict[str, Contingency]
    """By step; empty where no URL has a label."""
    labelled: int

    @property
    def regular(self) -> int:
        """|U_reg|."""
        return sum(site.regular for site in self.sites)

    def urls(self, step: str) -> int:
        """Return how many URLs a step leaves."""
        return sum(getattr(site, step) for site in self.sites)

    def reduction(self, step: str) -> float:
        """Return the reduction rate as the paper computes it."""
        return reduction_rate(self.regular, self.urls(step))

    def reduction_of_standard(self, step: str) -> float:
        """Return the reduction rate as the paper prints it."""
        return reduction_rate(self.urls("standard"), self.urls(step))

    def as_json(self) -> dict[str, Any]:
        """Return everything under plain names."""
        return {
            "sessions": self.sessions,
            "regular_urls": self.regular,
            "left_out": self.left_out,
            "without_signature": self.without_signature,
            "labelled_urls": self.labelled,
            "steps": [self._step_as_json(step) for step in SIGNATURE_STEPS],
            "sites": [asdict(site) for site in self.sites],
        }

    def _step_as_json(self, step: str) -> dict[str, Any]:
        said: dict[str, Any] = {
            "step": step,
            "urls": self.urls(step),
            "removed": self.regular - self.urls(step),
            "reduction_rate": self.reduction(step),
            "reduction_rate_of_standard": self.reduction_of_standard(step),
        }
        if table := self.tables.get(step):
            rates = ("sensitivity", "specificity", "precision", "accuracy")
            said |= asdict(table) | {name: getattr(table, name) for name in rates}
        return said


def reduction_rate(before: int, after: int) -> float:
    """Return the share of URLs that are removed.

    >>> f"{reduction_rate(5257, 3357):.2%}"
    '36.14%'
    """
    return share(before - after, before)


def run_experiment(seen: Observations, *, by_session: bool = False) -> Experiment:
    """Return what each step leaves of the URLs; with `by_session`, each file is a crawling session."""
    table = seen.table.combine_chunks()
    codes = table["url"].combine_chunks().dictionary_encode()
    sessions = len(seen.files) if by_session else 1
    session = np.zeros(len(table), np.int64)
    if by_session:
        session = np.repeat(np.arange(sessions), [file.rows for file in seen.files])
    regular = _regular(codes, table["status"], session, sessions)
    urls = codes.dictionary.take(pa.array(regular))
    rows = _latest(table, np.asarray(codes.indices, np.int64), len(codes.dictionary))[regular]
    images = _images(urls, table.take(pa.array(rows)))
    sites = site_of(urls).to_pylist()
    tables, labelled = _tables(table["cluster"].take(pa.array(rows)), sites, images)
    return Experiment(
        sessions=sessions,
        left_out=len(codes.dictionary) - len(regular),
        without_signature=images.without_signature,
        sites=_counts(sites, images),
        tables=tables,
        labelled=labelled,
    )


def _regular(codes: pa.DictionaryArray, status: pa.ChunkedArray, session: Ints, sessions: int) -> Ints:
    """Return the codes of the URLs that every session saw with success."""
    shown = np.asarray(pc.less(pc.fill_null(status, 200), _FIRST_REDIRECT))
    pairs = np.asarray(codes.indices, np.int64)[shown] * sessions + session[shown]
    seen_in = np.bincount(np.unique(pairs) // sessions, minlength=len(codes.dictionary))
    return np.flatnonzero(seen_in == sessions)


def _latest(table: pa.Table, code: Ints, count: int) -> Ints:
    """Return the most informative row of each URL: with success and a digest, the latest of them."""
    time = np.asarray(pc.fill_null(table["time"].cast(pa.int64()), np.iinfo(np.int64).min))
    shown = np.asarray(pc.less(pc.fill_null(table["status"], 200), _FIRST_REDIRECT))
    known = np.asarray(pc.is_valid(table["digest"]))
    latest = np.zeros(count, np.int64)
    order = np.lexsort((np.arange(len(code)), time, known, shown))
    latest[code[order]] = order
    return latest


@dataclass(frozen=True, eq=False)
class _Images:
    """What each step makes of each regular URL."""

    by_step: dict[str, list[str]]
    without_signature: int


def _images(urls: pa.Array, rows: pa.Table) -> _Images:
    """Return the images; URLs of one normal form share the page of the first of them."""
    standard = normalize(urls).to_pylist()
    digests, sizes = rows["digest"].to_pylist(), rows["size"].to_pylist()
    pages: dict[str, tuple[str | None, int | None]] = {}
    for url, digest, size in zip(standard, digests, sizes, strict=True):
        if url not in pages or pages[url][0] is None:
            pages[url] = (digest, size)
    text = {url: digest or f"{url} alone" for url, (digest, _) in pages.items()}
    sized = {url: f"{text[url]} {size}" for url, (_, size) in pages.items()}
    by_step = {
        "standard": standard,
        "body_text": [text[url] for url in standard],
        "body_text_and_size": [sized[url] for url in standard],
    }
    return _Images(by_step, sum(digest is None for digest, _ in pages.values()))


def _counts(sites: Sequence[str | None], images: _Images) -> tuple[SiteCounts, ...]:
    found: dict[str, list[set[str]]] = {}
    regular: dict[str, int] = {}
    for site, *each in zip(sites, *images.by_step.values(), strict=True):
        name = site or ""
        regular[name] = regular.get(name, 0) + 1
        for distinct, image in zip(
            found.setdefault(name, [set() for _ in SIGNATURE_STEPS]), each, strict=True
        ):
            distinct.add(image)
    counts = [SiteCounts(site, regular[site], *map(len, distinct)) for site, distinct in found.items()]
    return tuple(sorted(counts, key=lambda site: (-site.regular, site.site)))


def _tables(
    labels: pa.ChunkedArray, sites: Sequence[str | None], images: _Images
) -> tuple[dict[str, Contingency], int]:
    rows = np.flatnonzero(np.asarray(pc.is_valid(labels))).tolist()
    if not rows:
        return {}, 0
    known = labels.to_pylist()
    pages = [f"{sites[row]} {known[row]}" for row in rows]
    tables = {
        step: measure(pages, [f"{sites[row]} {each[row]}" for row in rows]).contingency
        for step, each in images.by_step.items()
    }
    return tables, len(rows)
