"""How often kinds of edits are true, as `bench.calibrate` found it on other sites."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST = {"true": 1.0, "noise": 1.0, "wrong": inf, "right": inf}
"""The numbers of a kind, each above 0 and below this."""


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


def load_priors(path: str | Path) -> dict[str, KindPrior]:
    """Return the priors of a file that `bench.calibrate` wrote.

    Raises:
        UndustError: The file cannot be read, or it does not say all kinds of edits as it should.

    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}; name a file of priors"
        raise UndustError(message) from None
    except ValueError:
        message = f"{path} is not JSON; name a file of priors"
        raise UndustError(message) from None
    kinds = data.get("kinds") if isinstance(data, dict) else None
    if not isinstance(kinds, dict):
        message = f"{path} has no object 'kinds'; name a file of priors"
        raise UndustError(message)
    for kind in PRIORS:
        _require(str(path), kind, kinds.get(kind))
    return priors_from({kind: kinds[kind] for kind in PRIORS})


def _require(path: str, kind: str, numbers: object) -> None:
    """Say what is wrong with the numbers of a kind."""
    if not isinstance(numbers, dict) or set(numbers) != set(_LARGEST):
        message = f"{path}: the kind '{kind}' needs exactly {', '.join(_LARGEST)}; add them to the file"
        raise UndustError(message)
    for name, largest in _LARGEST.items():
        number = numbers[name]
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if not is_number or not 0 < number < largest:
            message = f"{path}: '{name}' of the kind '{kind}' is {number!r}; write a number above 0"
            raise UndustError(message if largest == inf else f"{message} and below 1")


def priors_from(data: Mapping[str, Mapping[str, float]]) -> dict[str, KindPrior]:
    """Return the priors that a file holds, by kind of edit."""
    return {kind: KindPrior(**numbers) for kind, numbers in data.items()}


@cache
def _shipped() -> dict[str, KindPrior]:
    text = (files("undust.searching") / "priors.json").read_text(encoding="utf-8")
    return priors_from(json.loads(text)["kinds"])


PRIORS = _shipped()
