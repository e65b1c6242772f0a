"""From two samples of scores, pairs of one page and pairs of two, to a ratio for each score.

A site that shows many pairs of either kind is calibrated by itself; one that shows few relies on the prior,
which is what sites have in common. `bench/raw/fit.py` writes `prior.json` from sites whose pages are known,
each site with the same weight.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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
