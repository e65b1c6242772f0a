"""How likely a rule is to be false, given how many rules of its shape are: a prior learned on the site.

Five clean pages say much about a session id on a site where nearly every such proposal holds, and little
about a value that looks like a default where one in fifty does. Of each shape of candidates it is estimated
which share is true, from what all of them did; a rule is believed if, given its own record, few of the pages
that it will touch are expected to be lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import exp, lgamma, log, log1p
from typing import TYPE_CHECKING, Protocol

import numpy as np

from undust.proposing.papers import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.rules import Rule

PUBLISHED_METHODS = frozenset(learner.name for learner in LEARNERS)
TRUE_FAILS = 0.003
"""Share of pages on which a true rule seems to fail: pages change between two fetches."""
FALSE_A, FALSE_B = 0.6, 0.5
"""A false rule fails nearly everywhere or hardly anywhere (Beta), as fitted to real sites."""
PSEUDO = 4.0
"""Candidates that a prior weighs as much as."""
_UNKNOWN, UNKNOWN_PUBLISHED = 0.8, 0.5
"""The share that is true where nothing was tried yet: five clean pages will then do; not so for the published
learners, whose rules say where they hold by names of pages."""
_STEPS = 12
_CAPTURED = re.compile(r"\{[a-z0-9_]+(?:\*\*)?(?::[a-z|]+)?\}", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")


def shape_of(rule: Rule) -> str:
    """Return what a rule looks like, whatever its words are.

    >>> from undust import Rule
    >>> shape_of(Rule.parse('rewrite {s}://{h}/{a}/{b:int}?sid={v} → {s}://{h}/{a}?id={b}', site="a.test"))
    'c://c/c/c?w=c'
    """
    source = rule.source.replace("{**", "{*").replace("{*}", "*")
    return _WORD.sub("w", _CAPTURED.sub("\0", source)).replace("\0", "c")


class TrialRecord(Protocol):
    """What a candidate did to the pages of a site."""

    @property
    def lost(self) -> int:
        """Pages that it lost."""

    @property
    def pages(self) -> int:
        """Pages of which it sent several URLs to one form."""


@dataclass
class Beliefs:
    """What is known of the shapes of candidates on one site."""

    trials: dict[tuple[str, str], dict[str, tuple[int, int]]] = field(default_factory=dict)
    """By proposer and shape: the candidates, each with the pages that it lost and those that it merged."""
    shares: dict[tuple[str, str], float] = field(default_factory=dict)
    """Which share of a shape is true, of those that were tried, by its proposer's prior."""
    priors: dict[str, float] = field(default_factory=dict)
    """The same of all shapes of a proposer."""

    def note(self, records: Iterable[tuple[Rule, TrialRecord]]) -> None:
        """Add what candidates did; the shares are estimated anew."""
        for rule, effect in records:
            if effect.lost + effect.pages:
                of_shape = self.trials.setdefault((rule.learned_by or "", shape_of(rule)), {})
                of_shape[str(rule)] = (effect.lost, effect.pages)
        self.shares.clear()
        self.priors.clear()

    def share(self, proposer: str, shape: str) -> float:
        """Return which share of the candidates of a shape is true."""
        key = proposer, shape
        if proposer not in self.priors:
            own = (of_shape for (other, _), of_shape in self.trials.items() if other == proposer)
            self.priors[proposer] = _share(_odds_of(own), _before_any_trial(proposer))
        if key not in self.shares:
            # For every proposer: what fails for one must not be accepted for another.
            alike = (of_shape for (_, other), of_shape in self.trials.items() if other == shape)
            self.shares[key] = _share(_odds_of(alike), self.priors[proposer])
        return self.shares[key]

    def risk(self, rule: Rule, effect: TrialRecord) -> float:
        """Return the share of pages that a rule is expected to lose where it is used."""
        share = self.share(rule.learned_by or "", shape_of(rule))
        is_true = 1 / (1 + exp(-_log_odds(effect.lost, effect.pages)) * (1 - share) / share)
        trials = effect.lost + effect.pages
        fails = (FALSE_A + effect.lost) / (FALSE_A + FALSE_B + trials)
        return is_true * TRUE_FAILS + (1 - is_true) * fails


def _before_any_trial(proposer: str) -> float:
    return UNKNOWN_PUBLISHED if proposer in PUBLISHED_METHODS else _UNKNOWN


def _odds_of(shapes: Iterable[Mapping[str, tuple[int, int]]]) -> list[float]:
    return [_log_odds(*each) for of_shape in shapes for each in of_shape.values()]


def _share(log_odds: list[float], prior: float) -> float:
    """Return which share of candidates is true (expectation and maximization)."""
    odds = np.exp(np.asarray(log_odds))
    share = prior
    for _ in range(_STEPS):
        is_true = odds * share / (odds * share + 1 - share)
        share = float((is_true.sum() + PSEUDO * prior) / (len(odds) + PSEUDO))
    return share


def _log_odds(lost: int, pages: int) -> float:
    """Return how much likelier a record is for a true rule than for a false one, as a logarithm."""
    true = lost * log(TRUE_FAILS) + pages * log1p(-TRUE_FAILS)
    false = log_beta(FALSE_A + lost, FALSE_B + pages) - log_beta(FALSE_A, FALSE_B)
    return max(-500.0, min(500.0, true - false))


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function, by which one belief is weighed against another."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)
