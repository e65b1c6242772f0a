"""What sites have in common: the numbers that a site with few witnesses leans on.

`bench/raw/fit.py` writes `prior.json` from sites whose pages are known, each site with the same weight.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

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
