"""Which two nodes of a tree hold the same pages (Lei et al., algorithm 2).

For each cluster the nodes that it touches; only nodes that meet in some cluster are compared at all.
A node and one above it share URLs by their nature, not by duplication, so such pairs are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.urls.tree import PatternTree

    Ints = NDArray[np.int64]

_PAIRS_AT_ONCE = 1 << 22


def duplicate_nodes(tree: PatternTree, cluster: Ints, min_overlap: float) -> list[tuple[int, int]]:
    """Return ordered pairs of nodes that share enough duplicates, a node and itself included."""
    pairs = overlaps(tree, cluster)
    above = [set(tree.ancestors(node)) for node in range(len(tree))]
    return [
        (one, other)
        for (one, other), overlap in pairs.items()
        if overlap >= min_overlap and one not in above[other] and other not in above[one]
    ]


def overlaps(tree: PatternTree, cluster: Ints) -> dict[tuple[int, int], float]:
    """Return the overlap of all ordered pairs of nodes that meet in some cluster.

    `cluster` is that of each row of the tree's columns. The overlap of two nodes is the share of their
    URLs that lie in clusters common to both (equation 6); of a node with itself, its duplicate rate.
    """
    touched = _touched(tree, cluster)
    count = len(tree)
    codes, sums = _common(*touched, count)
    sizes = np.array([node.count for node in tree.nodes], np.int64)
    clusters = np.bincount(touched[1], minlength=count)
    left, right = np.divmod(codes, max(count, 1))
    overlap = sums / (sizes[left] + sizes[right])
    overlap[left == right] = 1 - (clusters / np.maximum(sizes, 1))[left[left == right]]
    return dict(zip(zip(left.tolist(), right.tolist(), strict=True), overlap.tolist(), strict=True))


def _touched(tree: PatternTree, cluster: Ints) -> tuple[Ints, Ints, Ints]:
    """Return each cluster with each node it touches and the number of URLs there, in order."""
    count = max(len(tree), 1)
    rows = np.flatnonzero(tree.leaf >= 0)
    code, urls = np.unique(cluster[rows] * count + tree.leaf[rows], return_counts=True)
    parent = np.array([-1 if node.parent is None else node.parent for node in tree.nodes], np.int64)
    levels = [(code, urls)]
    while len(code):
        above = parent[code % count]
        stays = above >= 0
        code, urls = code[stays] // count * count + above[stays], urls[stays]
        levels.append((code, urls))
    code, sums = _summed([code for code, _ in levels], [urls for _, urls in levels])
    return code // count, code % count, sums


def _common(cluster: Ints, node: Ints, urls: Ints, count: int) -> tuple[Ints, Ints]:
    """Return for each ordered pair of nodes that meet (as a code) the URLs in their common clusters."""
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    lengths = np.diff(np.append(starts, len(cluster)))
    codes, sums = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    waiting = 0
    for length in np.unique(lengths):
        own = starts[lengths == length]
        step = max(1, _PAIRS_AT_ONCE // int(length) ** 2)
        for begin in range(0, len(own), step):
            place = own[begin : begin + step, None] + np.arange(length)
            nodes, weight = _alike(node[place], urls[place])
            codes.append((nodes[:, :, None] * count + nodes[:, None, :]).reshape(-1))
            sums.append((weight[:, :, None] + weight[:, None, :]).reshape(-1))
            waiting += len(codes[-1])
            if waiting > _PAIRS_AT_ONCE:
                codes, sums = ([each] for each in _summed(codes, sums))
                waiting = 0
    return _summed(codes, sums)


def _alike(nodes: Ints, urls: Ints) -> tuple[Ints, Ints]:
    """Return each set of nodes once, with the URLs of all clusters that touch just these."""
    sets, place = np.unique(nodes, axis=0, return_inverse=True)
    sums = np.zeros_like(sets)
    np.add.at(sums, place.reshape(-1), urls)
    return sets, sums


def _summed(codes: list[Ints], sums: list[Ints]) -> tuple[Ints, Ints]:
    """Return each code once, in order, with the sum of what goes with it."""
    code, place = np.unique(np.concatenate(codes), return_inverse=True)
    return code, np.bincount(place.reshape(-1), np.concatenate(sums), len(code)).astype(np.int64)
