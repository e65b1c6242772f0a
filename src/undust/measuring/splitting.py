"""Which pages are judged and which are learned from: by page, by stable hash, never one on both sides.

A bound from the pages that a rule was chosen on is too low: what is chosen looks better than it is. So some
pages are set aside, before anything is proposed, and only looked at when the rules are final: `checked_pages`
bounds how many pages rules lose on pages that nothing of them was learned from.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UndustError
from undust.measuring.counts import lost_by_image
from undust.measuring.judged import (
    has_labels,
    labelled_from_duplicates,
    labelled_from_labels,
    require_common_sites,
    require_pages,
)
from undust.statistics import upper_bound
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.measuring.judged import Labelled
    from undust.pages.clustering import Duplicates
    from undust.rules import RuleSet

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


@dataclass(frozen=True)
class CheckedPages:
    """Pages that were set aside, and what final rules do to them.

    >>> print(CheckedPages(1240, 1, 1))
    at most 0.38% of pages lost (95% confidence, 1,240 pages checked)
    """

    pages: int = 0
    lost: int = 0
    """Of those: merged into a different page, near copies forgiven."""
    groups: int = 0
    """Groups of merged URLs that lose them; pages of one group are lost together, by one mistake."""

    def __add__(self, other: CheckedPages) -> CheckedPages:
        return CheckedPages(self.pages + other.pages, self.lost + other.lost, self.groups + other.groups)

    @property
    def upper(self) -> float:
        """What the share of lost pages does not exceed, with 95 % confidence.

        Where one group loses several pages there are as many fewer independent observations.
        """
        size = max(1.0, self.lost / max(1, self.groups))
        return upper_bound(self.groups, max(self.groups, int(self.pages / size)))

    def __str__(self) -> str:
        return f"at most {self.upper:.2%} of pages lost (95% confidence, {self.pages:,} pages checked)"


def checked_pages(rules: RuleSet, known: Iterable[Labelled], aside: Iterable[Labelled]) -> CheckedPages:
    """Return what rules do to pages that were set aside.

    Args:
        rules: The set as it is deployed.
        known: All URLs whose page is known, by site; a page may be lost under any of them.
        aside: Those of the pages that were set aside.

    """
    pages = {site.site: frozenset(site.pages) for site in aside}
    total = CheckedPages()
    canonical = rules.compile()
    for site in known:
        own = pages.get(site.site, frozenset())
        if not own:
            continue
        images = canonical.batch(site.urls, keys=True)
        lost = [own.intersection(some) for some in lost_by_image(site.known, images)]
        total += CheckedPages(len(own), len(frozenset().union(*lost)), sum(map(bool, lost)))
    return total
