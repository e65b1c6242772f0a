"""What is known of the distinct URLs of one site: columns, what their pages are made of, pairs of two pages.

`SiteFacts` is the input of `SiteEvidence`.

Pairs are drawn at random within a shape, and as neighbours one value apart. Pairs at random are too easy, for
pages about one subject are more alike, so half of the pairs are neighbours. Some of them are copies of one
page; the calibration tolerates that, for the price of weaker evidence.

Pages are made of blocks, each weighted by how few pages of the site have it: a menu is on all pages and
distinguishes none of them. Pages are counted by distinct title: a page with a hundred URLs would otherwise
look like a template. A block of `n` words on `d` of `t` titles weighs `n * log(t / d) / log(t)` words, from
all its words down to none for a block on half of the titles.

The calibration turns two samples of scores, pairs of one page and pairs of two, into a ratio for each score.
A site that shows many pairs of either kind is calibrated by itself; one that shows few relies on the prior,
which is what sites have in common. `bench/raw/fit.py` writes `prior.json` from sites whose pages are known,
each site with the same weight.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.reading.text import DIGITS_MASK, DIGITS_SHIFT, KEY_SHIFT, MOST_BLOCKS, WORDS_MASK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Pairs = tuple[Ints, Ints]
    Floats = NDArray[np.float64]
    Weights = NDArray[np.float32]


class UrlShapes(NamedTuple):
    """Which URLs look alike."""

    shape: Ints
    """Of each row: the same host, number of segments and names of parameters."""
    context: Ints
    """Equal for entries whose URLs differ in one value only …"""
    context_row: Ints
    """… and the row of each entry."""


class Earlier(NamedTuple):
    """Earlier sightings of URLs: the site's own witnesses of how a page differs from itself."""

    row: Ints
    """The row of the URL that was seen."""
    blocks: pa.Array
    title: pa.Array
    language: Ints


class Passing(NamedTuple):
    """What the fetches of a page have in common, and what they have not; keys of blocks."""

    numbers: Ints
    """Of blocks whose digits change from fetch to fetch, and say nothing."""
    words: Ints
    """Of blocks that say nothing at all."""
    lasting: Ints
    """Of blocks whose digits stay at every fetch of a page: they say as much as words."""

    @property
    def is_any(self) -> bool:
        """Whether there is any such block."""
        return any(map(len, self))

    def compared(self, blocks: Ints, row: Ints) -> tuple[Ints, Ints]:
        """Return the blocks of rows as they are compared, in order, and the row of each."""
        key, digits = blocks >> KEY_SHIFT, blocks >> DIGITS_SHIFT & DIGITS_MASK
        names = np.isin(key, self.lasting) & (digits > 0)
        without = blocks & ~(DIGITS_MASK << DIGITS_SHIFT)
        named = ((key + digits * _SPREAD) * _SPREAD & ALL_KEPT - 1) << KEY_SHIFT | without & (
            1 << KEY_SHIFT
        ) - 1
        found = np.where(names, named, np.where(np.isin(key, self.numbers), without, blocks))
        stays = ~np.isin(key, self.words)
        found, row = found[stays], row[stays]
        order = np.lexsort((found, row))
        return found[order], row[order]


@dataclass(frozen=True, eq=False)
class SiteFacts:
    """Columns over the distinct URLs (rows) of one site; codes count from 0, -1 means unknown."""

    shows: Bools
    """Rows whose content may be compared: not redirects, errors, empty pages, login walls."""
    label: Ints
    """Labels of the user: equal label, same page."""
    digest: Ints
    """Equal digest, equal content."""
    sketches: NDArray[np.uint32]
    """One row of minima for each URL that has a sketch."""
    sketch_row: Ints
    blocks: pa.Array
    """For each row its blocks (`list<int64>`, see `undust.reading.text`), null where unknown."""
    title: pa.Array
    """The title of each row's page, null where unknown."""
    home: Ints
    """The URL that the site declares for the page of a row: by rel=canonical, a redirect, its sitemap."""
    has_list: bool
    """Whether a sitemap of the site is known, which names each page once."""
    language: Ints
    shapes: Callable[[], UrlShapes]
    """Asked for when pairs of different pages are drawn."""
    earlier: Earlier
    passing: Passing | None = None
    """What is compared in another way than other blocks."""

    def __len__(self) -> int:
        return len(self.label)

    @property
    def has_blocks(self) -> bool:
        """Whether any page was taken apart into blocks."""
        return bool(self.blocks.null_count < len(self.blocks))


DRAWN = 1500
"""Pairs of each kind."""


def other_pairs(facts: SiteFacts, rows: Ints) -> tuple[Pairs, Pairs]:
    """Return pairs at random within a shape, and neighbours, of rows that may be compared."""
    generator = np.random.Generator(np.random.PCG64(len(rows)))
    may = np.zeros(len(facts), np.bool_)
    may[rows] = True
    shapes = facts.shapes()
    random = _drawn(shapes.shape[rows], rows, generator)
    entries = np.flatnonzero(may[shapes.context_row])
    near = _drawn(shapes.context[entries], shapes.context_row[entries], generator)
    return _different(facts, random), _different(facts, near)


def _drawn(group: Ints, row: Ints, generator: np.random.Generator) -> Pairs:
    """Draw pairs of rows of one group, each group by its size."""
    order = np.lexsort((row, group))
    group, row = group[order], row[order]
    if not len(group):
        return row, row
    starts = np.flatnonzero(np.diff(group, prepend=group[0] - 1))
    sizes = np.diff(np.append(starts, len(group)))
    several = np.repeat(sizes > 1, sizes)
    if not several.any():
        return row[:0], row[:0]
    first = np.flatnonzero(several)[generator.integers(0, int(several.sum()), DRAWN)]
    start, size = np.repeat(starts, sizes)[first], np.repeat(sizes, sizes)[first]
    second = start + (first - start + 1 + generator.integers(0, size - 1)) % size
    return row[first], row[second]


def _different(facts: SiteFacts, pairs: Pairs) -> Pairs:
    """Return the pairs without evidence that they are one page."""
    left, right = pairs
    digest, home, label = facts.digest, facts.home, facts.label
    is_one = (digest[left] >= 0) & (digest[left] == digest[right])
    is_one |= (home[left] >= 0) & (home[left] == home[right])
    is_one |= (label[left] >= 0) & (label[left] == label[right])
    kept = ~is_one & (left != right)
    return left[kept], right[kept]


def equal_pairs(column: Ints, rows: Ints) -> Pairs:
    """Return pairs of rows with one value of a column: the first of each value with each other one."""
    known = rows[column[rows] >= 0]
    order = known[np.lexsort((known, column[known]))]
    is_first = np.diff(column[order], prepend=-1) != 0
    first = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]] if len(order) else order
    return first[~is_first], order[~is_first]


ALL_KEPT = 1 << 31
"""The last key of a page whose blocks are all there."""
FEW_TITLES = 0.1
"""Titles distinguish pages if there is at least one for this many different contents."""
MOST_COUNTED = 4_000_000
"""Blocks from which the template is counted; of a larger site it is counted on some of its pages."""
_SPREAD, _SPREAD_BITS = np.int64(0x9E3779B1), np.int64(16)
_WORD = re.compile(r"[^\W_]+")


class Composition(NamedTuple):
    """Blocks and title words of each row, as the core takes them."""

    first_block: Ints
    blocks: Ints
    weights: Weights
    number_weights: Weights
    """Of the digits of each block, between 0 and 1; also where its words are the template's."""
    last_key: Ints
    first_title_word: Ints
    title_words: Ints
    title_weights: Weights


def composition_of(
    blocks: pa.Array, title: pa.Array, digest: Ints, passing: Passing | None = None
) -> Composition:
    """Weigh the blocks and the title words of all rows, without what changes from fetch to fetch."""
    sizes = np.asarray(pc.fill_null(pc.list_value_length(blocks), 0), np.int64)
    flat = np.asarray(blocks.flatten(), np.int64)
    row = np.repeat(np.arange(len(sizes)), sizes)
    ends = np.cumsum(sizes)
    last_key = np.where(sizes > 0, ALL_KEPT, -1)
    is_cut = sizes >= MOST_BLOCKS
    last_key[is_cut] = flat[ends[is_cut] - 1] >> KEY_SHIFT
    if passing is not None:
        flat, row = passing.compared(flat, row)
    titles = title.dictionary_encode()
    code = np.asarray(pc.fill_null(titles.indices, -1), np.int64)
    page = _pages(code, digest, sizes > 0)
    weights = (flat & WORDS_MASK) * _rarity(flat >> KEY_SHIFT, page[row])
    has_digits = flat >> DIGITS_SHIFT & DIGITS_MASK > 0
    numbers = np.zeros(len(flat))
    numbers[has_digits] = _rarity(flat[has_digits] >> DIGITS_SHIFT, page[row[has_digits]])
    kept = (weights > 0) | (numbers > 0)
    sizes = np.bincount(row[kept], minlength=len(sizes))
    first_word, words, word_weights = _title_words(titles.dictionary, code)
    return Composition(
        _offsets(sizes),
        flat[kept],
        weights[kept].astype(np.float32),
        numbers[kept].astype(np.float32),
        last_key,
        first_word,
        words,
        word_weights,
    )


def _pages(title: Ints, digest: Ints, has_blocks: NDArray[np.bool_]) -> Ints:
    """Return what identifies the page of each row while the template is counted."""
    known = title[has_blocks & (title >= 0)]
    contents = len(np.unique(digest[has_blocks]))
    by_title = len(np.unique(known)) >= FEW_TITLES * contents
    unknown = np.where(digest >= 0, digest, digest.max(initial=0) + 1 + np.arange(len(digest)))
    own = title.max(initial=-1) + 1 + unknown
    return np.where((title >= 0) & by_title, title, own)


def _rarity(key: Ints, page: Ints) -> Floats:
    """Return for each block how few pages have it, from 1 for a single page down to 0 for all."""
    if not len(key):
        return np.zeros(0)
    step = 1 + len(key) // MOST_COUNTED
    some = (page * _SPREAD >> _SPREAD_BITS) % step == 0
    pages = max(len(np.unique(page[some])), 2)
    size = int(page.max()) + 1
    number = np.unique(key[some], return_inverse=True)
    pairs = np.unique(number[1].astype(np.int64) * size + page[some]) // size
    keys, having = number[0], np.bincount(pairs, minlength=len(number[0]))
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    found = np.where(keys[place] == key, having[place], 1)
    rarity = np.clip(np.log((pages + 1) / found) / np.log(pages + 1), 0.0, 1.0)
    return np.where(found <= pages / 2, rarity, 0.0)


def _title_words(titles: pa.Array, code: Ints) -> tuple[Ints, Ints, Weights]:
    vocabulary: dict[str, int] = {}
    each = [
        sorted({vocabulary.setdefault(word, len(vocabulary)) for word in _WORD.findall(title.lower())})
        for title in titles.to_pylist()
    ]
    sizes = np.fromiter((len(words) for words in each), np.int64, len(each))
    words = np.fromiter((word for some in each for word in some), np.int64, int(sizes.sum()))
    having = np.bincount(words, minlength=len(vocabulary))
    count = max(len(each), 2)
    weights = np.clip(np.log(count / np.maximum(having, 1)) / np.log(count), 0.0, 1.0)[words]
    starts = _offsets(sizes)
    known = np.where(code >= 0, code, 0)
    of_row = np.where(code >= 0, sizes[known], 0) if len(sizes) else np.zeros(len(code), np.int64)
    first = _offsets(of_row)
    within = np.arange(first[-1]) - np.repeat(first[:-1], of_row)
    place = np.repeat(starts[known], of_row) + within if len(sizes) else within
    return first, words[place], weights[place].astype(np.float32)


def _offsets(sizes: Ints) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))


EVIDENCE_MOST = 4.0
"""No pair weighs more, for or against: e^4 to 1. One pair never proves a rule."""


@dataclass(frozen=True)
class EvidencePrior:
    """How features add up to a score, and how scores are distributed on sites at large."""

    factors: tuple[float, ...]
    """Of -log(1.03 - x) of six features, of log(1 + words), and 1."""
    edges: tuple[float, ...]
    """Between the bins of scores."""
    same: tuple[float, ...]
    """Share of the pairs of one page in each bin."""
    other: tuple[float, ...]
    """Share of the pairs of two pages of one template in each bin."""
    agreement_edges: tuple[float, ...]
    """Between the bins of the share of minima in which sketches agree."""
    agreement_same: tuple[float, ...]
    agreement_other: tuple[float, ...]
    equal_digest_same: float
    """Share of the pairs of one page whose digests are equal."""
    equal_digest_other: float
    """Share of the pairs of two pages whose digests are equal."""


@cache
def shipped() -> EvidencePrior:
    """Return the numbers that come with the package."""
    text = (files("undust.pages") / "prior.json").read_text(encoding="utf-8")
    return prior_from(json.loads(text)["numbers"])


def prior_from(numbers: dict[str, Any]) -> EvidencePrior:
    """Return the numbers as they are written in the file."""
    frozen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in numbers.items()
    }
    return EvidencePrior(**frozen)


PRIOR_PAIRS = 20.0
"""Pairs that the usual distribution weighs as much as."""
MOST_SAME, MOST_OTHER = 100.0, 200.0
"""Pairs of one page and of two pages that count at most; more would drown what is usual in rare bins."""


def bin_ratios(
    edges: Sequence[float],
    same: Sequence[float],
    other: Sequence[float],
    seen_same: Floats,
    seen_other: Floats,
) -> Floats:
    """Return the log-likelihood ratio of each bin, which does not fall from bin to bin.

    Args:
        edges: Between the bins.
        same: Usual share of the pairs of one page in each bin.
        other: Usual share of the pairs of two pages in each bin.
        seen_same: Scores of pairs of one page of this site.
        seen_other: Scores of pairs of two pages of this site.

    """
    for_one = _shares(edges, same, seen_same, MOST_SAME)
    for_two = _shares(edges, other, seen_other, MOST_OTHER)
    return np.clip(_rising(for_one, for_two), -EVIDENCE_MOST, EVIDENCE_MOST)


def share_ratio(same: float, other: float) -> float:
    """Return the log-likelihood ratio of what is seen in a share of the pairs of either kind.

    >>> round(share_ratio(0.95, 0.05), 2)
    2.94
    """
    return float(np.clip(np.log(same / other), -EVIDENCE_MOST, EVIDENCE_MOST))


def corrected(usual: float, seen: float, of: float) -> float:
    """Return a share as it was seen on a site, which leans on the usual one if that saw little."""
    scale = min(1.0, MOST_SAME / max(of, 1.0))
    return (seen * scale + PRIOR_PAIRS * usual) / (of * scale + PRIOR_PAIRS)


def _shares(edges: Sequence[float], usual: Sequence[float], seen: Floats, most: float) -> Floats:
    counts = np.bincount(np.searchsorted(edges, seen, side="right"), minlength=len(usual)).astype(np.float64)
    counts *= min(1.0, most / max(len(seen), 1))
    return np.asarray((counts + PRIOR_PAIRS * np.asarray(usual)) / (counts.sum() + PRIOR_PAIRS), np.float64)


def _rising(same: Floats, other: Floats) -> Floats:
    """Return the logarithm of same / other, which does not fall: neighbours that would are taken together."""
    pools: list[tuple[float, float, int]] = []
    for one, two in zip(same.tolist(), other.tolist(), strict=True):
        pools.append((one, two, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] > pools[-1][0] * pools[-2][1]:
            last, before = pools.pop(), pools.pop()
            pools.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    return np.repeat([np.log(one / two) for one, two, _ in pools], [bins for _, _, bins in pools])
