"""One site's observations, merged: each URL in normal form is one node with what is known of it.

Everything is a column over the nodes, in the order of their URLs, so that neither the order of rows
nor the size of batches can be seen in a result. Codes count from 0; -1 is "not known".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.reading.observations import SCHEMA
from undust.urls import normalize, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

_UNKNOWN = -1
_NOT_MODIFIED, _PARTIAL_CONTENT, _FIRST_REDIRECT, FIRST_ERROR = 304, 206, 300, 400
_GONE = (404, 410)
"""Statuses that mean that there is no page; other errors pass."""
EMPTY_DIGESTS = (
    "d41d8cd98f00b204e9800998ecf8427e",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
)
"""Of the empty text: MD5, SHA-1 in hex and as CDX files have it, SHA-256."""
NO_SHINGLE = np.uint32(0xFFFFFFFF)
"""The minimum over no shingles at all."""
MOST_EARLIER = 2000
"""Earlier sightings that are looked at to see how pages change."""
ODD = np.uint64(0x9E3779B97F4A7C15)

# Made once: there are crawls with millions of tiny sites, and making a scalar takes as long as using it.
_OK = pa.scalar(200, SCHEMA.field("status").type)
_NEVER = pa.scalar(np.iinfo(np.int64).min, pa.int64())
_NO_NUMBER, _ZERO, _FALSE = pa.scalar(_UNKNOWN, pa.int64()), pa.scalar(0, pa.int32()), pa.scalar(value=False)
_NO_CODE = pa.scalar(_UNKNOWN, pa.int32())
_EMPTY = pa.array([], pa.large_string())
_LONG_TEXT = 200
"""Bytes a URL: several times what is usual."""
_SLICE = 16_384
"""URLs that are brought to normal form at a time."""


@dataclass(frozen=True, slots=True)
class SightingCounts:
    """What became of the sightings of a site, or of many sites added up."""

    sightings: int = 0
    failed: int = 0
    """Sightings with a 4xx or 5xx; they are not used."""
    changing: int = 0
    """URLs whose content changed between sightings; the latest counts."""
    leaving: int = 0
    """URLs that redirect to another site; no evidence."""
    odd_sketches: int = 0
    """Sketches not used, since most of the site has another size."""

    def __add__(self, other: SightingCounts) -> SightingCounts:
        """Return the counts of both."""
        return SightingCounts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of one site; those not `observed` are only the targets of redirects and canonicals."""

    site: str
    urls: pa.Array
    """Normal forms, sorted."""
    seen_urls: pa.Array
    """The URLs as they were seen, sorted, each once."""
    seen_nodes: Ints
    """The node of each of them."""
    observed: Bools
    digest: Ints
    is_empty: Bools
    """The content is the empty text."""
    sketches: NDArray[np.uint32]
    """One row of k minima for each node that has a sketch."""
    sketch_row: Ints
    canonical: Ints
    redirect: Ints
    redirects: Bools
    """The latest sighting was a redirect to anywhere: earlier content no longer counts."""
    label: Ints
    size_min: Ints
    size_max: Ints
    is_changing: Bools
    blocks: pa.Array
    """What the latest content is made of (`undust.reading.text`), null where unknown."""
    title: pa.Array
    language: Ints
    listed: Bools
    """In a sitemap of the site."""
    earlier: Ints
    """Nodes that were seen before with blocks, once for each such sighting, as far as they are looked at …"""
    earlier_blocks: pa.Array
    earlier_title: pa.Array
    earlier_language: Ints
    """… and what they showed."""
    gone: pa.Array
    """Normal forms that were asked for, and never were a page; they are not nodes."""
    counts: SightingCounts

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def has_content(self) -> Bools:
        """Which nodes show something that can be compared."""
        return ~self.redirects & ((self.digest >= 0) | (self.sketch_row >= 0))

    def texts(self, nodes: Sequence[int] | Ints) -> list[str]:
        """Return the URLs of a few nodes."""
        return [str(url) for url in self.urls.take(pa.array(np.asarray(nodes, np.int64))).to_pylist()]


def nodes_of(observations: pa.Table, site: str, threads: int = 1) -> Nodes:
    """Merge the sightings of one site; columns that are missing count as unknown."""
    rows = _SightingColumns(observations)
    kept = rows.status < FIRST_ERROR
    missing = rows.column("url").filter(pa.array(np.isin(rows.status, _GONE)))
    rows = rows if kept.all() else _SightingColumns(observations.filter(pa.array(kept)))
    seen_codes, seen_urls = _coded(rows.column("url"))
    normal = changed_texts(seen_urls, partial(normalize, threads=threads))
    canonical_codes, canonicals = _targets(rows.column("canonical"), site, threads)
    redirect_codes, redirects = _targets(rows.column("redirect"), site, threads)
    texts = [each for each in (normal, canonicals, redirects) if len(each)]
    places, urls = _coded(pa.concat_arrays(texts) if len(texts) > 1 else (*texts, normal)[0])
    ends = np.cumsum([len(normal), len(canonicals)])
    seen_nodes, canonical_nodes, redirect_nodes = np.split(places, ends)
    node = seen_nodes[seen_codes]
    canonical = _through(canonical_nodes, canonical_codes)
    redirect = _through(redirect_nodes, redirect_codes)
    has_target = rows.is_valid("redirect") & ((redirect == _UNKNOWN) | (redirect != node))
    is_redirect = has_target | ((rows.status >= _FIRST_REDIRECT) & (rows.status != _NOT_MODIFIED))
    is_page = ~is_redirect & (rows.status != _NOT_MODIFIED)
    count = len(urls)
    time = rows.times()

    last = _latest(count, node, rows.status != _NOT_MODIFIED, time, is_redirect, redirect)
    digest, digests = _coded(rows.column("digest"))
    label, _ = _coded(rows.column("cluster"))
    language, _ = _coded(rows.column("page_language"))
    content = _Content.of(count, node, is_page, time=time, digest=digest, sketch=rows.column("sketch"))
    last_canonical = _latest(count, node, is_page & (canonical >= 0), time, canonical)
    last_label = _latest(count, node, label >= 0, time, label)
    size_min, size_max = _ranges(count, node, rows.sizes(), is_page & (rows.status != _PARTIAL_CONTENT))
    empty_digests = np.asarray(pc.is_in(digests, pa.array(EMPTY_DIGESTS, digests.type)), np.bool_)
    redirects_now = _through(is_redirect.astype(np.int64), last, 0) > 0
    target = _through(redirect, last)
    node_digest = _through(digest, content.row)
    latest = pa.array(content.row, mask=content.row < 0)
    earlier = _earlier(rows.is_valid("blocks") & is_page, node, content.row)
    return Nodes(
        site=site,
        urls=urls,
        seen_urls=seen_urls,
        seen_nodes=seen_nodes,
        observed=_marked(count, node),
        digest=node_digest,
        is_empty=_through(empty_digests.astype(np.int64), node_digest, 0) > 0,
        sketches=content.sketches,
        sketch_row=content.sketch_row,
        canonical=_through(canonical, last_canonical),
        redirect=np.where(redirects_now, target, _UNKNOWN),
        redirects=redirects_now,
        label=_through(label, last_label),
        size_min=size_min,
        size_max=size_max,
        is_changing=content.is_changing,
        blocks=rows.column("blocks").take(latest),
        title=rows.column("page_title").take(latest),
        language=_through(language, content.row),
        listed=_marked(count, node[np.asarray(pc.fill_null(rows.column("listed"), _FALSE), np.bool_)]),
        earlier=node[earlier],
        earlier_blocks=rows.column("blocks").take(pa.array(earlier)),
        earlier_title=rows.column("page_title").take(pa.array(earlier)),
        earlier_language=language[earlier],
        gone=_without(normalize(_coded(missing)[1], threads=threads), normal) if len(missing) else _EMPTY,
        counts=SightingCounts(
            sightings=len(kept),
            failed=int(len(kept) - kept.sum()),
            changing=int(content.is_changing.sum()),
            leaving=int((redirects_now & (target == _UNKNOWN) & _through_bool(has_target, last)).sum()),
            odd_sketches=content.odd_sketches,
        ),
    )


def _earlier(has_blocks: Bools, node: Ints, latest: Ints) -> Ints:
    """Return sightings other than the latest of their node, from all over the site."""
    rows: Ints = np.flatnonzero(has_blocks)
    rows = np.asarray(rows[latest[node[rows]] != rows], np.int64)
    spread = np.linspace(0, len(rows) - 1, min(len(rows), MOST_EARLIER)).astype(np.int64)
    return np.asarray(rows[spread], np.int64)


def _without(urls: pa.Array, others: pa.Array) -> pa.Array:
    """Return URLs, sorted and each once, that are not among others."""
    return _coded(urls.filter(pc.invert(pc.is_in(urls, value_set=others))))[1]


class _SightingColumns:
    """The columns of a table of observations, those that are missing filled with nulls."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        status = self.column("status")
        self.status: Ints = np.asarray(pc.fill_null(status, _OK), np.int64)

    def column(self, name: str) -> pa.Array:
        kind = SCHEMA.field(name).type
        wide = pa.large_string() if kind == pa.string() else kind
        if name not in self._table.column_names:
            return pa.nulls(len(self._table), wide)
        column = self._table[name]
        column = column if column.type == wide else column.cast(wide)
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)

    def is_valid(self, name: str) -> Bools:
        return np.asarray(pc.is_valid(self.column(name)), np.bool_)

    def times(self) -> Ints:
        column = self.column("time")
        if column.null_count == len(column):
            return np.zeros(len(column), np.int64)
        microseconds = column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        return np.asarray(pc.fill_null(microseconds, _NEVER))

    def sizes(self) -> Ints:
        return np.asarray(pc.fill_null(self.column("size"), _NO_NUMBER))


@dataclass(frozen=True, eq=False)
class _Content:
    """The latest content of each node: its row, and its sketch if that has the site's usual size."""

    row: Ints
    sketches: NDArray[np.uint32]
    sketch_row: Ints
    is_changing: Bools
    odd_sketches: int

    @classmethod
    def of(  # noqa: PLR0913 -- the columns of a sighting
        cls, count: int, node: Ints, is_page: Bools, *, time: Ints, digest: Ints, sketch: pa.Array
    ) -> _Content:
        sizes = np.asarray(pc.fill_null(pc.list_value_length(sketch), _ZERO), np.int64)
        has_content = is_page & ((digest >= 0) | (sizes > 0))
        tie = _tie_breaker(node, has_content & (sizes > 0), sketch)
        row = _latest(count, node, has_content, time, digest, tie)
        usual = int(np.bincount(sizes[sizes > 0]).argmax()) if (sizes > 0).any() else 0
        has_sketch = _through(sizes, row, 0) == usual if usual else np.zeros(count, np.bool_)
        matrix = _matrix(sketch, row[has_sketch], usual)
        is_full = (matrix != NO_SHINGLE).any(axis=1)
        sketch_row = np.full(count, _UNKNOWN, np.int64)
        sketch_row[np.flatnonzero(has_sketch)[is_full]] = np.arange(is_full.sum())
        changes, _, _ = counted(node[has_content & (digest >= 0)], digest[has_content & (digest >= 0)])
        is_changing = np.bincount(changes, minlength=count) > 1
        odd = int(((sizes > 0) & (sizes != usual)).sum())
        return cls(row, matrix if is_full.all() else matrix[is_full], sketch_row, is_changing, odd)


def _tie_breaker(node: Ints, has_sketch: Bools, sketch: pa.Array) -> Ints:
    # Sightings at one time with one digest may still differ in their sketch; only those of
    # nodes seen more than once can, and they are few.
    several = np.flatnonzero(has_sketch & (np.bincount(node, minlength=1)[node] > 1))
    tie = np.zeros(len(node), np.int64)
    if len(several):
        lists = sketch.take(pa.array(several))
        sizes = np.asarray(pc.list_value_length(lists), np.int64)
        starts = np.cumsum(sizes) - sizes
        place = np.arange(sizes.sum()) - np.repeat(starts, sizes) + 1
        minima = np.asarray(lists.flatten(), np.uint64) * (place.astype(np.uint64) * ODD + ODD)
        tie[several] = (np.add.reduceat(minima, starts) >> np.uint64(1)).astype(np.int64)
    return tie


def _matrix(sketch: pa.Array, rows: Ints, size: int) -> NDArray[np.uint32]:
    if not size:
        return np.zeros((0, 0), np.uint32)
    return np.asarray(sketch.take(pa.array(rows)).flatten(), np.uint32).reshape(-1, size)


def is_ascending(texts: pa.Array) -> bool:
    """Return whether texts are all different and in order already: then nothing has to be copied."""
    if texts.null_count:
        return False
    later = pc.all(pc.less(texts.slice(0, max(0, len(texts) - 1)), texts.slice(1)))
    return bool(later.as_py() is not False)


def _coded(column: pa.Array) -> tuple[Ints, pa.Array]:
    """Return a column's codes and its vocabulary; codes are ranks in the sorted vocabulary."""
    if column.null_count == len(column):
        return np.full(len(column), _UNKNOWN, np.int64), _EMPTY
    if is_ascending(column):
        return np.arange(len(column)), column
    if column.null_count == 0 and column.nbytes > _LONG_TEXT * len(column):
        return _sorted_codes(column)
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    rank = np.empty(len(order), np.int64)
    rank[np.asarray(order)] = np.arange(len(order))
    codes = np.asarray(pc.fill_null(encoded.indices, _NO_CODE), np.int64)
    return _through(rank, codes), encoded.dictionary.take(order)


def _sorted_codes(column: pa.Array) -> tuple[Ints, pa.Array]:
    """Return the same of long texts by sorting all: a dictionary would hold them twice more."""
    order = np.asarray(pc.sort_indices(column))
    texts = column.take(pa.array(order))
    is_new = np.ones(len(texts), np.bool_)
    is_new[1:] = np.asarray(pc.not_equal(texts.slice(0, len(texts) - 1), texts.slice(1)))
    codes = np.empty(len(texts), np.int64)
    codes[order] = np.cumsum(is_new) - 1
    return codes, texts if is_new.all() else texts.filter(pa.array(is_new))


def changed_texts(texts: pa.Array, work: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Return what is made of texts, a few at a time: the same array if all stay, for one copy is enough."""
    made, is_same = [], True
    for start in range(0, len(texts), _SLICE):
        part = texts.slice(start, _SLICE)
        found = pa.array(work(part))
        stays = found.equals(part)
        made.append(part if stays else found)
        is_same = is_same and stays
    return texts if is_same else pa.concat_arrays(made)


def _targets(column: pa.Array, site: str, threads: int) -> tuple[Ints, pa.Array]:
    """Return codes and normal forms of targets; those on other sites have no code."""
    codes, texts = _coded(column)
    if not len(texts):
        return codes, texts
    inside = np.asarray(pc.fill_null(pc.equal(site_of(texts), site), _FALSE), np.bool_)
    place = np.where(inside, np.cumsum(inside) - 1, _UNKNOWN)
    return _through(place, codes), normalize(texts.filter(pa.array(inside)), threads=threads)


def _through(values: Ints, codes: Ints, missing: int = _UNKNOWN) -> Ints:
    """Return the value of each code, and `missing` where there is no code."""
    if not len(values):
        return np.full(len(codes), missing, np.int64)
    return np.where(codes >= 0, values[codes], missing)


def _through_bool(values: Bools, codes: Ints) -> Bools:
    return _through(values.astype(np.int64), codes, 0) > 0


def _marked(count: int, nodes: Ints) -> Bools:
    marks = np.zeros(count, np.bool_)
    marks[nodes] = True
    return marks


def _latest(count: int, node: Ints, counts: Bools, *order: Any) -> Ints:  # noqa: ANN401 -- columns
    """Return for each node its last row by `order` among those that count, or -1."""
    rows = np.flatnonzero(counts)
    sorted_rows = rows[np.lexsort((*(column[rows] for column in reversed(order)), node[rows]))]
    latest = np.full(count, _UNKNOWN, np.int64)
    latest[node[sorted_rows]] = sorted_rows
    return latest


def _ranges(count: int, node: Ints, sizes: Ints, counts: Bools) -> tuple[Ints, Ints]:
    counts = counts & (sizes >= 0)
    low = np.full(count, np.iinfo(np.int64).max)
    high = np.full(count, _UNKNOWN, np.int64)
    np.minimum.at(low, node[counts], sizes[counts])
    np.maximum.at(high, node[counts], sizes[counts])
    return np.where(high >= 0, low, _UNKNOWN), high


def counted(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the distinct pairs in order, and how often each occurs."""
    order = np.lexsort((second, first))
    first, second = first[order], second[order]
    is_new = np.ones(len(first), np.bool_)
    is_new[1:] = (np.diff(first) != 0) | (np.diff(second) != 0)
    starts = np.flatnonzero(is_new)
    return first[starts], second[starts], np.diff(np.append(starts, len(first)))
