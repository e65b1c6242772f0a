"""Methods side by side: trained on the same rows, judged on the same rows that none of them saw.

Each has its cost beside it: seconds, and the memory that the process held at most.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.files.process import give_back_memory, peak_memory_bytes
from undust.measuring import Measures
from undust.measuring.measures import mean
from undust.measuring.methods import methods_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Self

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
