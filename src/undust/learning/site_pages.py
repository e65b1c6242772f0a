"""The pages of one site as learning sees them: its URLs, which are held out, what is asked of rules.

A rule that writes a word makes up URLs. That some of them were seen does not vouch for the others: a page
`/a` may be `/a.html`, and a folder `/b` is `/b/`. Where the result of a rule was not observed, the site may
have said where its URLs belong, by a redirect or a canonical URL; and where it says something else, it is
right.

`Requirements` says how careful the learner is; its defaults come from real sites, see `bench/RESULTS.md`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.judging.site import fraction_of
from undust.pages.clustering.clusters import EVIDENCE_AGAINST, texts_at
from undust.pages.clustering.near_copies import needed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Requirements:
    """What a rule must show before it is believed."""

    max_fpr: float = 0.01
    """At most this share of the pages that a rule touches may be lost to another page."""
    min_support: int = 5
    """Pages that must need fewer URLs under a rule: pages, for one login wall makes any number of pairs."""
    blind_support: int = 6
    """The same where there are no sketches, so that near copies cannot be recognised."""
    narrowed_support: int = 7
    """The same for each condition of a rule that failed without it."""
    literal_support: int = 10
    """The same for a rule that writes a parameter of which it read nothing, such as `page=2`, or the name of
    a folder or a page where it read another."""
    number_support: int = 25
    """The same for a rule that writes one number for another, or removes small numbers: they count things."""
    published_support: int = 12
    """The same for what the published learners propose, whose rules say where they hold by names of pages.
    With digests alone, where a page that changed looks like another one, as many as for numbers."""
    held_pages: int = 1
    """Among them pages that no proposal was made from."""
    held_out: float = 0.4
    """Share of the pages that proposals are not made from."""
    most_rules: int = 60
    """Of one site."""
    most_urls: int = 60_000
    """Of one site; more are learned from a sample of its pages, drawn by their first URL."""
    most_bytes: int = 12_000_000
    """The same for the text of these URLs: 200 bytes for each, several times what is usual."""
    rounds: int = 3
    seed: int = 0

    def within(self, urls: int | None) -> Requirements:
        """Return the same with at most this many URLs of one site."""
        return self if urls is None else replace(self, most_urls=min(self.most_urls, urls))


def requirements_from(max_fpr: float, min_support: int | None, seed: int) -> Requirements:
    """Return how careful the combined learner is, from what a person says about any learner."""
    said = Requirements(max_fpr=max_fpr, seed=seed)
    return said if min_support is None else replace(said, min_support=min_support, blind_support=min_support)


_TOKEN = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")
FORGIVEN = 30 / 32
"""Share of minima in which two pages agree that may be merged without loss; stricter than the judges are."""


class SitePages:
    """Columns over the URLs of a site (normal forms) and over its pages."""

    def __init__(self, site: SiteClusters, requirements: Requirements) -> None:
        self.site = site
        nodes = np.flatnonzero(site.cluster_of_node >= 0)
        self.is_sample = (
            len(nodes) > requirements.most_urls or _bytes(site, nodes).sum() > requirements.most_bytes
        )
        if self.is_sample:
            nodes = _sample(site, nodes, requirements)
        self.nodes = nodes
        is_whole = len(nodes) == len(site.node_urls)
        urls = site.node_urls if is_whole else site.node_urls.take(pa.array(nodes))
        self.urls: pa.Array = urls.cast(pa.large_string())
        self.of_url = _numbered(site, nodes)
        self.count = int(self.of_url.max(initial=-1)) + 1
        self.is_labelled = np.zeros(self.count, np.bool_)
        """Pages whose URLs are known to be one page; those of distrusted content prove nothing."""
        self.is_labelled[self.of_url[~site.distrusted[nodes]]] = True
        self.silent = np.zeros(self.count, np.bool_)
        """Pages that are another one at every fetch; nothing is lost with them."""
        self.has_sketches = bool((site.sketch_row[nodes] >= 0).any())
        self.is_blind = not self.has_sketches and not bool((site.label[nodes] >= 0).any())
        """Whether a page that changed between two fetches looks like another page."""
        self.sketch = np.full(self.count, -1, np.int64)
        rows = np.flatnonzero(site.sketch_row[nodes] >= 0)[::-1]
        self.sketch[self.of_url[rows]] = site.sketch_row[nodes[rows]]
        self.preferred: pa.Array = self.urls.filter(pa.array(_preferred(site)[nodes]))
        """The URLs that the site itself sends others to, by a redirect or rel=canonical."""
        self.is_held = self._drawn(requirements)
        self.needed = needed(site.sketches.shape[1], FORGIVEN) if self.has_sketches else 0
        self.row = np.full(self.count, -1, np.int64)
        """Of each page: the node whose content stands for it."""
        self.row[self.of_url[::-1]] = nodes[::-1]
        shown = np.flatnonzero(site.known[nodes])[::-1]
        self.row[self.of_url[shown]] = nodes[shown]

    @property
    def changing(self) -> list[str]:
        """The URLs that were seen twice with different content."""
        changing = self.nodes[self.site.is_changing[self.nodes]]
        return [str(url) for url in self.site.node_urls.take(pa.array(changing)).to_pylist()]

    @property
    def has_blocks(self) -> bool:
        """Whether pages are compared by what they are made of, by likelihood."""
        return self.site.evidence_of_pairs.has_blocks

    def differ(self, left: Ints, right: Ints) -> Bools:
        """Return of pairs of pages whether they are known to be two."""
        ratios = self.site.evidence_of_pairs.ratios(self.row[left], self.row[right])
        return np.asarray((ratios <= EVIDENCE_AGAINST) & (left != right), np.bool_)

    @cached_property
    def statements(self) -> Statements:
        """Where the site says that its URLs belong."""
        return Statements(self.site, self.nodes)

    def _drawn(self, requirements: Requirements) -> Bools:
        """Return which pages are held out."""
        fractions = _fractions(self.urls, self.of_url, self.count, f"held out {requirements.seed}")
        return fractions < requirements.held_out


def _preferred(site: SiteClusters) -> Bools:
    """Return of each node whether the site prefers it to others, and no other to it."""
    preferred = np.zeros(len(site.node_urls), np.bool_)
    statements = [edges for edges in site.edges if edges.kind in {"canonical", "redirect"}]
    for edges in statements:
        preferred[edges.hub] = True
    for edges in statements:
        preferred[edges.member] = False
    return preferred


def _numbered(site: SiteClusters, nodes: Ints) -> Ints:
    """Return the page of each node; distrusted nodes of one digest are one page that proves nothing."""
    page = site.cluster_of_node[nodes].copy()
    shared = site.distrusted[nodes] & (site.digest[nodes] >= 0)
    page[shared] = site.cluster_count + site.digest[nodes[shared]]
    return np.unique(page, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _bytes(site: SiteClusters, nodes: Ints) -> Ints:
    """Return the length of each URL."""
    return np.asarray(pc.binary_length(site.node_urls), np.int64)[nodes]


def _sample(site: SiteClusters, nodes: Ints, requirements: Requirements) -> Ints:
    """Return the nodes of some pages, whole pages, as many as there may be."""
    page = _numbered(site, nodes)
    first = np.unique(page, return_index=True)[1]
    salt = f"sample {requirements.seed}"
    fractions = [fraction_of(salt, name) for name in texts_at(site.node_urls, nodes[first])]
    order = np.argsort(np.array(fractions), kind="stable")
    count = np.cumsum(np.bincount(page)[order])
    length = np.cumsum(np.bincount(page, _bytes(site, nodes))[order])
    chosen = np.zeros(len(order), np.bool_)
    chosen[order[(count <= requirements.most_urls) & (length <= requirements.most_bytes)]] = True
    return nodes[chosen[page]]


def _fractions(urls: pa.Array, page: Ints, count: int, salt: str) -> NDArray[np.float64]:
    """Return a number between 0 and 1 for each page; it depends on its first URL alone."""
    first = np.full(count, -1, np.int64)
    first[page[::-1]] = np.arange(len(page))[::-1]
    return np.fromiter((fraction_of(salt, name) for name in texts_at(urls, first)), np.float64, count)


class Statements:
    """Redirects and rel=canonical of one site, from URL to URL.

    Args:
        site: Its clusters.
        nodes: Those of its URLs that are needed; of a giant site they are a sample.

    """

    def __init__(self, site: SiteClusters, nodes: NDArray[np.int64]) -> None:
        is_asked = np.zeros(len(site.node_urls), np.bool_)
        is_asked[nodes] = True
        self._home: dict[str, str] = {}
        for edges in site.edges:
            if edges.kind in {"canonical", "redirect"}:
                rows = np.flatnonzero(is_asked[edges.member] | is_asked[edges.hub])
                ends = (site.node_urls.take(pa.array(some[rows])) for some in (edges.member, edges.hub))
                for member, hub in zip(*(some.to_pylist() for some in ends), strict=True):
                    self._home.setdefault(hub, hub)
                    self._home[member] = hub

    def leads_nearer(self, url: str, target: str) -> bool | None:
        """Return whether a target is nearer than a URL to where the site sends that; None if it does not."""
        home = self._home.get(url)
        return None if home is None else _apart(target, home) < _apart(url, home)


def _apart(left: str, right: str) -> int:
    """Return how many words and signs one of two URLs has and the other has not."""
    ours, theirs = Counter(_TOKEN.findall(left)), Counter(_TOKEN.findall(right))
    return (ours - theirs).total() + (theirs - ours).total()


def unseen_target_share(statements: Statements, moves: Iterable[tuple[str, str, bool]]) -> int:
    """Return how many moves neither end where the site has a page, nor follow what it says of the URL.

    Args:
        statements: What the site says.
        moves: From which URL to which, and whether that was seen to be there.

    """
    found = 0
    for url, target, is_served in moves:
        nearer = statements.leads_nearer(url, target)
        found += not nearer if nearer is not None else not is_served
    return found
