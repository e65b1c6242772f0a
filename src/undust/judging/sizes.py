"""What the sizes of answers show about two URLs without their pages: a log, an index.

Two visits to one page mostly have one size, or nearly; two pages seldom do. How seldom, the site shows: pairs
of its URLs drawn at random. Content, where there is some, goes before sizes, and what was asked of the site
itself before both.

A form of a page may always add to its size: a line for the printer, a frame around it. URLs of two shapes
that name the same things (numbers, words that others name too) may show one page. Where their sizes mostly
differ by one and the same number of bytes, that number belongs to the shape and not to the page, and sizes
are compared without it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np

from undust.judging.effect import SUPPORTS
from undust.judging.site import ClusterEvidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
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
_MOST = 4.0
"""No pair of URLs says more than this."""
_BYTES, _SHARES = (0, 8, 64), (0.01, 0.05)
"""How far apart two sizes are: classes by bytes, then by their share of the larger one."""
_SAME = np.array([0.75, 0.08, 0.07, 0.04, 0.03, 0.03])
"""How often two visits to one page fall into each class."""
_DRAWN, _LEAST_DRAWN = 4000, 400
"""Pairs of URLs of one shape that show how alike the sizes of different pages are; where there are too few,
pairs of any shapes do."""
_OFTEN = 0.3
"""The share of pairs with equal sizes from which on they are those of a template."""
FEW = 60
"""A size that more URLs have than this is that of a notice, or of a picture everybody loads."""


class SizeEvidence:
    """Evidence from sizes, below that of content and of pairs that were asked about.

    Args:
        site: The clusters of the site.
        nodes: The nodes that rows stand for.
        sizes: Of each row, the least and the largest, if other ones than were seen are compared.
        has_content: Whether to believe digests that differ; those of raw bytes differ at every visit.
        asked: Pairs of URLs in normal form, and whether the site shows one page for both.
        seed: Another number draws other pairs.

    """

    def __init__(  # noqa: PLR0913 -- all that is known
        self,
        site: SiteClusters,
        nodes: Ints,
        *,
        sizes: tuple[Ints, Ints] | None = None,
        has_content: bool = True,
        asked: Iterable[tuple[str, str, bool]] = (),
        seed: int = 0,
    ) -> None:
        self._low, self._high = sizes or (site.size_min[nodes], site.size_max[nodes])
        self._content = ClusterEvidence(site, nodes) if has_content else None
        self._digest = site.digest[nodes]
        self._page = site.cluster_of_node[nodes]
        self._says = self._told(_shapes(site.node_urls.take(nodes)), seed)
        self._asked = _numbered(site, nodes, asked)

    def _told(self, shape: Ints, seed: int) -> Floats:
        """Return what each class says: how much more often one page falls into it than two of one shape."""
        known = np.flatnonzero(self._high >= 0)
        _, size, count = np.unique(self._high[known], return_inverse=True, return_counts=True)
        rare = known[count[size.reshape(-1)] <= FEW]
        known = rare if len(rare) >= _LEAST_DRAWN // 4 else known
        if len(known) < 2:  # noqa: PLR2004 -- a pair
            return np.zeros(len(_SAME))
        known = known[np.argsort(shape[known], kind="stable")]
        chance = np.random.Generator(np.random.PCG64(seed))
        place = chance.integers(0, len(known), _DRAWN)
        starts = np.searchsorted(shape[known], shape[known[place]])
        ends = np.searchsorted(shape[known], shape[known[place]], side="right")
        left, right = known[place], known[chance.integers(starts, ends)]
        if (left != right).sum() < _LEAST_DRAWN:
            left, right = known[place], chance.choice(known, _DRAWN)
        apart = left != right
        drawn = np.bincount(self._class(left[apart], right[apart]), minlength=len(_SAME)) + 1.0
        share = drawn / drawn.sum()
        says: Floats = np.clip(np.log(_SAME / share), -_MOST, _MOST)
        # Among pairs drawn by chance are forms of one page, which make equal sizes seem to say less.
        if share[0] < _OFTEN:
            says[0] = max(says[0], SUPPORTS)
        return says

    def _class(self, left: Ints, right: Ints) -> Ints:
        gap = np.maximum(self._low[left], self._low[right]) - np.minimum(self._high[left], self._high[right])
        larger = np.maximum(np.maximum(self._high[left], self._high[right]), 1)
        near = [gap <= most for most in _BYTES] + [gap <= share * larger for share in _SHARES]
        return np.select(near, list(range(len(near))), len(near)).astype(np.int64)

    def silent(self, rows: Ints) -> Bools:
        """Return of URLs whether nothing is known of them."""
        unsized = self._high[rows] < 0
        return unsized if self._content is None else unsized & self._content.silent(rows)

    def ratios(self, left: Ints, right: Ints) -> Floats:
        """Return what is known of each pair."""
        found: Floats = self._says[self._class(left, right)].astype(np.float64)
        found[(self._high[left] < 0) | (self._high[right] < 0)] = 0.0
        equal = (self._digest[left] == self._digest[right]) & (self._digest[left] >= 0)
        found[equal | (self._page[left] == self._page[right])] = _MOST
        if self._content is not None:
            told = self._content.ratios(left, right)
            found = np.where(told != 0, told, found)
        for place, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True) if self._asked else ()):
            said = self._asked.get((min(pair), max(pair)))
            if said is not None:
                found[place] = said
        return found


def _shapes(urls: pa.Array) -> Ints:
    """Return a number for each URL, the same for those of one host, folder, depth and set of parameters."""
    texts = []
    for url in urls.to_pylist():
        path, _, query = url.partition("://")[2].partition("?")
        host, _, rest = path.partition("/")
        names = sorted(part.partition("=")[0] for part in query.split("&"))
        texts.append(f"{host}/{rest.partition('/')[0]}/{rest.count('/')}?{'&'.join(names)}")
    return np.unique(np.array(texts, dtype=np.str_), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _numbered(
    site: SiteClusters, nodes: Ints, asked: Iterable[tuple[str, str, bool]]
) -> dict[tuple[int, int], float]:
    """Return what was asked by the numbers of rows."""
    pairs = list(asked)
    if not pairs:
        return {}
    rows = {url: row for row, url in enumerate(site.node_urls.take(nodes).to_pylist())}
    found: dict[tuple[int, int], float] = {}
    for left, right, is_one in pairs:
        if left in rows and right in rows:
            one, other = sorted((rows[left], rows[right]))
            found[one, other] = _MOST if is_one else -_MOST
    return found


def sizes_without_form(
    site: SiteClusters, nodes: Ints, images: Sequence[str] | None = None
) -> tuple[Ints, Ints]:
    """Return of each row the least and the largest size, without what the shape of its URL always adds.

    Args:
        site: The clusters of the site.
        nodes: The nodes that rows stand for.
        images: What rules that hold make of their URLs: there are fewer shapes of those, each of more URLs.

    """
    low, high = site.size_min[nodes], site.size_max[nodes]
    steady = np.where(low == high, high, -1)
    added = size_offsets(site.node_urls.take(nodes).to_pylist() if images is None else images, steady)
    known = high >= 0
    # What is added may be more than the smallest pages have.
    least = min(0, int((low - added)[known].min(initial=0)))
    return np.where(known, low - added - least, -1), np.where(known, high - added - least, -1)


def pages_by_size(
    site: SiteClusters, nodes: Ints, sizes: tuple[Ints, Ints] | None = None
) -> tuple[Ints, Bools]:
    """Return a number for each row, the same for those that may show one page, and which rows say anything.

    What evidence joined is one page. Of the others, those are that were always seen with one size, which few
    others have.
    """
    page = site.cluster_of_node[nodes].astype(np.int64)
    alone = site.nodes_of_cluster[page] == 1
    least, size = sizes or (site.size_min[nodes], site.size_max[nodes])
    steady = alone & (size > 0) & (least == size)
    _, place, counts = np.unique(size[steady], return_inverse=True, return_counts=True)
    few = counts[place.reshape(-1)] <= FEW
    rows = np.flatnonzero(steady)[few]
    page[rows] = site.cluster_count + place.reshape(-1)[few]
    says = ~alone | site.known[nodes] | (size >= 0)
    return np.unique(page, return_inverse=True)[1].reshape(-1).astype(np.int64), says


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
