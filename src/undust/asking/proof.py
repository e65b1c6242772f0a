"""Phase 4 of DustBuster over the rules of one site: each is tried until it is decided.

Bar-Yossef, Keidar and Schonfeld, figure 5, for rules of every kind. A rule that says no more than one that
holds is not tried; where a rule fails, the other direction is; of two rules that undo each other, the one
that shrinks a URL comes first.

A rule that was likely before any fetch needs fewer answers. Its prior, what a log or an index says of it, and
the answers of the site count together. A rule is true, and then goes wrong as seldom as pages change between
two visits; or it is false, and goes wrong at a rate that is unknown. It is confirmed when the expected share
of false merges is as small as a person asked for, and refuted when enough answers are against it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Protocol

from undust.asking.outcome import RuleOutcome, is_tried
from undust.asking.sampling import Sampled, decide
from undust.judging.candidates import Candidate
from undust.rules import RuleSet
from undust.rules.proposed import LIKELY, is_proposed
from undust.rules.reasoning.algebra import refines
from undust.rules.reasoning.inverses import reversed_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from undust.asking.outcome import How, Verdict
    from undust.asking.samples import Samples, SampleTrial
    from undust.asking.sampling import Answer, Found, Judge, Sampling
    from undust.rules import Rule

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
MOST_TRIES = 60
_AFTER_WRONG = 20
"""URLs that are tried after an answer against a rule: no more can make up for it, and another refutes it."""


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


def belief_in(said: object) -> Belief:
    """Return the probability that is written with a rule; anything but a probability is ignored."""
    true = said.get("true") if isinstance(said, dict) else None
    is_number = isinstance(true, int | float) and not isinstance(true, bool)
    return Belief(min(0.99, max(0.01, float(true)))) if is_number and true is not None else Belief()


def _is_sure(belief: Belief, right: int, wrong: int, max_fpr: float) -> bool:
    """Return whether no more false merges are to be expected than a person accepts, nor were seen."""
    return wrong <= max_fpr * (right + wrong) and belief.wrong_share(right, wrong) <= max_fpr


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
    found: Found = "undecided"
    left = MOST_TRIES
    for trial in trials:
        answer = judge(trial.url, trial.target)
        said[answer] += 1
        if answer != "unknown":
            seen.add(trial.of)
        right, wrong = said["same"], said["different"]
        belief = replace(belief, is_choice=trial.is_choice)
        is_seen = len(seen) >= trial.classes or said.total() >= 3 * trial.classes
        if wrong >= LEAST_AGAINST and wrong >= bounds.epsilon * (right + wrong):
            found = "refuted"
        elif right >= bounds.least and is_seen and _is_sure(belief, right, wrong, bounds.max_fpr):
            found = "valid"
        is_open = wrong <= bounds.max_fpr * min(bounds.samples, MOST_TRIES)
        left = left - 1 if is_open else min(left, _AFTER_WRONG) - 1
        is_hopeless = said.total() == said["unknown"] == HOPELESS_LIKELY or not left
        if found != "undecided" or is_hopeless or right + wrong >= bounds.samples:
            break
    return Sampled(candidate, found, said["same"], said["different"], said["unknown"])


VERDICTS: dict[str, Verdict] = {"valid": "confirmed", "refuted": "refuted"}
_LOOKED_AT = 3
"""Results of a rule that was turned round, of which none may be changed by it once more."""
HOPELESS = 30
"""URLs after which a rule is left undecided if none of them could be compared."""


class CountingJudge(Protocol):
    """A judge that keeps count."""

    because: str
    """Why it said what it said last."""
    time: float
    """Of the newest thing it knows."""

    def __call__(self, left: str, right: str) -> Answer:
        """Return whether two URLs show one page."""

    @property
    def fetches(self) -> int:
        """Requests that were made so far."""


@dataclass(frozen=True)
class SiteProof:
    """How the rules of one site are proved."""

    samples: Samples
    judge: CountingJudge
    sampling: Sampling
    how: How
    note: Callable[[Rule, str, str, Answer], object] = lambda *_: None
    """Called with every pair."""
    watch: Callable[[Rule], object] = lambda _: None
    """Called with every rule before it is tried."""

    def outcomes(self, rules: Sequence[Rule]) -> dict[str, list[RuleOutcome]]:
        """Return by the id of each rule what was found; after it a rule that holds in its stead."""
        ids = {rule.id for rule in rules}
        valid: list[Rule] = []
        done: dict[str, list[RuleOutcome]] = {}
        for rule in _in_order(rules):
            if not is_tried(rule):
                reason = "it keeps URLs as they are" if rule.kind == "keep" else "it is switched off"
                done[rule.id] = [RuleOutcome(rule, "undecided", reason)]
                continue
            if (known := next((each for each in valid if _says_no_more(rule, each)), None)) is not None:
                reason = f"it says no more than {known.id[:8]}, which holds"
                done[rule.id] = [RuleOutcome(rule, "undecided", reason)]
                continue
            done[rule.id] = [self._tried(rule)]
            other = _turned(rule) if done[rule.id][0].verdict == "refuted" else None
            if (
                other is not None
                and other.id not in ids
                and self._ends(other)
                and (tried := self._tried(other)).verdict == "confirmed"
            ):
                done[rule.id].append(tried)
            valid += [each.rule for each in done[rule.id] if each.verdict == "confirmed"]
        return done

    def _ends(self, rule: Rule) -> bool:
        """Return whether a rewrite leaves its own result alone; one that adds a parameter does not."""
        if rule.kind != "rewrite":
            return True
        step = RuleSet([rule.with_status("active")]).compile().program.step
        return all(step(target)[1] == target for _, target in self.samples.pairs(rule, _LOOKED_AT))

    def _tried(self, rule: Rule) -> RuleOutcome:
        self.watch(rule)
        reasons: Counter[str] = Counter()
        against: list[tuple[str, str]] = []
        targets: set[str] = set()
        before = self.judge.fetches

        def judge(left: str, right: str) -> Answer:
            said = self.judge(left, right)
            if said == "unknown":
                reasons[self.judge.because] += 1
            elif said == "different":
                against.append((left, right))
            else:
                targets.add(right)
            self.note(rule, left, right, said)
            return said

        sampled = self._sampled(rule, judge, reasons)
        reason = _reason(sampled, reasons, against)
        if sampled.found == "valid" and len(targets) == 1:
            # One form to log in is shown for any number of URLs.
            reason = f"its {sampled.positive} URLs all lead to one page"
            sampled = replace(sampled, found="undecided")
        found = RuleOutcome(
            rule,
            VERDICTS.get(sampled.found, "undecided"),
            reason,
            sampled.positive,
            sampled.negative,
            sampled.unknown,
            self.judge.fetches - before,
        )
        return found.with_evidence(self.how, self.judge.time)

    def _sampled(self, rule: Rule, judge: Judge, reasons: Counter[str]) -> Sampled:
        candidate = Candidate((rule,), 0, "pairs")
        if not is_proposed(rule):
            pairs = _while_hopeful(self.samples.pairs(rule, self.sampling.attempts), reasons)
            return decide(candidate, pairs, judge, self.sampling)
        trials = self.samples.trials(rule, MOST_TRIES)
        belief = belief_in(rule.extra.get(LIKELY))
        return decide_likely(candidate, trials, judge, self.sampling, belief)


def _turned(rule: Rule) -> Rule | None:
    """Return the other direction of a rule; of a proposed one it is proposed too, and as likely as not."""
    other = reversed_rule(rule)
    if other is None or not is_proposed(rule):
        return other
    return replace(other, status=rule.status, extra={LIKELY: {"true": USUAL}})


def _in_order(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules in their order, but of two that undo each other the one that shrinks URLs first."""
    order = list(rules)
    places = {rule.id: place for place, rule in enumerate(order)}
    for rule in rules:
        other = reversed_rule(rule)
        place, against = places[rule.id], places.get(other.id if other else "", -1)
        if place < against and len(rule.target or "") > len(rule.source):
            order[place], order[against] = order[against], order[place]
    return order


def _says_no_more(rule: Rule, valid: Rule) -> bool:
    if rule.kind == "replace":
        return refines(rule, valid)
    other = reversed_rule(rule)
    return other is not None and other.id == valid.id


def _while_hopeful(pairs: Iterator[tuple[str, str]], reasons: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs, but no more when the first thirty all came to nothing."""
    for number, pair in enumerate(pairs):
        if number == HOPELESS == reasons.total():
            return
        yield pair


def _reason(sampled: Sampled, reasons: Counter[str], against: list[tuple[str, str]]) -> str:
    decided = sampled.positive + sampled.negative
    if not sampled.asked:
        return "there is no URL to try it on"
    if sampled.found == "refuted":
        left, right = against[0]
        return (
            f"{sampled.negative} of {decided} URLs show another page than their target, as {left} and {right}"
        )
    if sampled.found == "valid":
        return f"{sampled.positive} of {decided} URLs show the page of their target"
    most = max(sorted(reasons), key=reasons.__getitem__, default="")
    return (
        f"{decided} of {sampled.asked} URLs could be compared; most often: {most}"
        if most
        else (f"only {decided} of its URLs could be compared")
    )
