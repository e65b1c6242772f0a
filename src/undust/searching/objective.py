"""What an edit is worth: pages saved, less pages lost, less targets that do not work, less its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from undust.searching.kinds import kind_of
from undust.searching.risk import RISK, Risk

if TYPE_CHECKING:
    from undust.judging import EditEffect

USUAL_FPR = 0.01
"""The share of wrong merges under which the numbers below were chosen."""


@dataclass(frozen=True)
class Worth:
    """An edit's worth and what it is made of."""

    value: float
    rate: float
    """The share of merged pages that are expected to be another page."""
    saved: float
    lost: float


@dataclass(frozen=True)
class Objective:
    """E[saved] - λ E[lost] - μ E[targets that do not work] - β bits."""

    loss: float = 40.0
    """λ: a page lost weighs as much as so many URLs saved."""
    target: float = 0.05
    """μ: a URL sent to where none was seen."""
    gone: float = 1.0
    """A URL sent to where the site is known to have no page."""
    against: float = 0.25
    """A URL that the site prefers, sent to one that it does not."""
    moved: float = 0.005
    """A URL moved at all: of two edits that do the same, the quieter one wins."""
    bit: float = 0.05
    """β: a bit of an edit's text."""
    guard: float = 0.1
    """Pages that count as lost for each guard that an edit was narrowed to …"""
    exception: float = 0.5
    """… and for each exception that it was given."""
    worst: float = 0.0
    """The worst tenth of the votes says at least this."""
    most: float = 0.012
    """The share of merged pages that may be another page, as far as anybody can expect."""
    risk: Risk = RISK

    @classmethod
    def under(cls, max_fpr: float) -> Self:
        """Return the objective for the largest share of wrong merges that a person accepts."""
        return cls(most=cls.most * max_fpr / USUAL_FPR)

    def worth(self, effect: EditEffect) -> Worth:
        """Return what an edit is worth, from what it would do."""
        right = float(effect.pages)
        # Guards were chosen so that failures are left out: as much is still to be expected of others.
        wrong = effect.wrong + self.guard * len(effect.edit.when) + self.exception * len(effect.edit.unless)
        rate = self.risk.rate(kind_of(effect), effect.edit, right, wrong)
        exposed = right + wrong + effect.silent
        lost = rate * exposed
        saved = max(0.0, effect.saved - effect.lost - rate * effect.silent)
        value = saved - self.loss * lost - self.bit * effect.edit.bits
        if not effect.edit.is_mask:
            astray = int((~effect.met).sum())
            value -= self.target * astray + self.gone * int(effect.gone.sum())
            value -= self.against * int(effect.against.sum()) + self.moved * len(effect.moved)
        return Worth(value, rate, saved, lost)

    def is_good(self, effect: EditEffect) -> bool:
        """Return whether an edit is worth having."""
        if effect.saved <= 0 or effect.worst < self.worst:
            return False
        worth = self.worth(effect)
        return worth.value > 0 and worth.rate <= self.most
