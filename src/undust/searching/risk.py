"""How likely an edit merges two pages: one model for all kinds of edits.

An edit is true, and then goes wrong as seldom as pages of the site change between fetches; or it is false,
and goes wrong at a rate of its own. How often a kind of edit is true is known beforehand from other sites,
and what an edit takes to say counts against it: of many that are tried, some look right by luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log
from typing import TYPE_CHECKING

from undust.searching.kinds import IN_OTHER_FOLDERS
from undust.searching.priors import PRIORS, KindPrior

if TYPE_CHECKING:
    from undust.edits import Edit


@dataclass(frozen=True)
class Risk:
    """What is known before anything was seen."""

    priors: dict[str, KindPrior]
    bit: float = 0.05
    """What a bit takes from the odds, as a logarithm."""
    certain: float = 100.0
    """So many pages are worth what is known beforehand of how often a true edit seems wrong."""

    def rate(self, kind: str, edit: Edit, right: float, wrong: float) -> float:
        """Return the share of pages that an edit is expected to merge wrongly, after some were seen."""
        return self._rate(self.priors[kind], self.bit * edit.bits, right, wrong)

    def in_other_folders(self, kind: str, folders: int) -> float:
        """Return how likely an edit is wrong in a folder, after it was right in others."""
        return self._rate(self.priors[f"{kind}{IN_OTHER_FOLDERS}"], 0.0, folders, 0.0)

    def _rate(self, prior: KindPrior, luck: float, right: float, wrong: float) -> float:
        odds = log(prior.true / (1.0 - prior.true)) - luck
        noise, clean = self.certain * prior.noise, self.certain * (1.0 - prior.noise)
        true = _beta_binomial(right, wrong, noise, clean)
        false = _beta_binomial(right, wrong, prior.wrong, prior.right)
        is_false = 1.0 / (1.0 + exp(min(500.0, odds + true - false)))
        if_true = (wrong + noise) / (right + wrong + self.certain)
        if_false = (wrong + prior.wrong) / (right + wrong + prior.wrong + prior.right)
        return is_false * if_false + (1.0 - is_false) * if_true


def _beta_binomial(right: float, wrong: float, a: float, b: float) -> float:
    return _beta(wrong + a, right + b) - _beta(a, b)


def _beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


RISK = Risk(PRIORS)
