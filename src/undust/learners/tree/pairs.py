"""Which two nodes of a tree hold the same pages (Lei et al., algorithm 2).

For each cluster the nodes that it touches; only nodes that meet in some cluster are compared at all.
A node and one above it share URLs by their nature, not by duplication, so such pairs are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.tree import PatternTree

    Ints = NDArray[np.int64]

_PAIRS_AT_ONCE = 1 << 22


def duplicate_nodes(tree: PatternTree, cluster: Ints, min_overlap: float) -> list[tuple[int, int]]:
    """Return ordered pairs of nodes that share enough duplicates, a node and itself included.

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
    found = overlap >= min_overlap
    above = [set(tree.ancestors(node)) for node in range(count)]
    pairs = zip(left[found].tolist(), right[found].tolist(), strict=True)
    return [(one, other) for one, other in pairs if one not in above[other] and other not in above[one]]


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
    codes = np.concatenate([code for code, _ in levels])
    code, place = np.unique(codes, return_inverse=True)
    sums = np.bincount(place.reshape(-1), np.concatenate([urls for _, urls in levels]), len(code))
    return code // count, code % count, sums.astype(np.int64)


def _common(cluster: Ints, node: Ints, urls: Ints, count: int) -> tuple[Ints, Ints]:
    """Return for each ordered pair of nodes that meet (as a code) the URLs in their common clusters."""
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    lengths = np.diff(np.append(starts, len(cluster)))
    codes, sums = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for length in np.unique(lengths):
        own = starts[lengths == length]
        step = max(1, _PAIRS_AT_ONCE // int(length) ** 2)
        for begin in range(0, len(own), step):
            place = own[begin : begin + step, None] + np.arange(length)
            pairs = node[place][:, :, None] * count + node[place][:, None, :]
            weights = urls[place][:, :, None] + urls[place][:, None, :]
            codes, sums = _added(codes, sums, pairs.reshape(-1), weights.reshape(-1))
    return codes, sums


def _added(codes: Ints, sums: Ints, more: Ints, weights: Ints) -> tuple[Ints, Ints]:
    code, place = np.unique(np.concatenate([codes, more]), return_inverse=True)
    total = np.bincount(place.reshape(-1), np.concatenate([sums, weights]), len(code))
    return code, total.astype(np.int64)
