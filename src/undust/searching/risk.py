"""How likely an edit merges two pages: one model for all kinds of edits.

An edit is true, and then goes wrong as seldom as pages of the site change between fetches; or it is false,
and goes wrong at a rate of its own. How often a kind of edit is true is known beforehand from other sites,
and what an edit takes to say counts against it: of many that are tried, some look right by luck.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING

from undust.searching.kinds import IN_OTHER_FOLDERS
from undust.searching.priors import PRIORS, KindPrior
from undust.statistics import log_beta, most_of_mixture, upper_of_mixture

if TYPE_CHECKING:
    from undust.edits import Edit


_ALMOST = 0.999
"""No kind of edit is always true."""
_MOST_NOISE = 0.5


@dataclass(frozen=True)
class AcceptedEdits:
    """How edits that were accepted fare on pages that nothing was learned from, beside what is known of all.

    Fitted by `bench.calibration_fit` on half of the sites, and judged on the others.
    """

    own: float = 0.5
    """What a page of its own is worth that spoke for an edit: the edit was chosen for it."""
    certain: float = 40.0
    """The number of pages that are worth what is known of how often a true edit seems wrong."""
    noise: float = 1.5
    """How many times more often a true edit seems wrong on other pages than before it was chosen."""
    odds: float = 3.0
    """What passing all tests adds to the odds that an edit is true, as a logarithm."""
    fewer: float = 0.9
    """The bound also holds for counts on at least this share of the number of its own pages."""


@dataclass(frozen=True)
class Risk:
    """What is known before anything was seen."""

    priors: dict[str, KindPrior]
    bit: float = 0.05
    """What a bit takes from the odds, as a logarithm."""
    certain: float = 100.0
    """So many pages are worth what is known beforehand of how often a true edit seems wrong."""
    site: float = 10.0
    """This many edits of a kind on one site are worth what is known beforehand of how many are true."""
    accepted: AcceptedEdits = AcceptedEdits()

    def rate(self, kind: str, edit: Edit, right: float, wrong: float) -> float:
        """Return the share of pages that an edit is expected to merge wrongly, after some were seen."""
        return self._rate(self.priors[kind], self.bit * edit.bits, right, wrong)

    def in_other_folders(self, kind: str, folders: int) -> float:
        """Return how likely an edit is wrong in a folder, after it was right in others."""
        return self._rate(self.priors[f"{kind}{IN_OTHER_FOLDERS}"], 0.0, folders, 0.0)

    def is_true(self, kind: str, bits: float, right: float, wrong: float) -> float:
        """Return how likely an edit is true, after some pages were seen."""
        return 1.0 - self._false(self.priors[kind], self.bit * bits, right, wrong)

    def upper(
        self, kind: str, bits: float, right: float, wrong: float, beside: tuple[float, int] = (0.0, 0)
    ) -> float:
        """Return what the share of pages that an accepted edit merges wrongly does not exceed.

        That is with 95 % probability. It holds for the rate in the long run, and for what is counted on
        other pages, if there are nearly as many.

        Args:
            kind: Of the edit.
            bits: What it takes to say it.
            right: Pages that it was seen to bring together.
            wrong: Pages that it was seen to lose.
            beside: Other edits of this kind on this site: how many of them are expected to be true, and how
                many there are.

        """
        parts = self.mixture(kind, bits, right, wrong, beside)
        trials = round(right + wrong)
        counted = most_of_mixture(parts, trials) / max(1.0, self.accepted.fewer * trials)
        return min(1.0, max(upper_of_mixture(parts), counted))

    def mixture(
        self, kind: str, bits: float, right: float, wrong: float, beside: tuple[float, int] = (0.0, 0)
    ) -> tuple[tuple[float, float, float], ...]:
        """Return how that share is distributed: beta distributions with weights, if true and if false."""
        prior, known = self.priors[kind], self.accepted
        true, others = beside
        share = (self.site * prior.true + true) / (self.site + others)
        noise = min(_MOST_NOISE, known.noise * prior.noise)
        prior = replace(prior, true=min(share, _ALMOST), noise=noise)
        own = known.own * right
        of_accepted = replace(self, certain=known.certain)
        is_false = of_accepted._false(prior, self.bit * bits - known.odds, own, wrong)  # noqa: SLF001 -- its own
        return (
            (1.0 - is_false, wrong + known.certain * noise, own + known.certain * (1.0 - noise)),
            (is_false, wrong + prior.wrong, own + prior.right),
        )

    def _rate(self, prior: KindPrior, luck: float, right: float, wrong: float) -> float:
        is_false = self._false(prior, luck, right, wrong)
        noise = self.certain * prior.noise
        if_true = (wrong + noise) / (right + wrong + self.certain)
        if_false = (wrong + prior.wrong) / (right + wrong + prior.wrong + prior.right)
        return is_false * if_false + (1.0 - is_false) * if_true

    def _false(self, prior: KindPrior, luck: float, right: float, wrong: float) -> float:
        """Return how likely an edit is false."""
        odds = log(prior.true / (1.0 - prior.true)) - luck
        noise, clean = self.certain * prior.noise, self.certain * (1.0 - prior.noise)
        true = _beta_binomial(right, wrong, noise, clean)
        false = _beta_binomial(right, wrong, prior.wrong, prior.right)
        return 1.0 / (1.0 + exp(min(500.0, odds + true - false)))


def _beta_binomial(right: float, wrong: float, a: float, b: float) -> float:
    return log_beta(wrong + a, right + b) - log_beta(a, b)


RISK = Risk(PRIORS)
