"""One site as the judge sees it: its distinct URLs, their pages, and the evidence that two are one page.

The unit of evidence is the logarithm of a likelihood ratio: above zero for one page, below for two, zero if
nothing is known.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.pages.clustering.clusters import texts_at
from undust.pages.clustering.near_copies import agreement

if TYPE_CHECKING:
    from collections.abc import Iterable

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
MOST_OF_SITE, MOST_BYTES = 60_000, 12_000_000
"""Of a site with more URLs, or with more text in them, whole pages are drawn."""
_HALF = 0.5


@dataclass(frozen=True, eq=False)
class Site:
    """Columns over the distinct URLs of a site, in normal form."""

    name: str
    urls: pa.Array
    page: Ints
    """The page that each URL shows, as a number; pages that are not trusted are of their own."""
    is_labelled: Bools
    """URLs whose page is known well enough to propose from."""
    preferred: Bools
    """URLs that the site sends others to, by a redirect or rel=canonical, and none away."""
    gone: frozenset[str]
    """URLs that were asked for and never were a page."""
    evidence: PairEvidence
    fetched: Ints
    """Of each URL the number of the URL whose content counts for it: its own, or where it redirects to."""
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
            _fetched(found, nodes),
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
        return np.array([fraction_of(salt, self.texts[row]) < share for row in first.tolist()], np.bool_)

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


def _fetched(found: SiteClusters, nodes: Ints) -> Ints:
    """Return numbers of rows; of what is not among them, larger ones."""
    speakers = found.speakers[nodes]
    place = np.searchsorted(nodes, speakers)
    is_row = nodes[np.minimum(place, len(nodes) - 1)] == speakers if len(nodes) else place == -1
    return np.where(is_row, place, len(nodes) + speakers).astype(np.int64)


def _lengths(found: SiteClusters, nodes: Ints) -> Ints:
    return np.asarray(pc.binary_length(found.node_urls), np.int64)[nodes]


def _drawn(found: SiteClusters, nodes: Ints, seed: int, most_urls: int, most_bytes: int) -> Ints:
    """Return the nodes of some pages, whole pages, as many as there may be."""
    page = _pages(found, nodes)
    first = np.unique(page, return_index=True)[1]
    names = texts_at(found.node_urls, nodes[first])
    order = np.argsort(np.array([fraction_of(f"sample {seed}", name) for name in names]), kind="stable")
    count = np.cumsum(np.bincount(page)[order])
    length = np.cumsum(np.bincount(page, _lengths(found, nodes))[order])
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[(count <= most_urls) & (length <= most_bytes)]] = True
    return nodes[chosen[page]]


def fraction_of(salt: str, name: str) -> float:
    """Return a number from 0 to 1 that depends on two texts alone: who is drawn is the same in every run."""
    text = f"{salt}\n{name}".encode(errors="surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2.0**64


def crossed(url: str, others: Iterable[str]) -> list[str]:
    """Return URLs made of one and of parts of others: their query beside its own, their host, or all of them.

    >>> crossed("http://a.test/x?edit", ["http://www.a.test/y?sid=1"])
    ['http://a.test/x?edit&sid=1', 'http://www.a.test/x?edit', 'http://www.a.test/y?edit&sid=1']
    """
    own, path, query = _parts(url)
    made = set()
    for other_host, other_path, other_query in map(_parts, others):
        both = "&".join(filter(None, (query, other_query)))
        made |= {f"{own}{path}?{both}", f"{other_host}{path}?{query}", f"{other_host}{other_path}?{both}"}
    return sorted(made)


def _parts(url: str) -> tuple[str, str, str]:
    """Return the scheme with the host, the path and the query of a URL in normal form."""
    place, _, query = url.partition("?")
    scheme, _, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}", slash + path, query


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
        """Return of URLs whether nothing is known of them; of unstable pages it is known that they change."""
        return self._evidence.silent(rows)

    def ratios(self, left: Ints, right: Ints) -> Floats:
        """Return what is known of each pair; evidence for one page is believed all the same."""
        found = self._evidence.ratios(left, right)
        found[(self._is_unstable[left] | self._is_unstable[right]) & (found < 0)] = 0.0
        return found


def evidence_of(site: SiteClusters, nodes: Ints) -> PairEvidence:
    """Return the best evidence that there is: of blocks where pages have them, else of clusters."""
    has_blocks = site.evidence_of_pairs.has_blocks
    return BlockEvidence(site, nodes) if has_blocks else ClusterEvidence(site, nodes)


def agreed_shares(minima: int) -> Floats:
    """Return what an agreement in 0, 1, … of this many minima says."""
    says = np.full(minima + 1, -_MOST)
    for share, ratio in reversed(_BY_SKETCH):
        says[np.arange(minima + 1) >= share * minima] = ratio
    return says
