"""What pages are compared by: the blocks of a text, its sketch, and the sketch without its site's template.

A block is up to twelve words that follow each other. It ends where the layout ends a block, and after one
word in four, chosen by the hash of the word: the same text is cut at the same places in any layout, so that a
page and its print view share their blocks. A block is a number of 63 bits, from the highest down: 31 bits
of a hash of its words with digits masked, 20 bits of a hash of its digits (0 without digits), 8 bits of
the block that follows, 4 bits for the number of words. A page keeps its 256 smallest blocks, 2 KiB at most.

The sketch is DustBuster's (Bar-Yossef, Keidar and Schonfeld, section 6.3): the text as a set of
shingles, runs of n words, and for each of k hash functions the minimum over that set. Two
sketches agree in one place with the probability of their resemblance |A ∩ B| / |A ∪ B|.
The paper has n = 10 and k = 4; five words and 32 minima distinguish short pages better.

A menu of 500 words makes all pages of a site look alike. A shingle that is on half of a site's pages,
and on ten at least, is the template's and is left out of every sketch of that site. Which shingles these
are is learned once, from the first hundred different texts of the site, and then kept for the whole job:
sketches can only be compared if the same shingles were left out of both. Until a site is learned its texts
wait, in bounded memory; when that is full, or nothing more comes, it is learned from those there are.
The order of pages decides which hundred are the sample. It cannot change much: what is on nine pages of
ten is on most pages of any sample. A site of fewer than ten texts has no template.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust._core import blocks
from undust._core import shingles as core_shingles
from undust._core import sketch as core_sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Put = Callable[[NDArray[np.uint32] | None], object]
    """Is handed a sketch as soon as there is one; None for a page with nothing but its template."""


MOST_BLOCKS = 256
"""Blocks that are kept of a page, 8 bytes each."""
KEY_SHIFT, DIGITS_SHIFT, NEXT_SHIFT = 32, 12, 4
"""Where the parts of a block begin: the hash of its words, that of its digits, that of the next block."""
DIGITS_MASK, NEXT_MASK, WORDS_MASK = 0xFFFFF, 0xFF, 0xF


def blocks_of(text: bytes) -> bytes:
    """Return the blocks of a UTF-8 text without layout, 64 bits each.

    >>> len(blocks_of(b"one two three four five six seven eight nine ten eleven twelve")) // 8 > 1
    True
    """
    return blocks(text)[0]


WORDS = 5
SIZE = 32


def sketch(
    text: str | bytes, words: int = WORDS, size: int = SIZE, ignored: NDArray[np.uint64] | None = None
) -> NDArray[np.uint32] | None:
    """Return the sketch of a text, or None for one that has no word outside `ignored` shingles.

    >>> first, second = sketch("one two three four five six"), sketch("One, two: three four five six!")
    >>> resemblance(first, second)
    1.0
    """
    minima = core_sketch(_utf8(text), words, size, ignored)
    return None if minima is None else np.frombuffer(minima, np.uint32)


def resemblance(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> float:
    """Return the share of minima in which two sketches agree: an estimate of |A ∩ B| / |A ∪ B|."""
    return float((left == right).mean())


def shingles(text: str | bytes, words: int = WORDS) -> NDArray[np.uint64]:
    """Return the hashes of a text's shingles, sorted, each once."""
    hashes: NDArray[np.uint64] = pa.array(core_shingles(_utf8(text), words)).to_numpy()
    return hashes


def common_shingles(
    texts: Iterable[str | bytes], words: int = WORDS, share: float = 0.5, at_least: int = 10
) -> NDArray[np.uint64]:
    """Return the shingles that a template repeats: those on `share` of the pages and on at least `at_least`.

    Menus and footers make all pages of a site look alike; sketches leave such shingles out.
    """
    each = [shingles(text, words) for text in texts]
    if not each:
        return np.empty(0, np.uint64)
    hashes, pages = np.unique(np.concatenate(each), return_counts=True)
    return hashes[pages >= max(at_least, share * len(each))]


def _utf8(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


SAMPLE = 100
"""Texts from which the template of a site is learned."""
AT_LEAST = 10
"""Texts on which a shingle must be to count as the template's."""
_SHARE = 0.5
"""... and the share of texts."""
MOST_WAITING = 64 << 20
"""Bytes of text that wait, all sites together."""
MOST_COMMON = 16 << 20
"""Shingles of templates that are kept, all sites together; the sites learned first are removed first."""


class Sketcher:
    """Makes the sketches of a job, site by site."""

    def __init__(self, words: int = WORDS, size: int = SIZE, sample: int = SAMPLE) -> None:
        self.words, self.size, self.sample = words, size, sample
        self._waiting: dict[str, dict[bytes, list[Put]]] = {}
        self._waiting_bytes = 0
        self._common: dict[str, NDArray[np.uint64]] = {}
        self._common_count = 0

    def add(self, site: str, text: bytes, put: Put) -> None:
        """Hand the sketch of a page to `put`, at once or when its site is learned."""
        common = self._common.get(site)
        if common is not None:
            put(sketch(text, self.words, self.size, common))
            return
        texts = self._waiting.setdefault(site, {})
        if text not in texts:
            texts[text] = []
            self._waiting_bytes += len(text)
        texts[text].append(put)
        if len(texts) == self.sample:
            self._learn(site)
        elif self._waiting_bytes > MOST_WAITING:
            self.settle()

    def common_of(self, site: str) -> NDArray[np.uint64] | None:
        """Return the shingles of a site's template; None as long as it is not learned."""
        return self._common.get(site)

    def know(self, site: str, common: NDArray[np.uint64]) -> None:
        """Use a template that was learned before, so that new sketches can be compared with old ones."""
        self._remember(site, common)

    def settle(self) -> None:
        """Hand out all sketches that still wait."""
        for site in list(self._waiting):
            self._learn(site)

    def _learn(self, site: str) -> None:
        waiting = self._waiting.pop(site)
        common = np.empty(0, np.uint64)
        if len(waiting) >= AT_LEAST:
            common = common_shingles(waiting, self.words, _SHARE, AT_LEAST)
            self._remember(site, common)
        for text, puts in waiting.items():
            made = sketch(text, self.words, self.size, common)
            for put in puts:
                put(made)
            self._waiting_bytes -= len(text)

    def _remember(self, site: str, common: NDArray[np.uint64]) -> None:
        self._common[site] = common
        self._common_count += len(common)
        while self._common_count > MOST_COMMON:
            oldest = next(iter(self._common))
            self._common_count -= len(self._common.pop(oldest))
