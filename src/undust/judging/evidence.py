"""How much what was seen speaks for one page behind two URLs, and how much against it.

The unit is the logarithm of a likelihood ratio: above zero for one page, below for two, zero for silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from undust.pages.clustering.near_copies import agreement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

_MOST = 4.0
"""No pair of URLs says more than this."""
_BY_SKETCH = (
    (31 / 32, 4.0),
    (30 / 32, 3.0),
    (29 / 32, 1.0),
    (28 / 32, -0.5),
    (27 / 32, -1.5),
    (25 / 32, -3.0),
)
"""Shares of minima in which two sketches agree at least, and what that says; below the last, no."""


class PairEvidence(Protocol):
    """What is known of pairs of a site's distinct URLs, by their numbers."""

    def ratios(self, left: Ints, right: Ints) -> Floats:
        """Return the logarithm of the likelihood ratio of each pair, within ± 4; 0 is silence."""

    def silent(self, rows: Ints) -> Bools:
        """Return of URLs whether nothing is known that could be compared."""


class ClusterEvidence:
    """Evidence from the clusters of a site: labels, sketches and digests, in this order.

    Args:
        site: Its clusters.
        nodes: The nodes that rows stand for.

    """

    def __init__(self, site: SiteClusters, nodes: Ints) -> None:
        speaker = site.speakers[nodes]
        self._page = site.cluster_of_node[nodes]
        self._known = site.known[speaker]
        self._label = site.label[speaker]
        self._digest = site.digest[speaker]
        self._is_changing = site.is_changing[speaker]
        self._distrusted = site.distrusted[speaker]
        self._sketch = site.sketch_row[speaker]
        self._sketches = site.sketches
        shares = agreed_shares(site.sketches.shape[1] if site.sketches.ndim > 1 else 0)
        self._says = shares

    def silent(self, rows: Ints) -> Bools:
        """Return of URLs whether nothing is known of them."""
        return ~self._known[rows] & ~self._distrusted[rows]

    def ratios(self, left: Ints, right: Ints) -> Floats:
        """Return what is known of each pair."""
        found = np.zeros(len(left))
        both = self._known[left] & self._known[right]
        digests = both & (self._digest[left] >= 0) & (self._digest[right] >= 0)
        digests &= ~self._is_changing[left] & ~self._is_changing[right]
        found[digests] = np.where(self._digest[left] == self._digest[right], _MOST, -_MOST)[digests]
        sketched = np.flatnonzero(both & (self._sketch[left] >= 0) & (self._sketch[right] >= 0))
        rows = self._sketch[left[sketched]], self._sketch[right[sketched]]
        by_sketch = self._says[agreement(self._sketches, *rows)]
        equal = self._digest[left[sketched]] == self._digest[right[sketched]]
        found[sketched] = np.where(equal & (self._digest[left[sketched]] >= 0), _MOST, by_sketch)
        # What distrusted content says is that the page is not the one that was asked for.
        shared = self._distrusted[left] & self._distrusted[right]
        found[shared] = 0.0
        found[self._distrusted[left] != self._distrusted[right]] = -_MOST
        same = (self._page[left] == self._page[right]) & ~shared
        found[same] = _MOST
        labels = (self._label[left] >= 0) & (self._label[right] >= 0)
        found[labels] = np.where(self._label[left] == self._label[right], _MOST, -_MOST)[labels]
        return found


class BlockEvidence:
    """Evidence from what the pages are made of, by likelihood; what the clusters say is certain stays so.

    Args:
        site: Its clusters, with the evidence of pairs of their nodes.
        nodes: The nodes that rows stand for.

    """

    def __init__(self, site: SiteClusters, nodes: Ints) -> None:
        self._pairs = site.evidence_of_pairs
        self._nodes = nodes
        self._page = site.cluster_of_node[nodes]
        self._distrusted = site.distrusted[nodes]

    def silent(self, rows: Ints) -> Bools:
        """Return of URLs whether nothing is known of what they show."""
        return self._pairs.silent(self._nodes[rows])

    def ratios(self, left: Ints, right: Ints) -> Floats:
        """Return what is known of each pair."""
        found = np.clip(self._pairs.ratios(self._nodes[left], self._nodes[right]), -_MOST, _MOST)
        same = (self._page[left] == self._page[right]) & ~self._distrusted[left] & ~self._distrusted[right]
        found[same] = _MOST
        return found


class WithoutUnstable:
    """Evidence in which pages that are another one at every fetch say nothing of others.

    Args:
        evidence: What is known of all pairs.
        is_unstable: Of each URL whether it shows such a page.

    """

    def __init__(self, evidence: PairEvidence, is_unstable: Bools) -> None:
        self._evidence, self._is_unstable = evidence, is_unstable

    def silent(self, rows: Ints) -> Bools:
        """Return of URLs whether nothing is known that could be compared."""
        return self._evidence.silent(rows) | self._is_unstable[rows]

    def ratios(self, left: Ints, right: Ints) -> Floats:
        """Return what is known of each pair; what speaks for one page is believed all the same."""
        found = self._evidence.ratios(left, right)
        found[(self._is_unstable[left] | self._is_unstable[right]) & (found < 0)] = 0.0
        return found


def evidence_of(site: SiteClusters, nodes: Ints) -> PairEvidence:
    """Return the best evidence that there is: of blocks where pages have them, else of clusters."""
    has_blocks = site.evidence_of_pairs.has_blocks
    return BlockEvidence(site, nodes) if has_blocks else ClusterEvidence(site, nodes)


def agreed_shares(minima: int) -> Floats:
    """Return what an agreement in 0, 1, … of so many minima says."""
    says = np.full(minima + 1, -_MOST)
    for share, ratio in reversed(_BY_SKETCH):
        says[np.arange(minima + 1) >= share * minima] = ratio
    return says
