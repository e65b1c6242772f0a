"""Sketches of texts: how alike two pages are, from a few numbers each.

DustBuster's sketch (Bar-Yossef, Keidar and Schonfeld, section 6.3): the text as a set of
shingles, runs of n words, and for each of k hash functions the minimum over that set. Two
sketches agree in one place with the probability of their resemblance |A ∩ B| / |A ∪ B|.
The paper has n = 10 and k = 4; five words and 32 minima distinguish short pages better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust._core import shingles as core_shingles
from undust._core import sketch as core_sketch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

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
