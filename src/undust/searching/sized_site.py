"""A site of which there are no pages, only URLs and sizes, as the judge and the learners take it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.judging import Site
from undust.judging.sizes import SizeEvidence, pages_by_size, sizes_without_form
from undust.rules import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

MOST_LOOKED_AT = 20_000
"""Of a larger site so many are looked at, drawn by chance."""
LEAST_CHANGING, _CHANGING = 3, 0.02
"""URLs that were seen with several digests, and their share, from which on digests tell no pages apart."""


def _drawn(found: SiteClusters, seed: int) -> NDArray[np.int64]:
    nodes = np.flatnonzero(found.cluster_of_node >= 0)
    if len(nodes) <= MOST_LOOKED_AT:
        return nodes
    chance = np.random.Generator(np.random.PCG64(seed))
    return np.sort(chance.choice(nodes, MOST_LOOKED_AT, replace=False))


def site_of_clusters(
    found: SiteClusters,
    *,
    asked: Iterable[tuple[str, str, bool]] = (),
    given: Sequence[Rule] = (),
    seed: int = 0,
) -> Site:
    """Return a site as the judge sees it, with what sizes tell where nothing else does.

    Args:
        found: Its clusters, with whatever evidence there is.
        asked: Pairs of URLs, and whether the site itself shows one page for both.
        given: Rules that hold: forms of pages are told apart behind them.
        seed: Another number draws other URLs of a large site.

    """
    nodes = _drawn(found, seed)
    urls = found.node_urls.take(pa.array(nodes)).cast(pa.large_string())
    images = pa.array(program_of(given).batch(urls)).to_pylist() if given else None
    sizes = sizes_without_form(found, nodes, images)
    page, says = pages_by_size(found, nodes, sizes)
    # Of a list of URLs no page is known; what is proposed from the URLs alone is asked about all the same.
    proposable = says if says.any() else np.ones(len(nodes), np.bool_)
    is_told = not has_raw_digests(found)
    evidence = SizeEvidence(found, nodes, sizes=sizes, has_content=is_told, asked=asked, seed=seed)
    site = Site.of(found, evidence, seed=seed)
    rows = np.searchsorted(np.flatnonzero(found.cluster_of_node >= 0), nodes)
    # A sitemap, or a page's own rel=canonical, names the URL that the site prefers.
    preferred = site.preferred[rows] | (found.evidence_of_pairs.facts.home[nodes] == nodes)
    return replace(site, urls=urls, page=page, is_labelled=proposable, preferred=preferred)


def has_raw_digests(found: SiteClusters) -> bool:
    """Return whether all that is known of pages are digests that change from one visit to the next."""
    if (found.sketch_row >= 0).any() or (found.label >= 0).any() or found.evidence_of_pairs.has_blocks:
        return False
    seen = found.cluster_of_node >= 0
    changing = int((found.is_changing & seen).sum())
    return changing >= LEAST_CHANGING and changing >= _CHANGING * int(seen.sum())


def clusters_by_size(found: SiteClusters) -> SiteClusters:
    """Return a site as learners of clusters take it, with URLs of one size as one page."""
    nodes = np.flatnonzero(found.cluster_of_node >= 0)
    page, says = pages_by_size(found, nodes, sizes_without_form(found, nodes))
    first = np.unique(page, return_index=True)[1]
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    cluster = np.full(len(found.cluster_of_node), -1, np.int64)
    cluster[nodes] = number[page]
    known = found.known.copy()
    known[nodes] |= says
    label = np.where(known & (cluster >= 0), cluster, -1)
    return replace(found, cluster_of_node=cluster, known=known, label=label)
