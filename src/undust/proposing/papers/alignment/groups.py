"""Which URLs are aligned with each other, the columns they fall into, and the options of both.

A cluster up to the size of a sample is aligned as a whole. Of a larger one some samples are taken, in an
order that the seed decides; each shares one URL with the next, so that no pair is aligned twice and a chain
connects them all.

Published are the steps; scoring, gap costs, the size of samples and the generalization are not to be had
(section 6 of the specification names what other sources say). So each is an option, and `bench/alignment.py`
measures what the others would do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from undust._core import align_groups
from undust.errors import UndustError
from undust.urls.views import TokenView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Columns = NDArray[np.int32]


ALIGNERS = ("plain", "anchored", "banded")
SCORINGS = ("typed", "jaccard")
ORDERS = ("score", "share")
CHOICES = {"aligner": ALIGNERS, "scoring": SCORINGS, "order": ORDERS}
PAIR = 2
_BOUNDS = {
    "sample": (PAIR, 1_000),
    "samples": (1, 1 << 30),
    "band": (1, 1 << 30),
    "max_members": (1, 1_000),
    "max_forms": (1, 64),
    "min_clusters": (1, 1 << 30),
    "max_tokens": (1, 5_000),
}
"""So that no setting needs more time or memory than a machine has."""


@dataclass(frozen=True)
class AlignmentOptions:
    """As published, where something was published."""

    sample: int = 10
    """URLs of a cluster that are aligned with each other (K); 2 aligns pairs."""
    samples: int = 3
    """How many such samples of a larger cluster are taken."""
    aligner: str = "plain"
    """`plain` looks at all ways; `anchored` matches common beginnings and ends first, which costs no score,
    but decides between ways that are equally good; `banded` stays near the diagonal."""
    band: int = 8
    """How far `banded` may leave the diagonal, in tokens."""
    scoring: str = "typed"
    """`typed` punishes what cannot be the same: letters over digits, punctuation over anything else;
    `jaccard` does not."""
    order: str = "score"
    """Which two are aligned first: those with the highest `score`, or its highest `share` of the length."""
    gaps_count: bool = False
    """Whether a gap is a member of its column when columns are compared."""
    triplets: bool = True
    """Whether a percent triplet is one token; the paper mentions punctuation and digits only."""
    whole_parts: bool = True
    """Whether a part of a URL in which tokens vary and others come and go is taken as a whole."""
    word_runs: bool = True
    """Whether such a unit ends where the changes end, so that an id next to a title stays apart, and a title
    of any number of words is one unit."""
    either_reading: bool = True
    """With `word_runs`, whether URLs are read without them as well, and the better reading is used."""
    across_hosts: bool = False
    """Whether rules are pooled over the hosts of a site."""
    max_members: int = 5
    """Texts up to which a place is a list of them; with more it is a class (C_max)."""
    max_forms: int = 8
    """Forms that the optional parts of a rule may make; a sample with more is refused."""
    halves: bool = True
    """Whether a refused sample is tried again in halves, down to pairs."""
    min_clusters: int = 2
    """Clusters that a rule must be seen in."""
    constant_share: float = 0.5
    """In more than this share of its clusters a text must have been seen, to be written for all."""
    max_tokens: int = 500
    """Longer URLs are not aligned: the work grows with the square."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                message = f"alignment.{name}={getattr(self, name)} is unknown; there are {', '.join(known)}"
                raise UndustError(message)
        for name, (least, most) in _BOUNDS.items():
            if not least <= getattr(self, name) <= most:
                message = f"alignment.{name}={getattr(self, name)} should be between {least:,} and {most:,}"
                raise UndustError(message)


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


GAP = "λ"


class Spot(NamedTuple):
    """A column: the tokens that were seen there, sorted, and whether some URL has none."""

    tokens: tuple[str, ...]
    has_gap: bool

    def __str__(self) -> str:
        if len(self.tokens) == 1 and not self.has_gap:
            return self.tokens[0]
        return f"{{{','.join((*self.tokens, *([GAP] if self.has_gap else [])))}}}"


class Consensus(NamedTuple):
    """The columns of URLs that were aligned, and the column of each token of each URL."""

    spots: tuple[Spot, ...]
    places: tuple[tuple[int, ...], ...]
    """By URL, in their order."""
    score: float
    """Of the last two sequences that were aligned."""

    def __str__(self) -> str:
        return " ".join(map(str, self.spots))


def consensus(urls: Sequence[str], options: AlignmentOptions | None = None) -> Consensus:
    """Return the consensus of some URLs.

    >>> print(consensus(["http://ex.com/a/1.html", "http://www.ex.com/a/1.html"]))
    http : / / {www,λ} {.,λ} ex . com / a / 1 . html
    """
    chosen = options or AlignmentOptions()
    groups = groups_from([urls], chosen)
    found = align(groups, chosen)
    texts = groups.vocabulary.take(groups.codes).to_pylist()
    seen: list[set[str]] = [set() for _ in range(int(found.widths.sum()))]
    for text, column in zip(texts, found.columns.tolist(), strict=True):
        seen[column].add(text)
    counts = np.bincount(found.columns, minlength=len(seen))
    rows = len(groups.offsets) - 1
    spots = (
        Spot(tuple(sorted(tokens)), bool(count < rows)) for tokens, count in zip(seen, counts, strict=True)
    )
    places = (
        tuple(found.columns[start:end].tolist())
        for start, end in zip(groups.offsets[:-1], groups.offsets[1:], strict=True)
    )
    return Consensus(tuple(spots), tuple(places), float(found.scores.sum()))
