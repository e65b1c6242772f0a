"""What the sizes of answers show about two URLs without their pages: a log, an index.

Two visits to one page mostly have one size, or nearly; two pages seldom do. How seldom, the site shows: pairs
of its URLs drawn at random. Content, where there is some, goes before sizes, and what was asked of the site
itself before both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undust.judging.effect import SUPPORTS
from undust.judging.evidence import ClusterEvidence
from undust.judging.size_offsets import size_offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

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
