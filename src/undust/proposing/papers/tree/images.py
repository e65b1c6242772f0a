"""What a mapping does to the URLs it was learned from, counted without writing a single URL.

The image of a URL is the tuple of the values that are carried over: the kept ones are the same for all,
the ignored ones do not count. Two URLs with one image are a support pair, and a false one if they are
different pages (equation 3 of Lei et al.). URLs alone on their page are counted too: without them a rule
that swallows unique pages would look perfect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust._core import image_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.proposing.papers.tree.plan import Plan
    from undust.urls.tree import UrlColumns

    Ints = NDArray[np.int64]
    Codes = NDArray[np.int32]

_INTO = {
    ("query", "path"): (r"[?+]", (("?", "%3F"), ("+", "%20"))),
    ("path", "query"): (r"[&+]", (("&", "%26"), ("+", "%2B"))),
}
"""What changes when a value goes from one part to another: which texts, and how."""


@dataclass(frozen=True)
class TrainingCounts:
    """What was counted on the training data."""

    urls: int
    images: int
    support_pairs: int
    false_pairs: int
    pages: int
    """Clusters of which it brings URLs together."""
    taken: int
    """URLs it takes from its source."""

    @property
    def fpr(self) -> float:
        """Share of false pairs among those with one image."""
        return self.false_pairs / self.support_pairs if self.support_pairs else 0.0

    @property
    def saves(self) -> int:
        """Removed URLs."""
        return self.urls - self.images


class Moves:
    """Values as they are written in another part of a URL."""

    def __init__(self, columns: UrlColumns) -> None:
        self.columns = columns
        self._codes: dict[tuple[str, str], Codes | None] = {}
        self._moved: dict[tuple[int, str, str], Codes] = {}

    def column(self, key: int, source: str, target: str) -> Codes:
        """Return the values at a key on their way from one part to another, as codes."""
        values = self.columns.column(key)
        if (source, target) not in _INTO:
            return values
        codes = self._table(source, target)
        if codes is None:
            return values
        if (key, source, target) not in self._moved:
            self._moved[key, source, target] = np.where(values < 0, values, codes[values])
        return self._moved[key, source, target]

    def _table(self, source: str, target: str) -> Codes | None:
        """Return what each value becomes, or None if none changes."""
        if (source, target) not in self._codes:
            self._codes[source, target] = self._found(*_INTO[source, target])
        return self._codes[source, target]

    def _found(self, sign: str, changes: tuple[tuple[str, str], ...]) -> Codes | None:
        texts = self.columns.value_texts
        found = pc.fill_null(pc.match_substring_regex(texts, sign), fill_value=False)
        special = np.flatnonzero(found.to_numpy(zero_copy_only=False))
        if not len(special):
            return None
        changed = texts.take(pa.array(special))
        for old, new in changes:
            changed = pc.replace_substring(changed, old, new)
        known = pc.index_in(changed, texts).fill_null(-1).to_numpy()
        unknown = pc.dictionary_encode(changed).indices.to_numpy()
        codes = np.arange(len(texts), dtype=np.int32)
        codes[special] = np.where(known >= 0, known, len(texts) + unknown)
        return codes


def proof_of(plan: Plan, moves: Moves, page: Ints) -> TrainingCounts:
    """Count pairs of URLs with one image, and those of different pages among them."""
    part, column = plan.planner.part, plan.planner.columns.column
    own = plan.target_rows()
    taken = own[:0] if plan.is_self else plan.source_rows()
    ways = [(each.source, each.key) for each in plan.mapping.replaced]
    arriving = [moves.column(source, part(source), part(key)) for source, key in ways]
    staying = [column(key) for _, key in ways]
    urls, images, pairs, true, pages = image_pairs(taken, own, arriving, staying, page)
    return TrainingCounts(urls, images, pairs, pairs - true, pages, len(own) if plan.is_self else len(taken))
