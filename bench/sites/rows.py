"""The rows of a crawl of one site, made in any batches, each a function of its number alone."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.sites.chance import draw, share
from bench.sites.content import notice, same_page, sizes
from bench.sites.fields import NONCE, joined
from bench.sites.layout import digits_of, number_of, omitted_of
from bench.sites.model import GONE, PAGE
from bench.sites.text import BANK
from undust.reading.observations import SCHEMA
from undust.reading.text import SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.sites.chance import Ints
    from bench.sites.content import Content
    from bench.sites.fields import Digits
    from bench.sites.forms import Combination
    from bench.sites.layout import Addresses, Layout

EVIDENCE = ("status", "size", "digest", "sketch", "canonical", "redirect", "time")
_START_US = 1_767_225_600_000_000  # 2026-01-01
_OK, _MOVED, _NOT_FOUND = 200, 301, 404
_FEW = 64
"""Rows of one form, below which columns cost more than they save."""


@dataclass(frozen=True)
class Crawl:
    """How a site is seen."""

    noise: float = 0.0
    """The share of pages whose evidence is that of another page."""
    coverage: float = 1.0
    """The share of the site's URLs that are seen at all."""
    sightings: float = 1.0
    """Rows per URL, popular ones far more often than others."""
    evidence: tuple[str, ...] = EVIDENCE
    """The columns that are filled; the others are null."""


class Rows(NamedTuple):
    """Some rows, and what is true of them."""

    observations: pa.RecordBatch
    page: pa.Array
    """Which page each URL is an address of; no learner may see this."""


class _Part(NamedTuple):
    """The rows of one family."""

    rows: Ints
    url: pa.Array
    page: pa.Array
    status: Ints
    size: Ints
    digest: pa.Array
    sketch: NDArray[np.uint32]
    has_text: NDArray[np.bool_]
    canonical: pa.Array
    redirect: pa.Array


class Maker:
    """Makes the rows of one site, seen in one way."""

    def __init__(self, domain: str, layout: Layout, content: Content, crawl: Crawl) -> None:
        self._domain, self._layout, self._content, self._crawl = domain, layout, content, crawl
        self._seed = layout.seed
        self._notices = {what: notice(what) for what in range(1, 5)}
        self.rows = max(layout.urls, round(layout.urls * crawl.sightings))
        # Any number that shares no factor with the count walks through all of it.
        self._stride = next(
            step
            for step in range(int(layout.urls * 0.618) | 1, 2 * layout.urls + 2)
            if np.gcd(step, layout.urls) == 1
        )

    def make(self, start: int, stop: int) -> Rows:
        """Return the rows from one number to another, less those of URLs that were not seen."""
        rows = np.arange(start, min(stop, self.rows))
        urls, is_again = self._urls(rows)
        if self._crawl.coverage < 1:
            is_seen = share(draw(self._seed, "covered", urls)) < self._crawl.coverage
            rows, urls, is_again = rows[is_seen], urls[is_seen], is_again[is_seen]
        at = self._layout.addresses(urls)
        again = np.where(is_again, 1 + (draw(self._seed, "again", rows) >> np.uint64(40)).astype(np.int64), 0)
        parts = [
            self._part(int(family), np.flatnonzero(at.family == family), at, again)
            for family in np.unique(at.family)
        ]
        return self._joined(parts, rows)

    def _urls(self, rows: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Return the number of the URL in each row, and whether it is one that is seen once more."""
        total = self._layout.urls
        first = rows * total // self.rows
        is_again = (rows + 1) * total // self.rows == first
        # Zipf: the logarithm of the rank is evenly spread.
        rank = (total ** share(draw(self._seed, "popular", rows))).astype(np.int64) - 1
        place = np.where(is_again, np.minimum(rank, total - 1), first)
        return (place * self._stride + self._seed) % total, is_again

    def _part(self, family: int, rows: Ints, at: Addresses, again: Ints) -> _Part:
        described = self._layout.kind.families[family]
        number, page, variant = at.number[rows], at.page[rows], at.variant[rows]
        digits = digits_of(described, number)
        digits[NONCE] = draw(self._seed, "nonce", page, variant).view(np.int64)
        chosen = self._layout.chosen(family, digits, variant, page)
        url = self._written(family, chosen, digits)
        shown_page = same_page(described, number)
        shown = self._content.shown(family, shown_page)
        forms = [each.form for each in self._layout.combinations[family]]
        is_moved = np.array([form.redirects for form in forms])[chosen] & (shown == PAGE)
        tails = np.array([form.tail for form in forms])[chosen]
        told = self._told(family, shown_page)
        target = self._targets(family, shown_page, is_moved)
        declares = (shown == PAGE) & ~is_moved & (told == shown_page)
        declares &= share(draw(self._seed, "declares", family, shown_page)) < self._content.rates.canonical
        size, digest, minima = self._text(family, told, shown, tails, url, again[rows], is_moved)
        return _Part(
            rows,
            url,
            joined(described.name, pa.array(shown_page).cast(pa.string()), joint="/"),
            np.where(is_moved, _MOVED, np.where(shown == GONE, _NOT_FOUND, _OK)),
            size,
            digest,
            minima,
            ~is_moved,
            self._targets(family, shown_page, declares, forget=True),
            target,
        )

    def _told(self, family: int, page: Ints) -> Ints:
        """Return the page whose evidence each row has: another one where the cluster is mislabelled."""
        if not self._crawl.noise:
            return page
        is_wrong = share(draw(self._seed, "noise", family, page)) < self._crawl.noise
        described = self._layout.kind.families[family]
        digits = digits_of(described, page)
        other = page
        # A neighbour, or one further off where the neighbour is the same page.
        for distance in (1, 64):
            near = number_of(described, digits | {described.main: digits[described.main] ^ distance})
            other = np.where(other == page, same_page(described, near), other)
        return np.where(is_wrong, other, page)

    def _written(self, family: int, chosen: Ints, digits: Digits) -> pa.Array:
        """Return the URLs; each field is written once for all rows that have it."""
        used = np.unique(chosen)
        ways = self._layout.combinations[family]
        names = sorted({name for way in used for name in ways[way].names})
        columns: dict[str, tuple[pa.Array, Ints]] = {}
        for name in names:
            has_it = np.array([name in way.names for way in ways])[chosen]
            rows = np.flatnonzero(has_it)
            field = ways[0].fields[name]
            own = {digit: values[rows] for digit, values in digits.items()}
            columns[name] = field.write(own, self._seed), np.cumsum(has_it) - 1
        if len(chosen) < _FEW * len(used):
            return self._written_singly([ways[way] for way in chosen.tolist()], columns)
        order = np.argsort(chosen, kind="stable")
        bounds = np.flatnonzero(np.diff(chosen[order], prepend=-1, append=-1))
        pieces = []
        for begin, end in pairwise(bounds):
            rows = order[begin:end]
            way = ways[int(chosen[rows[0]])]
            texts = {name: columns[name][0].take(pa.array(columns[name][1][rows])) for name in way.names}
            pieces.append(way.joined(texts, self._domain))
        return _in_order(pieces, order)

    def _written_singly(self, ways: list[Combination], columns: dict[str, tuple[pa.Array, Ints]]) -> pa.Array:
        """Return the same URLs as column after column would: quicker where a column has few rows."""
        texts = {name: (column.to_pylist(), places.tolist()) for name, (column, places) in columns.items()}
        urls = []
        for row, way in enumerate(ways):
            pieces = list(way.parts)
            for place in range(1, len(pieces), 2):
                name = pieces[place]
                if name == "SITE":
                    pieces[place] = self._domain
                else:
                    written, places = texts[name]
                    pieces[place] = written[places[row]]
            urls.append("".join(pieces))
        return pa.array(urls, pa.string())

    def _targets(
        self, family: int, page: Ints, wanted: NDArray[np.bool_], *, forget: bool = False
    ) -> pa.Array:
        """Return the preferred URL of each page where it is wanted, else null."""
        if not wanted.any():
            return pa.nulls(len(page), pa.string())
        described = self._layout.kind.families[family]
        digits = digits_of(described, page[wanted])
        if forget:
            digits |= {name: np.zeros_like(digits[name]) for name in described.canonical_forgets}
        urls = preferred(self._layout, family, digits, self._domain)
        places = np.cumsum(wanted) - 1
        return urls.take(pa.array(places, mask=~wanted))

    def _text(  # noqa: PLR0913, PLR0917 -- all that a text depends on
        self,
        family: int,
        told: Ints,
        shown: Ints,
        tails: Ints,
        url: pa.Array,
        again: Ints,
        is_moved: NDArray[np.bool_],
    ) -> tuple[Ints, pa.Array, NDArray[np.uint32]]:
        """Return size, digest and sketch of each row, as far as they are asked for."""
        count, evidence = len(told), self._crawl.evidence
        size = np.zeros(count, np.int64)
        minima = np.zeros((count if "sketch" in evidence else 0, SIZE), np.uint32)
        if {"size", "digest", "sketch"}.isdisjoint(evidence):
            return size, pa.nulls(count, pa.string()), minima
        rows = np.flatnonzero((shown == PAGE) & ~is_moved)
        page = told[rows]
        moments = np.zeros(len(rows), np.int64)
        changing = np.flatnonzero(self._content.changes(family, page)[0])
        moments[changing] = moments_of(url.take(pa.array(rows[changing])).to_pylist(), again[rows[changing]])
        text = self._content.text(family, page, tails[rows], moments)
        size[rows] = sizes(text, self._content.padding(family, page))
        if "sketch" in evidence:
            minima[rows] = BANK.sketches(text)
        texts = BANK.digests(text) if "digest" in evidence else []
        place = np.full(count, -1)
        place[rows] = np.arange(len(rows))
        for what, known in self._notices.items():
            others = np.flatnonzero((shown == what) & ~is_moved)
            size[others] = known.size
            place[others] = len(texts)
            texts.append(known.digest)
            if len(minima):
                minima[others] = known.sketch
        if "digest" not in evidence:
            return size, pa.nulls(count, pa.string()), minima
        return size, pa.array(texts).take(pa.array(place, mask=place < 0)), minima

    def _joined(self, parts: list[_Part], rows: Ints) -> Rows:
        evidence = self._crawl.evidence
        count = len(rows)
        if not parts:
            nothing = pa.RecordBatch.from_pylist([], schema=SCHEMA)
            return Rows(nothing, pa.array([], pa.string()))
        order = np.concatenate([part.rows for part in parts])
        place = np.argsort(order)

        def numbers(name: str) -> NDArray[np.generic]:
            return np.concatenate([getattr(part, name) for part in parts])[place]

        def texts(name: str) -> pa.Array:
            return pa.concat_arrays([getattr(part, name) for part in parts]).take(pa.array(place))

        columns = {"url": texts("url")}
        if "status" in evidence:
            columns["status"] = pa.array(numbers("status").astype(np.int16))
        if "size" in evidence:
            columns["size"] = pa.array(numbers("size"))
        for name in ("digest", "canonical", "redirect"):
            if name in evidence:
                columns[name] = texts(name)
        if "sketch" in evidence:
            columns["sketch"] = _lists(numbers("sketch"), numbers("has_text"))
        if "time" in evidence:
            columns["time"] = pa.array(_START_US + rows * 1_000_000).cast(SCHEMA.field("time").type)
        each = [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(count, field.type)
            for field in SCHEMA
        ]
        return Rows(pa.record_batch(each, schema=SCHEMA), texts("page"))


def preferred(layout: Layout, family: int, digits: Digits, domain: str) -> pa.Array:
    """Return for each page the URL that the site itself prefers: its first form that fits."""
    described = layout.kind.families[family]
    omitted = omitted_of(described, digits)
    order = np.argsort(omitted, kind="stable")
    bounds = np.flatnonzero(np.diff(omitted[order], prepend=-1, append=-1))
    pieces = []
    for begin, end in pairwise(bounds):
        rows = order[begin:end]
        mask = int(omitted[rows[0]])
        needed = {name for place, name in enumerate(described.small) if mask >> place & 1}
        form = next(
            each
            for each in layout.combinations[family]
            if needed <= each.digits and not each.form.redirects and each.weight
        )
        pieces.append(
            form.write({name: values[rows] for name, values in digits.items()}, domain, layout.seed)
        )
    return _in_order(pieces, order)


def moments_of(urls: list[str], versions: Ints) -> Ints:
    """Return what pages that change make their text of, when a URL is fetched for another time."""
    crc32 = zlib.crc32
    return np.array([crc32(url.encode()) for url in urls], np.int64) + versions


def _in_order(pieces: list[pa.Array], order: Ints) -> pa.Array:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return pa.concat_arrays(pieces).take(pa.array(place))


def _lists(values: NDArray[np.generic], is_valid: NDArray[np.generic]) -> pa.Array:
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.reshape(-1)))
    return pc.if_else(pa.array(is_valid.astype(bool)), lists, pa.scalar(None, lists.type))
