"""What an edit is worth: pages saved, less pages lost, less targets that do not work, less its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from undust.judging.effect import SUPPORTS
from undust.rules.verdict import name_other_form
from undust.searching.forgotten import Excused, number_votes, votes_beside_default
from undust.searching.kinds import NUMBER_DROPPED, base_kind_of, kind_of
from undust.searching.risk import RISK, Risk
from undust.searching.varied import is_varied, may_name_versions

if TYPE_CHECKING:
    from undust.edits import Edit
    from undust.judging import EditEffect

USUAL_FPR = 0.01
"""The share of wrong merges under which the numbers below were chosen."""
NOTHING_EXCUSED = Excused()
MANY_FOLDERS = 5
"""Folders in which an edit that removes something must hold before it is taken to hold in others."""
LEAST_MOST = 0.004
"""However few wrong merges a person accepts, no edit is known to make fewer than this share of them."""


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
    written: float = 0.01
    """A URL into which a word is written that it did not have: shorter forms are preferred."""
    compared: float = 0.5
    """The share of what it saves that an edit is worth at least, whatever its results: nobody fetches them if
    they do not work, and URLs are compared by them all the same."""
    bit: float = 0.05
    """β: a bit of an edit's text."""
    worst: float = 1.0
    """The worst tenth of the votes says at least this …"""
    right: float = 0.95
    """… and such a share of the pages is expected to be right; no vote is surer than 0.982."""
    most: float = 0.012
    """The share of merged pages that may be another page, as far as anybody can expect."""
    has_versions: bool = False
    """Whether pages are alike if they differ a little, so that a number may name a version of a page."""
    least_pages: int = 3
    """Pages that an edit must bring together."""
    elsewhere: float = 0.009
    """How likely an edit may be wrong in a folder that nobody saw."""
    risk: Risk = RISK

    @classmethod
    def under(cls, max_fpr: float) -> Self:
        """Return the objective for the largest share of wrong merges that a person accepts."""
        return cls(most=max(LEAST_MOST, cls.most * max_fpr / USUAL_FPR))

    def worth(self, effect: EditEffect, excused: Excused = NOTHING_EXCUSED) -> Worth:
        """Return what an edit is worth, from what it would do, and from failures that guards leave out."""
        wrong = effect.wrong + excused.pages
        exposed = effect.pages + wrong + effect.silent
        # A short list is as short under every key: what it says of numbers it says once.
        is_of_numbers = base_kind_of(effect) == NUMBER_DROPPED
        right = effect.distinct_pages if is_of_numbers else effect.pages
        lost = self.risk.rate(kind_of(effect), effect.edit, right, wrong) * exposed
        return self._worth(effect, lost, excused)

    def _worth(self, effect: EditEffect, lost: float, excused: Excused) -> Worth:
        # A page may come together from many keys: what is lost is a share of all of them.
        merges = max(effect.pages, effect.merges) + effect.wrong + excused.pages + effect.silent
        rate = lost / max(merges, 1e-9)
        saved = max(0.0, effect.saved - effect.lost - rate * effect.silent)
        value = saved - self.loss * lost - self.bit * effect.edit.bits
        if not effect.edit.is_mask:
            value -= min(self.astray(effect), (1.0 - self.compared) * saved)
        return Worth(value, rate, saved, lost)

    def astray(self, effect: EditEffect) -> float:
        """Return what it costs to write and to fetch the results of an edit."""
        astray = self.target * int((~effect.met).sum()) + self.gone * int(effect.gone.sum())
        moved = self.moved + (self.written if effect.edit.makes_up else 0.0)
        return astray + self.against * int(effect.against.sum()) + moved * len(effect.moved)

    def worth_having(self, effect: EditEffect, excused: Excused = NOTHING_EXCUSED) -> Worth | None:
        """Return what an edit is worth if it is worth having, else None."""
        if effect.saved <= self.bit * effect.edit.bits or effect.pages < self.least_pages:
            return None
        if not self._is_convincing(effect) or _leads_to_other_form(effect):
            return None
        worth = self.worth(effect, excused)
        if self._is_enough(worth):
            worth = self._with_numbers(worth, effect, excused)
        if not self._is_enough(worth) or not self.is_tested(effect):
            return None
        return worth if self._holds_beside_default(effect, excused) else None

    def _holds_beside_default(self, effect: EditEffect, excused: Excused) -> bool:
        """Return whether what an edit removes is known to do nothing with other values than the usual one."""
        if not effect.edit.forgets:
            return True
        votes = votes_beside_default(effect, SUPPORTS)
        wrong = votes.wrong + excused.pages
        return self.risk.rate(kind_of(effect), effect.edit, votes.right, wrong) <= self.most

    def may_drop_numbers(self, edit: Edit, right: float, wrong: float) -> bool:
        """Return whether an edit may remove numbers that were right and wrong on so many pages."""
        return self.risk.rate(NUMBER_DROPPED, edit, right, wrong) <= self.most

    def is_tested(self, effect: EditEffect) -> bool:
        """Return whether what an edit removes was seen to mean nothing."""
        return is_varied(effect) and not (self.has_versions and may_name_versions(effect))

    def holds_in_others(self, effect: EditEffect, folders: int) -> bool:
        """Return whether an edit that holds in some folders is taken to hold in those that nobody saw.

        What somebody shows in folders of their own says nothing of what others mean by the same name.
        """
        if effect.edit.forgets and folders < MANY_FOLDERS:
            return False
        return self.risk.in_other_folders(base_kind_of(effect), folders) <= self.elsewhere

    def _is_enough(self, worth: Worth) -> bool:
        return worth.value > 0 and worth.rate <= self.most

    def _with_numbers(self, whole: Worth, effect: EditEffect, excused: Excused) -> Worth:
        """Return the worth where numbers above one, which may be pages of a list, are counted apart."""
        numbers = number_votes(effect, SUPPORTS)
        numbers = numbers._replace(wrong=numbers.wrong + excused.numbers)
        exposed = sum(numbers)
        rest = float(effect.pages) + effect.wrong + excused.pages + effect.silent
        if not exposed:
            return whole
        rate = self.risk.rate(NUMBER_DROPPED, effect.edit, numbers.right, numbers.wrong)
        others = 1.0 - exposed / max(rest, exposed)
        return self._worth(effect, max(whole.lost, rate * exposed + others * whole.lost), excused)

    def _is_convincing(self, effect: EditEffect) -> bool:
        """Return whether the pages that come together are one, in the tail as well."""
        return effect.worst >= self.worst and effect.expected_right >= self.right


def _leads_to_other_form(effect: EditEffect) -> bool:
    """Return whether an edit leads to a printer's form, or to another language, and the site does not."""
    written = effect.edit.makes_up
    if not written or 2 * effect.welcome > len(effect.moved):
        return False
    return name_other_form(written, [word for word in effect.edit.literals() if word not in written])
