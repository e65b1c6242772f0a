"""Which pages are judged and which are learned from: by page, by stable hash, never one on both sides."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UndustError
from undust.measuring.judged import (
    has_labels,
    labelled_from_duplicates,
    labelled_from_labels,
    require_common_sites,
    require_pages,
)
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.measuring.judged import Labelled
    from undust.pages.clustering import Duplicates

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
