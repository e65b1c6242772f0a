"""Which URLs are aligned with each other, and the columns they fall into.

A cluster up to the size of a sample is aligned as a whole. Of a larger one some samples are taken, in an
order that the seed decides; each shares one URL with the next, so that no pair is aligned twice and a chain
connects them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from undust._core import align_groups
from undust.proposing.papers.alignment.options import PAIR
from undust.urls.views import TokenView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.alignment.options import AlignmentOptions

    Ints = NDArray[np.int64]
    Columns = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TokenGroups:
    """Rows of tokens in groups; rows of a group are in the order of their URLs."""

    offsets: Ints
    codes: NDArray[np.uint32]
    vocabulary: pa.Array
    groups: Ints
    """Group g has the rows from `groups[g]` to `groups[g + 1]`."""
    clusters: Ints
    """Of each group."""
    left_out: int = 0
    """URLs of larger clusters that no sample has."""
    too_long: int = 0

    def __len__(self) -> int:
        return len(self.clusters)

    def only(self, wanted: NDArray[np.bool_]) -> TokenGroups:
        """Return some of the groups."""
        numbers = np.flatnonzero(wanted)
        return self._taken(self.groups[numbers], np.diff(self.groups)[numbers], self.clusters[numbers])

    def halves(self) -> TokenGroups:
        """Return two groups for each of three rows and more; the row in the middle is in both."""
        sizes = np.diff(self.groups)
        large = np.flatnonzero(sizes > PAIR)
        start, size = self.groups[large], sizes[large]
        starts = np.stack((start, start + size // 2), axis=1).reshape(-1)
        lengths = np.stack((size // 2 + 1, size - size // 2), axis=1).reshape(-1)
        return self._taken(starts, lengths, np.repeat(self.clusters[large], 2))

    def _taken(self, starts: Ints, sizes: Ints, clusters: Ints) -> TokenGroups:
        rows = spans(starts, sizes)
        lengths = np.diff(self.offsets)[rows]
        codes = self.codes[spans(self.offsets[rows], lengths)]
        return replace(
            self, offsets=offsets_of(lengths), codes=codes, groups=offsets_of(sizes), clusters=clusters
        )

    @property
    def pairs(self) -> Ints:
        """How many pairs of URLs each group has."""
        sizes = np.diff(self.groups)
        return np.asarray(sizes * (sizes - 1) // 2)


def offsets_of(lengths: Ints) -> Ints:
    """Return where stretches of these lengths begin, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def spans(starts: Ints, lengths: Ints) -> Ints:
    """Return the numbers of all places in some stretches, one after the other."""
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0)
    return np.asarray(places + np.repeat(starts - (ends - lengths), lengths))


def joined(parts: Sequence[TokenGroups]) -> TokenGroups:
    """Return groups over one vocabulary, one after the other."""
    return replace(
        parts[0],
        offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        codes=np.concatenate([part.codes for part in parts]),
        groups=offsets_of(np.concatenate([np.diff(part.groups) for part in parts])),
        clusters=np.concatenate([part.clusters for part in parts]),
    )


class AlignedUrls(NamedTuple):
    """URLs that are aligned, by their numbers, with the group of each; and the cluster of each group."""

    urls: Ints
    group: Ints
    clusters: Ints


class Aligned(NamedTuple):
    """The column of each token in the consensus of its group, the width of each, and the last scores."""

    columns: Columns
    widths: Columns
    scores: NDArray[np.float64]

    def only(self, wanted: NDArray[np.bool_], groups: TokenGroups) -> Aligned:
        """Return the alignment of some of the groups."""
        tokens = np.diff(groups.offsets[groups.groups])
        return Aligned(self.columns[np.repeat(wanted, tokens)], self.widths[wanted], self.scores[wanted])


def joined_columns(parts: Sequence[Aligned]) -> Aligned:
    """Return alignments one after the other."""
    return Aligned(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def groups_of(site: SiteClusters, options: AlignmentOptions) -> TokenGroups:
    """Return the groups of a site's clusters."""
    sample = chosen(site.cluster_of_node, options)
    some, place = np.unique(sample.urls, return_inverse=True)
    view = TokenView.of(site.node_urls.take(pa.array(some)), "types" if options.triplets else "runs")
    sizes = np.bincount(site.cluster_of_node[site.cluster_of_node >= 0], minlength=1)
    left_out = int(sizes[sizes >= PAIR].sum()) - len(some)
    rows = sample._replace(urls=place.reshape(-1))
    return replace(_gathered(view, rows, options.max_tokens), left_out=left_out)


def groups_from(clusters: Sequence[Sequence[str]], options: AlignmentOptions) -> TokenGroups:
    """Return groups of texts as they are given, each as a whole."""
    texts = [text for cluster in clusters for text in sorted(cluster)]
    view = TokenView.of(texts, "types" if options.triplets else "runs")
    sizes = [len(cluster) for cluster in clusters]
    numbers = np.arange(len(clusters))
    rows = AlignedUrls(np.arange(len(texts)), np.repeat(numbers, sizes), numbers)
    return _gathered(view, rows, options.max_tokens)


def chosen(cluster_of_node: Ints, options: AlignmentOptions) -> AlignedUrls:
    """Return the nodes that are aligned."""
    nodes = np.flatnonzero(cluster_of_node >= 0)
    cluster = cluster_of_node[nodes]
    size = np.bincount(cluster, minlength=1)[cluster]
    nodes, cluster, size = (each[size >= PAIR] for each in (nodes, cluster, size))
    is_large = size > options.sample
    order = np.lexsort((nodes, np.where(is_large, _mixed(nodes, options.seed), 0), cluster))
    nodes, cluster, is_large = nodes[order], cluster[order], is_large[order]
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    place = np.arange(len(nodes)) - np.repeat(starts, np.diff(np.append(starts, len(nodes))))
    step = options.sample - 1
    number = np.where(is_large, place // step, 0)
    # Where a sample begins, the one before it ends.
    shared = np.flatnonzero(is_large & (place % step == 0) & (place > 0))
    nodes = np.concatenate((nodes, nodes[shared]))
    cluster = np.concatenate((cluster, cluster[shared]))
    number = np.concatenate((number, number[shared] - 1))
    kept = number < options.samples
    nodes, cluster, number = nodes[kept], cluster[kept], number[kept]
    order = np.lexsort((nodes, number, cluster))
    nodes, cluster, number = nodes[order], cluster[order], number[order]
    is_new = (np.diff(cluster, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0)
    return AlignedUrls(nodes, np.cumsum(is_new) - 1, cluster[is_new])


def _gathered(view: TokenView, chosen_rows: AlignedUrls, max_tokens: int) -> TokenGroups:
    rows, group, clusters = chosen_rows
    ends = view.offsets.to_numpy()
    codes = view.codes.to_numpy()
    # Without the sentinels.
    starts, lengths = ends[:-1] + 1, np.maximum(np.diff(ends) - 2, 0)
    fits = lengths[rows] <= max_tokens
    too_long = len(np.unique(rows[~fits]))
    rows, group = rows[fits], group[fits]
    several = np.bincount(group, minlength=len(clusters)) >= PAIR
    rows, group = rows[several[group]], group[several[group]]
    numbers = np.flatnonzero(several)
    return TokenGroups(
        offsets_of(lengths[rows]),
        codes[spans(starts[rows], lengths[rows])],
        view.vocabulary,
        np.append(np.searchsorted(group, numbers), len(rows)),
        clusters[numbers],
        too_long=too_long,
    )


def align(groups: TokenGroups, options: AlignmentOptions) -> Aligned:
    """Return the alignment of each group."""
    found = align_groups(
        groups.offsets,
        groups.codes,
        groups.groups,
        groups.vocabulary,
        typed=options.scoring == "typed",
        by_share=options.order == "share",
        gaps_count=options.gaps_count,
        anchored=options.aligner == "anchored",
        band=options.band if options.aligner == "banded" else 0,
    )
    return Aligned(*(pa.array(each).to_numpy() for each in found))


def _mixed(nodes: Ints, seed: int) -> NDArray[np.uint64]:
    """Return a number for each node that has nothing to do with the order of URLs."""
    mixed = nodes.astype(np.uint64) + np.uint64(seed % (1 << 63)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
