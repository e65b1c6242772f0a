"""One site as the judge sees it: its distinct URLs, the pages they show, and what the site says of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa

from undust.judging.evidence import evidence_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.judging.evidence import PairEvidence
    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

_MOST_URLS = 60_000
"""Of a site with more, whole pages are drawn."""


@dataclass(frozen=True, eq=False)
class Site:
    """Columns over the distinct URLs of a site, in normal form."""

    name: str
    urls: pa.Array
    page: Ints
    """The page that each URL shows, as a number; pages that nobody trusts are of their own."""
    is_labelled: Bools
    """URLs whose page is known well enough to propose from."""
    preferred: Bools
    """URLs that the site sends others to, by a redirect or rel=canonical, and none away."""
    gone: frozenset[str]
    """URLs that were asked for and never were a page."""
    evidence: PairEvidence

    @classmethod
    def of(cls, found: SiteClusters, evidence: PairEvidence | None = None, *, seed: int = 0) -> Self:
        """Return a site from its clusters, and from better evidence if there is any.

        Args:
            found: Its clusters.
            evidence: Over the distinct URLs that are seen, in the order of their nodes.
            seed: Another number draws other pages of a large site.

        """
        nodes = np.flatnonzero(found.cluster_of_node >= 0)
        if len(nodes) > _MOST_URLS and evidence is None:
            nodes = _drawn(found, nodes, seed)
        return cls(
            found.site,
            found.node_urls.take(pa.array(nodes)).cast(pa.large_string()),
            _pages(found, nodes),
            ~found.distrusted[nodes],
            _preferred(found)[nodes],
            frozenset(found.gone.to_pylist()),
            evidence or evidence_of(found, nodes),
        )

    @property
    def count(self) -> int:
        """How many pages there are."""
        return int(self.page.max(initial=-1)) + 1

    @cached_property
    def texts(self) -> list[str]:
        """The URLs as Python strings."""
        return self.urls.to_pylist()  # type: ignore[no-any-return]

    @cached_property
    def hosts(self) -> Counter[str]:
        """The hosts, and how many URLs each has."""
        return Counter(text.partition("://")[2].partition("/")[0] for text in self.texts)


def _pages(found: SiteClusters, nodes: Ints) -> Ints:
    page = found.cluster_of_node[nodes].copy()
    shared = found.distrusted[nodes] & (found.digest[nodes] >= 0)
    page[shared] = found.cluster_count + found.digest[nodes[shared]]
    return np.unique(page, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _preferred(found: SiteClusters) -> Bools:
    preferred = np.zeros(len(found.node_urls), np.bool_)
    statements = [edges for edges in found.edges if edges.kind in {"canonical", "redirect"}]
    for edges in statements:
        preferred[edges.hub] = True
    for edges in statements:
        preferred[edges.member] = False
    return preferred


def _drawn(found: SiteClusters, nodes: Ints, seed: int) -> Ints:
    """Return the nodes of some pages, whole pages, as many as there may be."""
    page = _pages(found, nodes)
    first = np.unique(page, return_index=True)[1]
    names = found.node_urls.take(pa.array(nodes[first])).to_pylist()
    drawn = np.array([_chance(seed, name) for name in names])
    order = np.argsort(drawn, kind="stable")
    total = np.cumsum(np.bincount(page)[order])
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[total <= _MOST_URLS]] = True
    return nodes[chosen[page]]


def _chance(seed: int, name: str) -> float:
    text = f"drawn {seed}\n{name}".encode(errors="surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2.0**64
