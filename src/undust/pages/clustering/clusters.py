"""What was found on one site: which URLs are one page, why, and which are known to be different.

Columns and codes throughout, for a site may have millions of URLs. A cluster's number is the rank of
its smallest URL, so that neither row order nor threads can be seen in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.pages.clustering.evidence import EVIDENCE_KINDS
from undust.pages.clustering.near_copies import ALIKE, agreement, needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from undust.pages import SiteEvidence
    from undust.pages.clustering.distrust import Distrusted, Judge
    from undust.pages.clustering.evidence import Edges
    from undust.pages.clustering.nodes import Nodes, SightingCounts

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

CLUSTER_SCHEMA = pa.schema(
    [
        pa.field("site", pa.string(), nullable=False),
        pa.field("url", pa.string(), nullable=False),
        pa.field("cluster", pa.int64(), nullable=False),
        pa.field("evidence", pa.string()),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("probability", pa.float64()),
    ]
)
"""The table of clusters: `cluster` counts within the site, `size` is the cluster's number of URLs."""

_TEXTS = 4096
"""URLs that are held as texts at a time."""
EVIDENCE_AGAINST = -1.0
"""Ratio up to which two pages are treated as different."""
_DIFFERENT, CANNOT_TELL, SAME_PAGE = -1, 0, 1


@dataclass(frozen=True, eq=False)
class SiteClusters:
    """The clusters of one site: columns over URLs as seen, over nodes, and over clusters.

    A node is a URL in normal form; nodes that were never seen (targets only) are in no cluster.
    """

    site: str
    urls: pa.Array
    """The URLs as seen, sorted."""
    node: Ints
    """Of each URL."""
    node_urls: pa.Array
    """The normal form of each node."""
    cluster_of_node: Ints
    """-1 for nodes that were not seen."""
    known: Bools
    """Nodes with evidence of content (or a label) that can be compared with that of others."""
    distrusted: Bools
    """Nodes whose content is not evidence: soft-404s, login walls, empty bodies."""
    redirects: Bools
    reasons: NDArray[np.uint8]
    """Of each node: bit i is set if the i-th of `kinds` joins it with another."""
    kinds: tuple[str, ...]
    digest: Ints
    label: Ints
    is_changing: Bools
    sketches: NDArray[np.uint32]
    sketch_row: Ints
    size_min: Ints
    size_max: Ints
    edges: tuple[Edges, ...]
    found: tuple[Distrusted, ...]
    gone: pa.Array
    """Normal forms that were asked for, and never were a page."""
    counts: SightingCounts
    evidence_of_pairs: SiteEvidence
    """How likely pairs of nodes are one page."""

    @property
    def cluster(self) -> Ints:
        """The cluster of each URL."""
        return self.cluster_of_node[self.node]

    @property
    def sizes(self) -> Ints:
        """How many URLs each cluster has."""
        return np.bincount(self.cluster, minlength=self.cluster_count)

    @property
    def nodes_of_cluster(self) -> Ints:
        """How many normal forms each cluster has; where there are several, some evidence joined them."""
        return np.bincount(self.cluster_of_node[self.cluster_of_node >= 0], minlength=self.cluster_count)

    @property
    def cluster_count(self) -> int:
        """How many clusters there are, those of a single URL included."""
        return int(self.cluster_of_node.max(initial=-1)) + 1

    @property
    def evidence(self) -> pa.Array:
        """Of each URL, the reasons that join it with others, such as `digest+redirect`; null for none."""
        shared = np.bincount(self.node, minlength=len(self.node_urls))[self.node] > 1
        bits = self.reasons[self.node] | (shared.astype(np.uint8) << self.kinds.index("normal"))
        combinations, place = np.unique(bits, return_inverse=True)
        texts = [self._reason(int(combination)) for combination in combinations]
        return pa.array(texts, pa.string()).take(pa.array(place.reshape(-1)))

    @property
    def probability(self) -> pa.Array:
        """Of each URL how likely it shows the page of its cluster, by its content and declarations.

        Null for a cluster of one URL, and where pages were not taken apart into blocks.
        """
        share = np.full(len(self.node_urls), np.nan)
        if self.evidence_of_pairs.has_blocks:
            node, other = self.pairs_in_clusters()
            ratios = self.evidence_of_pairs.ratios(node, other)
            share[node] = np.round(1 / (1 + np.exp(-ratios)), 3)
        return pa.array(share[self.node], from_pandas=True)

    def pairs_in_clusters(self) -> tuple[Ints, Ints]:
        """Return the nodes of clusters of several, each with the first one; the first with the second."""
        cluster = self.cluster_of_node
        known = np.flatnonzero(self.known & (cluster >= 0))
        order = known[np.lexsort((known, cluster[known]))]
        starts = np.diff(cluster[order], prepend=-1) != 0
        other = order[np.flatnonzero(starts)[np.cumsum(starts) - 1]] if len(order) else order
        followed = np.flatnonzero(starts[:-1] & ~starts[1:])
        other[followed] = order[followed + 1]
        return order[other != order], other[other != order]

    def _reason(self, bits: int) -> str | None:
        return "+".join(sorted(kind for at, kind in enumerate(self.kinds) if bits >> at & 1)) or None

    def table(self) -> pa.Table:
        """Return the clusters as a table of `SCHEMA`, in the order of URLs."""
        cluster = self.cluster
        columns = [
            pa.repeat(pa.scalar(self.site), len(cluster)),
            self.urls.cast(pa.string()) if self.urls.nbytes < (1 << 31) else self.urls,
            pa.array(cluster),
            self.evidence,
            pa.array(self.sizes[cluster]),
            self.probability,
        ]
        return pa.table(columns, names=CLUSTER_SCHEMA.names)

    def relation(self, left: Ints, right: Ints) -> Ints:
        """Return for pairs of nodes whether they are one page (1), different (-1), or undecided (0)."""
        relation = np.full(len(left), CANNOT_TELL, np.int64)
        relation[self._differ(self.speakers[left], self.speakers[right])] = _DIFFERENT
        relation[self.cluster_of_node[left] == self.cluster_of_node[right]] = SAME_PAGE
        return relation

    @cached_property
    def speakers(self) -> Ints:
        """The node whose content counts for each: a redirect shows what the rest of its cluster shows."""
        cluster = self.cluster_of_node
        known = np.flatnonzero(self.known & (cluster >= 0))[::-1]
        first = np.full(self.cluster_count + 1, -1, np.int64)
        first[cluster[known]] = known
        speaks = ~self.known & (cluster >= 0) & (first[cluster] >= 0)
        return np.where(speaks, first[cluster], np.arange(len(cluster)))

    def _differ(self, left: Ints, right: Ints) -> Bools:
        if self.evidence_of_pairs.has_blocks:
            return self.evidence_of_pairs.ratios(left, right) <= EVIDENCE_AGAINST
        label = (self.label[left] >= 0) & (self.label[right] >= 0)
        both = self.known[left] & self.known[right]
        sketch = both & (self.sketch_row[left] >= 0) & (self.sketch_row[right] >= 0)
        differ = both & ~sketch & (self.digest[left] >= 0) & (self.digest[right] >= 0)
        # A digest that changes from one sighting to the next cannot distinguish pages.
        differ &= ~self.is_changing[left] & ~self.is_changing[right]
        rows = self.sketch_row
        agreeing = agreement(self.sketches, rows[left[sketch]], rows[right[sketch]])
        differ[sketch] = agreeing < needed(self.sketches.shape[1], ALIKE)
        sizes = ~both & (self.size_max[left] >= 0) & (self.size_max[right] >= 0)
        sizes &= ~self.distrusted[left] & ~self.distrusted[right]
        apart = (self.size_max[left] < self.size_min[right]) | (self.size_max[right] < self.size_min[left])
        return np.where(label, self.label[left] != self.label[right], differ | (sizes & apart))

    def keeps(self, clusters: Bools) -> SiteClusters:
        """Return the site with some of its clusters only, renumbered, without edges."""
        old = self.cluster_of_node
        stays = (old >= 0) & clusters[np.maximum(old, 0)]
        number = np.cumsum(clusters) - 1
        seen = np.flatnonzero(stays[self.node])
        return replace(
            self,
            urls=self.urls.take(pa.array(seen)),
            node=self.node[seen],
            cluster_of_node=np.where(stays, number[np.maximum(old, 0)], -1),
            edges=(),
        )

    def split(self, held_out: float, seed: int = 0, purpose: str = "") -> tuple[SiteClusters, SiteClusters]:
        """Return two parts that share no cluster; which one a cluster falls into depends on its URL alone.

        A part can be split again for another purpose: such splits know nothing of each other.
        """
        is_out = self.drawn(seed, purpose) < held_out
        return self.keeps(~is_out), self.keeps(is_out)

    def drawn(self, seed: int = 0, purpose: str = "") -> NDArray[np.float64]:
        """Return a number from 0 to 1 for each cluster, drawn by its first URL alone."""
        first = np.unique(self.cluster, return_index=True)[1]
        names = texts_at(self.urls, first)
        return np.fromiter(
            (_fraction(self.site, name, seed, purpose) for name in names), np.float64, len(first)
        )


def texts_at(urls: pa.Array, places: Ints) -> Iterator[str]:
    """Yield some of the URLs, of which few are held as texts at a time."""
    for start in range(0, len(places), _TEXTS):
        yield from urls.take(pa.array(places[start : start + _TEXTS])).to_pylist()


def _fraction(site: str, url: str, seed: int, purpose: str) -> float:
    text = f"{site}\n{url}".encode(errors="surrogateescape")
    salt = (seed % (1 << 64)).to_bytes(8)
    drawn = hashlib.blake2b(text, digest_size=8, salt=salt, person=purpose.encode())
    return int.from_bytes(drawn.digest()) / 2.0**64


def clusters_from(
    nodes: Nodes, page: Ints, edges: Sequence[Edges], judge: Judge, evidence: SiteEvidence
) -> SiteClusters:
    """Number the components of a site and keep with each node why it is where it is."""
    is_trusted = judge.is_trusted
    kinds = tuple(EVIDENCE_KINDS)
    reasons = np.zeros(len(nodes), np.uint8)
    for some in edges:
        bit = np.uint8(1 << kinds.index(some.kind))
        reasons[some.hub] |= bit
        reasons[some.member] |= bit
    seen = np.flatnonzero(nodes.observed)
    first = np.unique(page[seen], return_index=True)[1]
    number = np.full(len(nodes), -1, np.int64)
    number[page[seen[np.sort(first)]]] = np.arange(len(first))
    cluster = np.where(nodes.observed, number[page], -1)
    return SiteClusters(
        site=nodes.site,
        urls=nodes.seen_urls,
        node=nodes.seen_nodes,
        node_urls=nodes.urls,
        cluster_of_node=cluster,
        known=(nodes.has_content & is_trusted) | (nodes.label >= 0),
        distrusted=~is_trusted,
        redirects=nodes.redirects,
        reasons=reasons,
        kinds=kinds,
        digest=nodes.digest,
        label=nodes.label,
        is_changing=nodes.is_changing,
        sketches=nodes.sketches,
        sketch_row=nodes.sketch_row,
        size_min=nodes.size_min,
        size_max=nodes.size_max,
        edges=tuple(edges),
        found=tuple(judge.distrusted),
        gone=nodes.gone,
        counts=nodes.counts,
        evidence_of_pairs=evidence,
    )
