"""How often kinds of edits are true, as `bench.calibrate` found it on other sites."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class KindPrior:
    """What is known of a kind of edit."""

    true: float
    """The share of edits of this kind that are true."""
    noise: float
    """The share of pages that even a true edit seems to merge wrongly."""
    wrong: float
    """The share of pages that a false one merges wrongly: a beta distribution, its first number …"""
    right: float
    """… and its second."""


def priors_from(data: Mapping[str, Mapping[str, float]]) -> dict[str, KindPrior]:
    """Return the priors that a file holds, by kind of edit."""
    return {kind: KindPrior(**numbers) for kind, numbers in data.items()}


@cache
def _shipped() -> dict[str, KindPrior]:
    text = (files("undust.searching") / "priors.json").read_text(encoding="utf-8")
    return priors_from(json.loads(text)["kinds"])


PRIORS = _shipped()
