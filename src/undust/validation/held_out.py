"""Against clusters that the learner never saw: each candidate is run over the URLs that were held out.

A candidate is compiled and run by the core, as it would be deployed; URLs with one image are compared by
what is known of their pages. Two URLs of one cluster are support; the main page of an image is the one
with most URLs, and whatever else lies under it was lost, unless it is a near copy. Where nobody can tell,
nothing is counted for the candidate, and nothing against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet
from undust.validation.verdict import Demands, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.candidates import Candidate
    from undust.duplicates import SiteClusters

    Ints = NDArray[np.int64]

DIFFERENT = -1
EXAMPLES = 3
"""Kept of each candidate."""


def prove_site(
    candidates: Iterable[Candidate],
    held_out: SiteClusters,
    demands: Demands | None = None,
    threads: int = 1,
) -> tuple[Verdict, ...]:
    """Return the verdict on each candidate of one site, in their order."""
    data = HeldOut(held_out, threads)
    return tuple(data.measured(candidate).under(demands or Demands()) for candidate in candidates)


class HeldOut:
    """The URLs of one site that no learner saw, ready to try many candidates on."""

    def __init__(self, site: SiteClusters, threads: int = 1) -> None:
        self.site = site
        self.threads = threads
        self.nodes = np.flatnonzero(site.cluster_of_node >= 0)
        self.urls = site.node_urls.take(pa.array(self.nodes))
        self.clusters = site.cluster_of_node[self.nodes]

    def measured(self, candidate: Candidate) -> Verdict:
        """Return what a candidate does to these URLs, not yet judged by any demand."""
        images = RuleSet(candidate.rules).compile().batch(self.urls, keys=True, threads=self.threads)
        moved = np.flatnonzero(pc.not_equal(images, self.urls).to_numpy(zero_copy_only=False))
        if not len(moved):
            return Verdict(candidate)
        codes = images.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        merged = np.flatnonzero((np.bincount(codes) > 1)[codes])
        groups = _Groups(codes[merged], self.clusters[merged], self.nodes[merged])
        relation = self.site.relation(groups.node, groups.main_node)
        bad = ~groups.is_main & (relation == DIFFERENT)
        spoken = self.site.known[self.site.speakers]
        mute = ~groups.is_main & ~bad & ~(spoken[groups.node] & spoken[groups.main_node])
        support, false, unknown = groups.pairs(bad)
        several = groups.count > 1
        return Verdict(
            candidate,
            moved=len(moved),
            support=support,
            false_pairs=false,
            unknown_pairs=unknown,
            pages=len(np.unique(groups.cluster[several])),
            lost=int(bad.sum()),
            unknown=int(mute.sum()),
            saves=int((groups.count - 1).sum()),
            examples=self._examples(moved, merged, groups, several, images),
        )

    def _examples(
        self, moved: Ints, merged: Ints, groups: _Groups, several: NDArray[np.bool_], images: pa.Array
    ) -> tuple[tuple[str, str], ...]:
        """Return a few URLs that it moved beside another of their page, from the start, middle and end."""
        shown = np.intersect1d(moved, merged[several[groups.place]], assume_unique=True)
        if not len(shown):
            return ()
        few = shown[np.unique(np.linspace(0, len(shown) - 1, EXAMPLES).astype(np.int64))]
        pairs = zip(
            self.urls.take(pa.array(few)).to_pylist(), images.take(pa.array(few)).to_pylist(), strict=True
        )
        return tuple(pairs)


class _Groups:
    """How many URLs of each cluster lie under each image: one row a combination, by image."""

    def __init__(self, image: Ints, cluster: Ints, node: Ints) -> None:
        wide = int(cluster.max(initial=0)) + 1
        rows, first, place, count = np.unique(
            image * wide + cluster, return_index=True, return_inverse=True, return_counts=True
        )
        self.image, self.cluster = rows // wide, rows % wide
        self.count = count
        self.node = node[first]
        """The first node of each combination."""
        self.place: Ints = place.reshape(-1)
        """The combination of each URL."""
        best = np.lexsort((self.cluster, -count, self.image))
        starts = np.flatnonzero(np.diff(self.image[best], prepend=-1))
        main = best[starts]
        self.group = np.cumsum(np.diff(self.image, prepend=-1) != 0) - 1
        self.main_node = self.node[main[self.group]] if len(rows) else self.node
        self.is_main = np.zeros(len(rows), np.bool_)
        self.is_main[main] = True

    def pairs(self, bad: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Return the pairs of URLs of one page, of different ones, and those nobody can tell of."""
        total = np.bincount(self.group, self.count).astype(np.int64)
        kept = total - np.bincount(self.group, np.where(bad, self.count, 0)).astype(np.int64)
        every, same = int(_pairs(total).sum()), int(_pairs(self.count).sum())
        false = every - int(_pairs(kept).sum()) - int(_pairs(self.count[bad]).sum())
        return same, false, every - same - false


def _pairs(counts: Ints) -> Ints:
    return counts * (counts - 1) // 2
