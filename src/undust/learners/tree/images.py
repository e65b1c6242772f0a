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

from undust.learners.tree.plan import combined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.learners.tree.plan import Plan
    from undust.tree import UrlColumns

    Ints = NDArray[np.int64]

_INTO = {
    ("query", "path"): (r"[?+]", (("?", "%3F"), ("+", "%20"))),
    ("path", "query"): (r"[&+]", (("&", "%26"), ("+", "%2B"))),
}
"""What changes when a value goes from one part to another: which texts, and how."""


@dataclass(frozen=True, eq=False)
class Images:
    """The rows that a mapping touches, and a number for the image of each."""

    rows: Ints
    image: Ints
    from_source: int
    """How many rows it takes from its source; they come first."""


@dataclass(frozen=True)
class Proof:
    """What was counted on the training data."""

    urls: int
    images: int
    support_pairs: int
    false_pairs: int
    pages: int
    """Clusters of which it brings URLs together."""

    @property
    def fpr(self) -> float:
        """Share of false pairs among those with one image."""
        return self.false_pairs / self.support_pairs if self.support_pairs else 0.0

    @property
    def saves(self) -> int:
        """URLs that are gone."""
        return self.urls - self.images


class Moves:
    """Values as they are written in another part of a URL."""

    def __init__(self, columns: UrlColumns) -> None:
        self.columns = columns
        self._codes: dict[tuple[str, str], Ints] = {}

    def moved(self, values: NDArray[np.int32], source: str, target: str) -> Ints:
        """Return the codes of values on their way from one part to another."""
        if (source, target) not in _INTO:
            return values.astype(np.int64)
        codes = self._table(source, target)
        return np.where(values < 0, values, codes[values])

    def _table(self, source: str, target: str) -> Ints:
        if (source, target) not in self._codes:
            texts = self.columns.value_texts
            codes = np.arange(len(texts), dtype=np.int64)
            sign, changes = _INTO[source, target]
            found = pc.fill_null(pc.match_substring_regex(texts, sign), fill_value=False)
            special = np.flatnonzero(found.to_numpy(zero_copy_only=False))
            if len(special):
                changed = texts.take(pa.array(special))
                for old, new in changes:
                    changed = pc.replace_substring(changed, old, new)
                known = pc.index_in(changed, texts).fill_null(-1).to_numpy().astype(np.int64)
                unknown = np.unique(
                    pc.dictionary_encode(changed).indices.to_numpy().astype(np.int64), return_inverse=True
                )[1]
                codes[special] = np.where(known >= 0, known, len(texts) + unknown.reshape(-1))
            self._codes[source, target] = codes
        return self._codes[source, target]


def images_of(plan: Plan, moves: Moves) -> Images:
    """Return the images of all rows that a mapping touches."""
    columns, part = plan.planner.columns, plan.planner.part
    own = plan.target_rows()
    taken = np.zeros(0, np.int64)
    if not plan.is_self:
        taken = plan.source_rows()
        own = np.setdiff1d(own, taken, assume_unique=True)
    carried = []
    for each in plan.mapping.replaced:
        values = columns.column(each.source)[taken]
        arrived = moves.moved(values, part(each.source), part(each.key))
        carried.append(np.concatenate([arrived, columns.column(each.key)[own].astype(np.int64)]))
    rows = np.concatenate([taken, own])
    return Images(rows, combined(carried, len(rows)), len(taken) if not plan.is_self else len(own))


def proof_of(images: Images, cluster: Ints) -> Proof:
    """Count pairs of URLs with one image, and those of different pages among them."""
    page = cluster[images.rows]
    width = int(page.max(initial=0)) + 1
    sizes = np.bincount(images.image)
    codes, same = np.unique(images.image * width + page, return_counts=True)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    true = int((same * (same - 1) // 2).sum())
    together = len(np.unique(codes[same > 1] % width))
    return Proof(len(images.rows), len(sizes), pairs, pairs - true, together)
