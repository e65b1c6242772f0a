"""How a rule is judged by the likelihood ratios of the pages that it brings together.

Never by their sum or mean, in which evidence for pays for evidence against: a false rule has a tail. Two
numbers are asked: the mean of the worst tenth, and the share of pages that are expected to be right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from undust.pages import EVIDENCE_MOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.learning.state import Effect

    Floats = NDArray[np.float64]

WORST = 0.1
"""Share of the pages that are looked at as the worst ones."""
LEAST_WORST = 1.0
"""What the mean ratio of the worst pages must be."""
LEAST_RIGHT = 0.95
"""The share of pages that must be expected to be right; since no ratio exceeds 4, it is 0.982 at most."""


def votes_of(effect: Effect) -> Floats:
    """Return the ratio of each page that a rule brings together with another URL, of one page or two."""
    known = max(effect.pages - int((effect.votes >= 0).sum()), 0)
    return np.concatenate((effect.votes, np.full(known, EVIDENCE_MOST)))


def are_convincing(votes: Floats) -> bool:
    """Return whether pages that come together are one, in the tail as well."""
    return worst(votes) >= LEAST_WORST and share_right(votes) >= LEAST_RIGHT


def worst(votes: Floats) -> float:
    """Return the mean of the worst tenth.

    >>> float(worst(np.array([4.0] * 19 + [-4.0])))
    0.0
    """
    count = max(1, int(np.ceil(WORST * len(votes))))
    return float(np.sort(votes)[:count].mean()) if len(votes) else 0.0


def share_right(votes: Floats) -> float:
    """Return the share of pages that are expected to be right.

    >>> share_right(np.zeros(3))
    0.5
    """
    return float((1 / (1 + np.exp(-votes))).mean()) if len(votes) else 0.5
