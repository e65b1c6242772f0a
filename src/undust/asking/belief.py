"""When a rule that was likely before any fetch is decided.

It needs fewer answers than another. Its prior, what a log or an index says of it, and the answers of the site
count together. A rule is true, and then goes wrong as seldom as pages change between two visits; or it is
false, and goes wrong at a rate that is unknown. It is confirmed when the expected share of false merges is as
small as a person asked for, and refuted when enough answers are against it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from math import exp, lgamma, log
from typing import TYPE_CHECKING

from undust.asking.sampling import Sampled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.asking.samples import SampleTrial
    from undust.asking.sampling import Found, Judge, Sampling
    from undust.judging.verdict import Candidate

USUAL = 0.5
"""The prior probability of a rule without one."""
_NOISE = 0.002
"""The share of pages that even a true rule seems to merge wrongly."""
_OF_ANY, _OF_CHOICE = (0.9, 0.5), (1.0, 4.0)
"""What is expected of a false one: a beta distribution of the share of pages that it merges wrongly. A false
rule that removes one of few values is wrong less often: the order of a single row does nothing."""
LEAST_AGAINST = 2
"""Answers against a rule without which it is not refuted: one may be an accident."""
HOPELESS_LIKELY = 12
"""URLs after which a rule stays proposed if none of them could be compared."""
LEAST_ELSEWHERE = 6
"""Answers for a rule without which it is not confirmed for a class none of whose URLs could be compared."""
MOST_TRIES = 60
_AFTER_WRONG = 20
"""URLs that are tried after an answer against a rule: no more can make up for it, and another refutes it."""
MOST_FURTHER = 20
"""URLs that are tried of a rule that is still undecided, where they are most likely to contradict it."""


@dataclass(frozen=True)
class Belief:
    """How likely a rule is, and what follows from answers.

    >>> round(Belief(0.5).wrong_share(0, 0), 2), round(Belief(0.5).wrong_share(8, 0), 3)
    (0.32, 0.009)
    """

    true: float = USUAL
    is_choice: bool = False
    """Whether the rule removes one of few values."""

    def wrong_share(self, right: int, wrong: int) -> float:
        """Return the expected share of false merges after some answers."""
        odds = log(self.true / (1.0 - self.true))
        if_true = wrong * log(_NOISE) + right * log(1.0 - _NOISE)
        first, second = _OF_CHOICE if self.is_choice else _OF_ANY
        if_false = _beta(wrong + first, right + second) - _beta(first, second)
        false = 1.0 / (1.0 + exp(min(500.0, odds + if_true - if_false)))
        rate = (wrong + first) / (right + wrong + first + second)
        return false * rate + (1.0 - false) * _NOISE


def _beta(first: float, second: float) -> float:
    return lgamma(first) + lgamma(second) - lgamma(first + second)


def belief_in(said: object, usual: float = USUAL) -> Belief:
    """Return the probability that is written with a rule; the usual one if nothing of the kind is."""
    true = said.get("true") if isinstance(said, dict) else None
    is_number = isinstance(true, int | float) and not isinstance(true, bool)
    return Belief(min(0.99, max(0.01, float(true)))) if is_number and true is not None else Belief(usual)


def _is_sure(belief: Belief, right: int, wrong: int, max_fpr: float) -> bool:
    """Return whether no more false merges are to be expected than a person accepts, nor were seen."""
    return wrong <= max_fpr * (right + wrong) and belief.wrong_share(right, wrong) <= max_fpr


def _is_refuted(right: int, wrong: int, bounds: Sampling) -> bool:
    return wrong >= LEAST_AGAINST and wrong >= bounds.epsilon * (right + wrong)


def decide_likely(
    candidate: Candidate,
    trials: Iterable[SampleTrial],
    judge: Judge,
    bounds: Sampling,
    belief: Belief,
) -> Sampled:
    """Ask about URLs of each class in turn until a likely rule is decided, or no more are worth asking."""
    said = Counter[str]()
    seen: set[str] = set()
    spent: set[str] = set()
    found: Found = "undecided"
    left = MOST_TRIES
    for trial in trials:
        answer = judge(trial.url, trial.target)
        said[answer] += 1
        if answer != "unknown":
            seen.add(trial.of)
        elif trial.is_last:
            spent.add(trial.of)
        right, wrong = said["same"], said["different"]
        belief = replace(belief, is_choice=trial.is_choice)
        without = spent if right >= LEAST_ELSEWHERE else set()
        is_seen = len(seen | without) >= trial.classes or said.total() >= 3 * trial.classes
        if _is_refuted(right, wrong, bounds):
            found = "refuted"
        elif right >= bounds.least and is_seen and _is_sure(belief, right, wrong, bounds.max_fpr):
            found = "valid"
        is_open = wrong <= bounds.max_fpr * min(bounds.samples, MOST_TRIES)
        left = left - 1 if is_open else min(left, _AFTER_WRONG) - 1
        is_hopeless = said.total() == said["unknown"] == HOPELESS_LIKELY or not left
        if found != "undecided" or is_hopeless or right + wrong >= bounds.samples:
            break
    return Sampled(candidate, found, said["same"], said["different"], said["unknown"])


def refute_further(
    sampled: Sampled, pairs: Iterable[tuple[str, str]], judge: Judge, bounds: Sampling
) -> Sampled:
    """Ask on where a rule is most likely to fail; it may be refuted by the answers, and never confirmed.

    Answers that support it there are not counted: such URLs were chosen, and some were made.
    """
    right, wrong, unknown = sampled.positive, sampled.negative, sampled.unknown
    alike = 0
    for pair in islice(pairs, MOST_FURTHER):
        answer = judge(*pair)
        alike += answer == "same"
        wrong += answer == "different"
        unknown += answer == "unknown"
        if _is_refuted(right + alike, wrong, bounds):
            return Sampled(sampled.candidate, "refuted", right + alike, wrong, unknown)
    return Sampled(sampled.candidate, "undecided", right, wrong, unknown)
