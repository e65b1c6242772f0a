"""Sketches of pages without what the template of their site repeats on each of them.

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

from undust.reading.content.sketch import SIZE, WORDS, common_shingles, sketch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Put = Callable[[NDArray[np.uint32] | None], object]
    """Is handed a sketch as soon as there is one; None for a page with nothing but its template."""

SAMPLE = 100
"""Texts from which the template of a site is learned."""
AT_LEAST = 10
"""Texts on which a shingle must stand to be the template's."""
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
