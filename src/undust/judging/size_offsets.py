"""What a form of a page always adds to its size: a line on the page for the printer, a frame around it.

URLs of two shapes that name the same things (numbers, words that others name too) may show one page. Where
their sizes mostly differ by one and the same number of bytes, that number belongs to the shape and not to the
page, and sizes are compared without it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Keys = dict[tuple[str, ...], dict[str, int]]

LEAST_PAIRS = 4
"""Pairs of URLs that must differ by the same number of bytes …"""
_MOST_PAIRS = 0.6
"""… and the share of all pairs of the two shapes that they must be."""
_CONSTANT = 0.9
"""A text that this many URLs of a shape have belongs to the shape."""
_LARGEST_GROUP = 24
"""URLs that name the same things; more of them say nothing."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Za-z]{1,12}(?:\.[a-z]{1,5})?")


def size_offsets(urls: Sequence[str], sizes: Ints) -> Ints:
    """Return of each URL how many bytes its shape adds, beside other shapes of the same pages.

    Args:
        urls: In normal form.
        sizes: Of their answers; below zero where it is not known.

    """
    shapes = [_shape(url) for url in urls]
    steps = _steps(_by_name(urls, shapes, sizes), sizes)
    added = _added(steps, Counter(shapes))
    found = {shape: added[shape] if shape in added else _summed(shape, added) for shape in set(shapes)}
    return np.fromiter((found[shape] for shape in shapes), np.int64, len(shapes))


def _summed(shape: str, added: Mapping[str, int]) -> int:
    """Return what a rare shape adds: what each of its parameters does alone."""
    path, _, query = shape.partition("?")
    bare = added.get(f"{path}?", 0)
    return bare + sum(added.get(f"{path}?{name}", bare) - bare for name in query.split("&") if name)


def _shape(url: str) -> str:
    path, _, query = url.partition("://")[2].partition("?")
    segments = [
        "0" if any(map(str.isdigit, part)) else part if _WORD.fullmatch(part) else "*"
        for part in path.split("/")[1:]
    ]
    values = (part.partition("=") for part in query.split("&") if part)
    names = sorted(f"{name}={value}" if _WORD.fullmatch(value) else name for name, _, value in values)
    return f"{path.partition('/')[0]}/{'/'.join(segments)}?{'&'.join(names)}"


def _by_name(urls: Sequence[str], shapes: Sequence[str], sizes: Ints) -> Keys:
    """Return by what URLs name a row of each shape; what only one URL names, as a session, does not count."""
    tokens = [set(_TOKEN.findall(url.partition("://")[2].partition("/")[2])) for url in urls]
    count = Counter(token for some in tokens for token in some)
    of_shape: dict[str, Counter[str]] = defaultdict(Counter)
    total = Counter(shapes)
    for some, shape in zip(tokens, shapes, strict=True):
        of_shape[shape].update(some)
    found: Keys = defaultdict(dict)
    for row in np.flatnonzero(sizes >= 0).tolist():
        shape = shapes[row]
        own = of_shape[shape]
        named = (
            token for token in tokens[row] if count[token] > 1 and own[token] <= _CONSTANT * total[shape]
        )
        if key := tuple(sorted(named)):
            found[key].setdefault(shape, row)
    return found


def _steps(by_name: Keys, sizes: Ints) -> list[tuple[int, str, str, int]]:
    """Return which shapes differ by one number of bytes: in how many pairs, the shapes, and the bytes."""
    apart: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for rows in by_name.values():
        some = sorted(rows.items())[:_LARGEST_GROUP]
        for place, (left, row) in enumerate(some):
            for right, other in some[place + 1 :]:
                apart[left, right][int(sizes[other] - sizes[row])] += 1
    steps = []
    for (left, right), counts in sorted(apart.items()):
        step, pairs = max(counts.items(), key=lambda item: (item[1], -abs(item[0]), item[0]))
        if pairs >= LEAST_PAIRS and pairs >= _MOST_PAIRS * counts.total():
            steps.append((pairs, left, right, step))
    return sorted(steps, key=lambda each: (-each[0], each[1:]))


def _added(steps: Sequence[tuple[int, str, str, int]], urls: Mapping[str, int]) -> Mapping[str, int]:
    """Return what each shape adds, from the steps between shapes; those of most pairs are believed first.

    The shape with most URLs adds nothing: sizes are those of the usual form.
    """
    group: dict[str, str] = {}
    added: dict[str, int] = {}
    members: dict[str, list[str]] = {}
    for _, left, right, step in steps:
        for shape in (left, right):
            if shape not in group:
                group[shape], added[shape], members[shape] = shape, 0, [shape]
        if group[left] == group[right]:
            continue
        shift = added[left] + step - added[right]
        for shape in members.pop(group[right]):
            group[shape] = group[left]
            added[shape] += shift
            members[group[left]].append(shape)
    for some in members.values():
        usual = added[max(some, key=lambda shape: (urls[shape], shape))]
        for shape in some:
            added[shape] -= usual
    return added
