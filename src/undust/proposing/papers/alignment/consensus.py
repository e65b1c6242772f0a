"""A consensus as people read it: the tokens of each column, with λ where some URL has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.proposing.papers.alignment.groups import align, groups_from
from undust.proposing.papers.alignment.options import AlignmentOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = "λ"


class Spot(NamedTuple):
    """A column: the tokens that were seen there, sorted, and whether some URL has none."""

    tokens: tuple[str, ...]
    has_gap: bool

    def __str__(self) -> str:
        if len(self.tokens) == 1 and not self.has_gap:
            return self.tokens[0]
        return f"{{{','.join((*self.tokens, *([GAP] if self.has_gap else [])))}}}"


class Consensus(NamedTuple):
    """The columns of URLs that were aligned, and where each token of each URL stands."""

    spots: tuple[Spot, ...]
    places: tuple[tuple[int, ...], ...]
    """By URL, in their order."""
    score: float
    """Of the last two sequences that were aligned."""

    def __str__(self) -> str:
        return " ".join(map(str, self.spots))


def consensus(urls: Sequence[str], options: AlignmentOptions | None = None) -> Consensus:
    """Return the consensus of some URLs.

    >>> print(consensus(["http://ex.com/a/1.html", "http://www.ex.com/a/1.html"]))
    http : / / {www,λ} {.,λ} ex . com / a / 1 . html
    """
    chosen = options or AlignmentOptions()
    groups = groups_from([urls], chosen)
    found = align(groups, chosen)
    texts = groups.vocabulary.take(groups.codes).to_pylist()
    seen: list[set[str]] = [set() for _ in range(int(found.widths.sum()))]
    for text, column in zip(texts, found.columns.tolist(), strict=True):
        seen[column].add(text)
    counts = np.bincount(found.columns, minlength=len(seen))
    rows = len(groups.offsets) - 1
    spots = (
        Spot(tuple(sorted(tokens)), bool(count < rows)) for tokens, count in zip(seen, counts, strict=True)
    )
    places = (
        tuple(found.columns[start:end].tolist())
        for start, end in zip(groups.offsets[:-1], groups.offsets[1:], strict=True)
    )
    return Consensus(tuple(spots), tuple(places), float(found.scores.sum()))
