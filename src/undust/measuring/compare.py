"""Methods side by side: trained on the same rows, judged on the same rows that none of them saw.

Which pages are judged and which are learned from is decided by page, by stable hash, so that no page is on
both sides. Each method has its cost beside it: seconds, and the memory that the process held at most.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UndustError
from undust.files.temporary import give_back_memory, peak_memory_bytes
from undust.measuring import Measures
from undust.measuring.judged import (
    has_labels,
    labelled_from_duplicates,
    labelled_from_labels,
    require_common_sites,
    require_pages,
)
from undust.measuring.measures import mean
from undust.measuring.methods import methods_named
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.typing import NDArray

    from undust.learning.single_methods import Job
    from undust.measuring import Labelled, Ranking
    from undust.measuring.methods import Method, Ready
    from undust.pages.clustering import Duplicates

RESET_PEAK = "5"
"""Written to reset the peak so far on Linux."""


class Meter:
    """Measures what is done inside a `with`: methods run one after the other in one process.

    The peak is that of the process, data and interpreter included. Where the system cannot reset an
    earlier peak, it is the highest so far.
    """

    seconds: float = 0.0
    peak_memory_bytes: int = 0

    def __enter__(self) -> Self:
        give_back_memory()
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text(RESET_PEAK, encoding="ascii")
        self._started = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = perf_counter() - self._started
        self.peak_memory_bytes = peak_memory_bytes()


__all__ = ["Comparison", "MethodRow", "compare_methods", "methods_named"]


@dataclass(frozen=True)
class MethodRow:
    """What one method did to the unseen URLs, under one bound on false positives."""

    method: str
    max_fpr: float | None
    """None for a method that learns nothing."""
    sites: Mapping[str, Measures]
    duplicates_only: Measures
    """Without pages that have one URL only."""
    rules: int
    candidates: int
    valid: int
    """Candidates that were accepted."""
    ranking: Ranking
    published: Mapping[str, Measures] | None
    """By site, with the rules applied as their paper does; None where no paper is."""
    train_seconds: float
    apply_seconds: float
    peak_memory_bytes: int

    @property
    def total(self) -> Measures:
        """All sites added up (micro)."""
        return sum(self.sites.values(), Measures())

    @property
    def total_as_published(self) -> Measures | None:
        """All sites added up, with the rules applied as their paper does."""
        return None if self.published is None else sum(self.published.values(), Measures())

    @property
    def seconds(self) -> float:
        """To train, and to apply what was learned to the unseen URLs."""
        return self.train_seconds + self.apply_seconds

    def macro(self, rate: Callable[[Measures], float]) -> float:
        """Return the mean of a rate over the sites."""
        return mean(rate, self.sites.values())


@dataclass(frozen=True)
class Comparison:
    """The rows of all methods, and what they were trained and judged on."""

    rows: tuple[MethodRow, ...]
    sites: int
    train_urls: int
    """URLs that methods may see, those for proofs included."""
    test_urls: int
    test_pages: int
    unlabelled: int
    """URLs whose page is not known; they are not judged."""

    @classmethod
    def of(
        cls, rows: Sequence[MethodRow], training: Duplicates, test: Sequence[Labelled], unlabelled: int
    ) -> Comparison:
        """Return the rows with the size of what they come from."""
        return cls(
            tuple(rows),
            sites=len(test),
            train_urls=training.summary.urls,
            test_urls=sum(len(site.urls) for site in test),
            test_pages=sum(len(set(site.pages)) for site in test),
            unlabelled=unlabelled,
        )


def compare_methods(  # noqa: PLR0913 -- what to train on and to judge by, and how
    training: Duplicates,
    test: Sequence[Labelled],
    methods: Iterable[Method],
    job: Job,
    *,
    bounds: Sequence[float],
    watch: Callable[[str], object] = lambda _: None,
) -> tuple[MethodRow, ...]:
    """Return a row for each method, and for each bound on false positives where that means anything."""
    rows: list[MethodRow] = []
    for method in methods:
        watch(method.name)
        with Meter() as train:
            ready_under = method.train(training, job)
        for bound in bounds if method.learns else bounds[:1]:
            with Meter() as choose:
                ready = ready_under(bound)
            with Meter() as apply:
                images = [ready.images(site.urls) for site in test]
            meters = (train, choose, apply)
            rows.append(
                MethodRow(
                    method=method.name,
                    max_fpr=bound if method.learns else None,
                    sites={site.site: site.measured_by(some) for site, some in _pairs(test, images)},
                    duplicates_only=sum(
                        (_without_singletons(site, some) for site, some in _pairs(test, images)), Measures()
                    ),
                    rules=ready.rules,
                    candidates=ready.candidates,
                    valid=ready.valid,
                    ranking=ready.ranking,
                    published=_published(test, ready),
                    train_seconds=train.seconds + choose.seconds,
                    apply_seconds=apply.seconds,
                    peak_memory_bytes=max(meter.peak_memory_bytes for meter in meters),
                )
            )
    return tuple(rows)


def _pairs(test: Sequence[Labelled], images: Sequence[pa.Array]) -> Iterable[tuple[Labelled, pa.Array]]:
    return zip(test, images, strict=True)


def _without_singletons(site: Labelled, images: pa.Array) -> Measures:
    chosen = site.in_duplicates
    return site.only(chosen).measured_by(images.filter(pa.array(chosen)))


def _published(test: Sequence[Labelled], ready: Ready) -> dict[str, Measures] | None:
    if ready.as_published is None:
        return None
    return {site.site: site.measured_by(ready.as_published(site.urls)) for site in test}


TEST = 0.4
"""The share of the pages that are judged."""
TEST_PURPOSE = "test"
"""Keeps this split apart from the one that proofs make of the training data."""


def split_by_evidence(
    duplicates: Duplicates, seen: pa.Table, share: float, seed: int
) -> tuple[Duplicates, list[Labelled], int]:
    """Return what to learn from and what to judge by, where both come from the same evidence.

    The last is how many URLs of the judged part have no known page.
    """
    training, other = duplicates.split(share, seed, TEST_PURPOSE)
    if not has_labels(seen):
        require_pages(labelled_from_duplicates(training)[0] + labelled_from_duplicates(other)[0])
        return training, *labelled_from_duplicates(other)
    urls = pa.chunked_array([found.urls.cast(pa.string()) for found in other], pa.string())
    return training, *labelled_from_labels(seen.filter(pc.is_in(seen.column("url"), urls)))


def split_by_labels(
    seen: pa.Table, labels: pa.Table, share: float, seed: int
) -> tuple[pa.Table, list[Labelled], int]:
    """Return the observations to learn from, without any label, and what to judge by.

    No page is in both. The last is how many URLs have no label; methods may see them.
    """
    bare = seen.drop_columns("cluster") if "cluster" in seen.column_names else seen
    known, unlabelled = labelled_from_labels(with_labels(bare, labels))
    judged = judged_part(known, share, seed)
    return without_urls(bare, judged), judged, unlabelled


def without_urls(seen: pa.Table, judged: Sequence[Labelled]) -> pa.Table:
    """Return the observations of URLs that are not judged."""
    urls = pa.chunked_array([site.urls for site in judged], pa.string())
    return seen.filter(pc.invert(pc.is_in(seen.column("url"), urls)))


def judged_part(sites: Sequence[Labelled], share: float, seed: int) -> list[Labelled]:
    """Return the pages of each site that are judged; which ones depends on their labels alone."""
    parts = [site.only(_is_judged(site, share, seed)) for site in sites]
    return [part for part in parts if part.pages]


def _is_judged(site: Labelled, share: float, seed: int) -> NDArray[np.bool_]:
    salt = (seed % (1 << 64)).to_bytes(8)

    def drawn(page: str) -> float:
        text = f"{site.site}\n{page}".encode(errors="surrogateescape")
        name = blake2b(text, digest_size=8, salt=salt, person=TEST_PURPOSE.encode())
        return int.from_bytes(name.digest()) / 2.0**64

    is_out = {page: drawn(page) < share for page in set(site.pages)}
    return np.fromiter((is_out[page] for page in site.pages), np.bool_, len(site.pages))


def with_labels(seen: pa.Table, labels: pa.Table) -> pa.Table:
    """Return the observations with the label of each URL, and the labelled URLs that were not observed."""
    for name in ("url", "cluster"):
        if name not in labels.column_names:
            message = f"the labels have no column '{name}'; they need 'url' and 'cluster'"
            raise UndustError(message)
    label_of = dict(zip(*(labels.column(name).to_pylist() for name in ("url", "cluster")), strict=True))
    urls = seen.column("url").to_pylist()
    nothing = pa.nulls(len(seen), pa.list_(pa.uint32()))
    sketches = seen.column("sketch").to_pylist() if "sketch" in seen.column_names else nothing.to_pylist()
    require_common_sites("labels", _sites(label_of), _sites(urls))
    rest = sorted(label_of.keys() - set(urls))
    return pa.table(
        {
            "url": pa.array([*urls, *rest], pa.string()),
            "cluster": pa.array([label_of.get(url) for url in [*urls, *rest]], pa.string()),
            "sketch": pa.array([*sketches, *([None] * len(rest))], pa.list_(pa.uint32())),
        }
    )


def _sites(urls: Iterable[str | None]) -> set[str]:
    return {site for site in site_of(pa.array(list(urls), pa.string())).to_pylist() if site}


def require_both_sides(training_pages: int, judged: Sequence[Labelled]) -> None:
    """Raise if there is nothing to learn from, or nothing to judge."""
    judged_pages = sum(len(set(site.pages)) for site in judged)
    if training_pages + judged_pages == 1:
        message = (
            "all URLs of the input show one page, and a comparison needs pages to learn from and other "
            "pages to judge by; give more of the site"
        )
        raise UndustError(message)
    if not judged_pages or not training_pages:
        missing = "learn from" if judged else "judge by"
        message = f"the split left no page to {missing}; give more of the site, or another --seed or --test"
        raise UndustError(message)
