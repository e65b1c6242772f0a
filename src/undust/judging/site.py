"""One site as the judge sees it: its distinct URLs, the pages they show, and what the site says of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.judging.evidence import evidence_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.judging.evidence import PairEvidence
    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

MOST_OF_SITE, MOST_BYTES = 60_000, 12_000_000
"""Of a site with more URLs, or with more text in them, whole pages are drawn."""
_HALF = 0.5


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
    is_sample: bool = False
    """Whether some pages were drawn of more."""

    @classmethod
    def of(
        cls,
        found: SiteClusters,
        evidence: PairEvidence | None = None,
        *,
        seed: int = 0,
        most_urls: int = MOST_OF_SITE,
        most_bytes: int = MOST_BYTES,
    ) -> Self:
        """Return a site from its clusters, and from better evidence if there is any.

        Args:
            found: Its clusters.
            evidence: Over the distinct URLs that are seen, in the order of their nodes.
            seed: Another number draws other pages of a large site.
            most_urls: Of a site with more URLs, whole pages are drawn.
            most_bytes: The same for the text of the URLs.

        """
        nodes = np.flatnonzero(found.cluster_of_node >= 0)
        is_sample = evidence is None and (len(nodes) > most_urls or _lengths(found, nodes).sum() > most_bytes)
        if is_sample:
            nodes = _drawn(found, nodes, seed, most_urls, most_bytes)
        return cls(
            found.site,
            found.node_urls.take(pa.array(nodes)).cast(pa.large_string()),
            _pages(found, nodes),
            ~found.distrusted[nodes],
            _preferred(found)[nodes],
            frozenset(found.gone.to_pylist()),
            evidence or evidence_of(found, nodes),
            is_sample,
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
    def half(self) -> Bools:
        """Of each page in which half of the site it is; the same half whatever else there is."""
        return self.drawn("half", _HALF)

    def drawn(self, salt: str, share: float) -> Bools:
        """Return of each page whether it is among a share of them, drawn by its first URL."""
        first = np.unique(self.page, return_index=True)[1]
        return np.array([_chance(salt, self.texts[row]) < share for row in first.tolist()], np.bool_)

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


def _lengths(found: SiteClusters, nodes: Ints) -> Ints:
    return np.asarray(pc.binary_length(found.node_urls.take(pa.array(nodes))), np.int64)


def _drawn(found: SiteClusters, nodes: Ints, seed: int, most_urls: int, most_bytes: int) -> Ints:
    """Return the nodes of some pages, whole pages, as many as there may be."""
    page = _pages(found, nodes)
    first = np.unique(page, return_index=True)[1]
    names = found.node_urls.take(pa.array(nodes[first])).to_pylist()
    order = np.argsort(np.array([_chance(f"sample {seed}", name) for name in names]), kind="stable")
    count = np.cumsum(np.bincount(page)[order])
    length = np.cumsum(np.bincount(page, _lengths(found, nodes))[order])
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[(count <= most_urls) & (length <= most_bytes)]] = True
    return nodes[chosen[page]]


def _chance(salt: str, name: str) -> float:
    text = f"{salt}\n{name}".encode(errors="surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2.0**64
