"""What an edit is worth: pages saved, less pages lost, less targets that do not work, less its length.

How many pages it may lose follows from one model of risk for all kinds of edits. An edit is true, and then
goes wrong as seldom as pages of the site change between fetches; or it is false, and goes wrong at a rate of
its own. How often a kind of edit is true is known beforehand from other sites (`bench.calibrate`), and what
an edit takes to say counts against it: of many that are tried, some look right by luck.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import ceil, exp, inf, log
from pathlib import Path
from typing import TYPE_CHECKING, Self

from undust.errors import UndustError
from undust.judging.effect import SUPPORTS
from undust.rules.verdict import name_other_form
from undust.searching.kinds import GUARDED, IN_OTHER_FOLDERS, NUMBER_DROPPED, base_kind_of, kind_of
from undust.searching.removed_texts import (
    Excused,
    is_varied,
    may_name_versions,
    number_votes,
    votes_beside_default,
)
from undust.statistics import log_beta, most_of_mixture, upper_of_mixture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undust.edits import Edit
    from undust.judging import EditEffect


_LARGEST = {"true": 1.0, "noise": 1.0, "wrong": inf, "right": inf}
"""The numbers of a kind, each above 0 and below this."""
_ALMOST = 0.999
"""No kind of edit is always true."""
_MOST_NOISE = 0.5
USUAL_FPR = 0.01
"""The share of false merges under which the numbers below were chosen."""
NOTHING_EXCUSED = Excused()
MANY_FOLDERS = 5
"""Folders in which an edit that removes something must hold before it is taken to hold in others."""
FEW_UNSEEN = 0.25
"""Pages of which nothing is known, for each that is known, that are taken to be like those."""
LEAST_MOST = 0.004
"""However few false merges a person accepts, no edit is known to make fewer than this share of them."""


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


_STEP = 1.1
"""Numbers of pages that a bound is looked for on: each is at least this many times the one before."""


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
    """What passing all tests adds to the log odds that it is true, unless conditions were chosen to pass."""
    fewer: float = 1.0
    """The bound also holds for counts on at least this share of the number of its own pages, …"""
    least: float = 50.0
    """… or of this number, if that is larger."""


@dataclass(frozen=True)
class Risk:
    """What is known before anything was seen."""

    priors: dict[str, KindPrior]
    bit: float = 0.05
    """What a bit takes from the odds, as a logarithm."""
    certain: float = 100.0
    """What is known beforehand of how often a true edit seems wrong counts as much as this many pages."""
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
        other pages, if there are nearly as many. What a part of the right pages proves, all of them prove:
        more of them never raise the bound, although whole pages are counted.

        Args:
            kind: Of the edit.
            bits: What it takes to say it.
            right: Pages that it was seen to bring together.
            wrong: Pages that it was seen to lose.
            beside: Other edits of this kind on this site: how many of them are expected to be true, and how
                many there are.

        """
        least = ceil(max(self.accepted.least, wrong))
        counted = 1.0
        for trials in _steps(least, round(right + wrong)):
            parts = self.mixture(kind, bits, min(right, trials - wrong), wrong, beside)
            counted = min(counted, most_of_mixture(parts, trials) / (self.accepted.fewer * trials))
        parts = self.mixture(kind, bits, right, wrong, beside)
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
        own, passed = known.own * right, 0.0 if kind.endswith(GUARDED) else known.odds
        of_accepted = replace(self, certain=known.certain)
        is_false = of_accepted._false(prior, self.bit * bits - passed, own, wrong)  # noqa: SLF001 -- its own
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


def _steps(least: int, most: int) -> Iterator[int]:
    """Yield numbers up to one, each some larger; the first is always there.

    >>> list(_steps(50, 65)), list(_steps(50, 20))
    ([50, 56, 62], [50])
    """
    yield least
    while (least := ceil(_STEP * least)) <= most:
        yield least


def _beta_binomial(right: float, wrong: float, a: float, b: float) -> float:
    return log_beta(wrong + a, right + b) - log_beta(a, b)


RISK = Risk(PRIORS)


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
    """λ: a page lost weighs as much as this many URLs saved."""
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
    """The share of what it saves that an edit is worth at least, whatever its results: those that do not work
    are not fetched, and URLs are compared by them all the same."""
    bit: float = 0.05
    """β: a bit of an edit's text."""
    worst: float = 1.0
    """The worst tenth of the votes says at least this …"""
    right: float = 0.95
    """… and such a share of the pages is expected to be right; no vote is surer than 0.982."""
    most: float = 0.012
    """The share of merged pages that may be another page, as far as can be expected."""
    has_versions: bool = False
    """Whether pages are alike if they differ a little, so that a number may name a version of a page."""
    least_pages: int = 3
    """Pages that an edit must bring together."""
    elsewhere: float = 0.009
    """How likely an edit may be wrong in a folder that was not seen."""
    risk: Risk = RISK

    @classmethod
    def under(cls, max_fpr: float) -> Self:
        """Return the objective for the largest share of false merges that a person accepts."""
        return cls(most=max(LEAST_MOST, cls.most * max_fpr / USUAL_FPR))

    def worth(self, effect: EditEffect, excused: Excused = NOTHING_EXCUSED) -> Worth:
        """Return what an edit is worth, from what it would do, and from failures that guards leave out."""
        wrong = effect.wrong + excused.pages
        if not self.has_versions:
            wrong += effect.unsure
        exposed = effect.pages + wrong + effect.silent - effect.unseen
        # A short list is as short under every key: what it says of numbers it says once.
        is_of_numbers = base_kind_of(effect) == NUMBER_DROPPED
        right = effect.distinct_pages if is_of_numbers else effect.pages
        rate = self.risk.rate(kind_of(effect), effect.edit, right, wrong)
        return self._worth(effect, rate * exposed + self.lost_unseen(effect, rate), excused)

    def lost_unseen(self, effect: EditEffect, rate: float) -> float:
        """Return how many pages are expected to be lost of those of which nothing is known.

        If there are many, they are pages of another sort than those that are known: empty, short, not
        fetched. What these show says little of them, so that of their risk no more is known than of the kind
        of edit beforehand.
        """
        if effect.unseen <= FEW_UNSEEN * effect.pages:
            return rate * effect.unseen
        return max(rate, self.risk.rate(kind_of(effect), effect.edit, 0.0, 0.0)) * effect.unseen

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
        if not effect.edit.removes:
            return True
        votes = votes_beside_default(effect, SUPPORTS)
        wrong = votes.wrong + excused.pages
        return self.risk.rate(kind_of(effect), effect.edit, votes.right, wrong) <= self.most

    def may_drop_numbers(self, edit: Edit, right: float, wrong: float) -> bool:
        """Return whether an edit may remove numbers that were right and wrong on this many pages."""
        return self.risk.rate(NUMBER_DROPPED, edit, right, wrong) <= self.most

    def is_tested(self, effect: EditEffect) -> bool:
        """Return whether what an edit removes was seen to mean nothing."""
        return is_varied(effect) and not (self.has_versions and may_name_versions(effect))

    def holds_in_others(self, effect: EditEffect, folders: int) -> bool:
        """Return whether an edit that holds in some folders is taken to hold in those that were not seen.

        What one person shows in folders of their own says nothing of what others mean by the same name.
        """
        if effect.edit.removes and folders < MANY_FOLDERS:
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
