"""Phase 4 of DustBuster over the rules of one site: each is tried until it is decided.

Bar-Yossef, Keidar and Schonfeld, figure 5, for rules of every kind. A rule that says no more than one that
holds is not tried; where a rule fails, the other direction is; of two rules that undo each other, the one
that shrinks a URL comes first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa

from undust.asking.outcome import RuleOutcome, is_tried
from undust.asking.samples import SampleTrial, class_of, like_those, made_urls
from undust.asking.sampling import MOST_TRIES, USUAL, belief_in, decide, decide_likely, refute_further
from undust.judging.verdict import Candidate
from undust.rules import RuleSet
from undust.rules.language import LIKELY, is_proposed
from undust.rules.reasoning.algebra import refines, reversed_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from undust.asking.outcome import How, Verdict
    from undust.asking.samples import Samples
    from undust.asking.sampling import Answer, Judge, Sampled, Sampling
    from undust.rules import Rule

VERDICTS: dict[str, Verdict] = {"valid": "confirmed", "refuted": "refuted"}
MOST_APART = 3
"""Pairs that are known to be two pages and that a rule would merge, which are counted before any other."""
LEAST_HELD = 3
"""URLs on which a rule was right, without which no class of URLs is looked for in which it fails."""
LEAST_INSIDE, MOST_INSIDE = 3, 6
"""Answers against a rule in a class of URLs without which it may be right there; and URLs asked about."""
MOST_SORTED = 1_000
"""URLs of a rule among which those are looked for that may contradict it."""
MOST_BESIDE = 6
"""URLs that are tried because they are like one that contradicts a rule."""
_LOOKED_AT = 3
"""Results of a rule that was turned round, of which none may be changed by it once more."""
HOPELESS = 30
"""URLs after which a rule is left undecided if none of them could be compared."""


class CountingJudge(Protocol):
    """A judge that keeps count."""

    because: str
    """The reason for its last answer."""
    time: float
    """Of the newest thing it knows."""

    def __call__(self, left: str, right: str) -> Answer:
        """Return whether two URLs show one page."""

    @property
    def fetches(self) -> int:
        """Requests that were made so far."""

    @property
    def apart(self) -> Mapping[tuple[str, str], None]:
        """Pairs of URLs that it saw to show two pages, in their order."""


class TriedRule(NamedTuple):
    """A rule that was tried."""

    given: Rule
    """As it was before."""
    outcome: RuleOutcome
    sampled: Sampled
    right: list[str]
    """URLs that show the page of their target."""
    against: list[tuple[str, str]]
    """URLs that show another page, and their targets."""


@dataclass(frozen=True)
class Beforehand:
    """What is known of rules before any request."""

    true: Callable[[Rule], float] = lambda _: USUAL
    """How likely a rule is of which nothing is written."""
    classes: Callable[[Sequence[str], Sequence[str], Sequence[str]], Iterable[str]] = lambda *_: ()
    """Of URLs where a rule is right, where it is wrong, and all that it changes: guards that leave out what
    is wrong and nothing that is right."""


NOTHING_BEFOREHAND = Beforehand()


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
    beforehand: Beforehand = NOTHING_BEFOREHAND

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
            tried = self._tried(rule, valid)
            other = self._narrowed(tried, valid)
            done[rule.id] = other or [tried.outcome, *self._turned_round(tried, ids, valid)]
            valid += [each.rule for each in done[rule.id] if each.verdict == "confirmed"]
        return done

    def _ends(self, rule: Rule) -> bool:
        """Return whether a rewrite leaves its own result alone; one that adds a parameter does not."""
        if rule.kind != "rewrite":
            return True
        step = RuleSet([rule.with_status("active")]).compile().program.step
        return all(step(target)[1] == target for _, target in self.samples.pairs(rule, _LOOKED_AT))

    def _turned_round(
        self, tried: TriedRule, known: Container[str], held: Sequence[Rule]
    ) -> list[RuleOutcome]:
        """Return the other direction of a rule that was refuted, if that one holds.

        It cannot where both URLs of a pair show a page, and not the same: it would merge these as well.
        """
        other = _turned(tried.given) if tried.outcome.verdict == "refuted" else None
        if other is None or other.id in known or not self._ends(other) or any(self._merged(other, held)):
            return []
        found = self._tried(other, held).outcome
        return [found] if found.verdict == "confirmed" else []

    def _merged(self, rule: Rule, held: Sequence[Rule]) -> Iterator[tuple[str, str]]:
        """Yield pairs of URLs that show two pages and become one by a rule, together with other rules."""
        if not self.judge.apart:
            return
        sides = (pa.array(side, pa.large_string()) for side in zip(*self.judge.apart, strict=True))
        beside = [each for each in self.samples.rules if each.status == "active"]
        beside = list({each.id: each for each in (*beside, *held) if each.id != rule.id}.values())
        before, after = RuleSet(beside).compile(), RuleSet([*beside, rule.with_status("active")]).compile()
        keys = [
            (before.batch(side, keys=True).to_pylist(), after.batch(side, keys=True).to_pylist())
            for side in sides
        ]
        (left, left_now), (right, right_now) = keys
        for pair, *was, one, other in zip(self.judge.apart, left, right, left_now, right_now, strict=True):
            if one == other and was[0] != was[1]:
                yield pair

    def _narrowed(self, tried: TriedRule, held: Sequence[Rule]) -> list[RuleOutcome]:
        """Return a rule that fails in one class of URLs as refuted, and without that class, if it holds then.

        A class counts if the rule was right nowhere in it and wrong several times: what is wrong once may be
        wrong anywhere.
        """
        rule, outcome = tried.given, tried.outcome
        is_open = is_proposed(rule) and not rule.unless and outcome.verdict != "confirmed"
        if not is_open or not tried.against or len(tried.right) < LEAST_HELD:
            return []
        wrong = [left for left, _ in tried.against]
        every = [url for url, _ in self.samples.pairs(rule, len(self.samples.urls))]
        for guard in self.beforehand.classes(tried.right, wrong, every):
            inside = self._asked_inside(replace(rule, when=(*rule.when, guard)), rule, tried)
            if inside is None:
                continue
            narrow = replace(rule, unless=(guard,), examples=(), extra={LIKELY: {"true": USUAL}})
            if (found := self._tried(narrow, held).outcome).verdict == "confirmed":
                return [self._refuted_there(tried, inside), found]
        return []

    def _asked_inside(self, inside: Rule, rule: Rule, tried: TriedRule) -> list[tuple[str, str]] | None:
        """Return the pairs of a class, each two pages, after more of them were asked; None if one is not."""
        known = set(tried.against)
        against = list(tried.against)
        for trial in self.samples.trials(inside, MOST_INSIDE):
            pair = trial.url, trial.target
            if pair in known:
                continue
            said = self.judge(*pair)
            self.note(rule, *pair, said)
            if said == "same":
                return None
            against += [pair] if said == "different" else []
        return against if len(against) >= LEAST_INSIDE else None

    def _refuted_there(self, tried: TriedRule, against: list[tuple[str, str]]) -> RuleOutcome:
        """Return what was found of a rule, with the answers of a class in which it fails."""
        outcome = tried.outcome
        sampled = replace(tried.sampled, found="refuted", negative=len(against))
        found = replace(
            outcome,
            rule=tried.given,
            verdict="refuted",
            reason=_reason(sampled, Counter(), against),
            negatives=len(against),
        )
        return found.with_evidence(self.how, self.judge.time)

    def _tried(self, rule: Rule, held: Sequence[Rule]) -> TriedRule:
        self.watch(rule)
        reasons: Counter[str] = Counter()
        against: list[tuple[str, str]] = []
        right: dict[str, str] = {}
        before = self.judge.fetches

        def judge(url: str, target: str) -> Answer:
            said = self.judge(url, target)
            if said == "unknown":
                reasons[self.judge.because] += 1
            elif said == "different":
                against.append((url, target))
            else:
                right[url] = target
            self.note(rule, url, target, said)
            return said

        sampled = self._sampled(rule, judge, reasons, held)
        if self.how == "live" and is_proposed(rule) and sampled.found == "undecided":
            sampled = refute_further(sampled, self._telling(rule, right, against), judge, self.sampling)
        reason = _reason(sampled, reasons, against)
        if sampled.found == "valid" and len(set(right.values())) == 1:
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
        outcome = found.with_evidence(self.how, self.judge.time)
        return TriedRule(rule, outcome, sampled, list(right), against)

    def _telling(
        self, rule: Rule, right: Mapping[str, str], against: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[str, str]]:
        """Yield more URLs of a rule: like those that contradict it, made ones, and unlike those that agree.

        They are made of what was compared, since other URLs may show nothing.
        """
        held = sorted(right.items(), key=lambda pair: (len(pair[0]), pair))
        known = {url for url, _ in (*against, *held)}
        every = self.samples.pairs(rule, MOST_SORTED) if against else ()
        others = [pair for pair in every if pair[0] not in known]
        beside = like_those([url for url, _ in against], others)[:MOST_BESIDE]
        yield from beside
        step = RuleSet([rule.with_status("active")]).compile().program.step
        yield from made_urls(list(against), held, self.samples.urls, step)
        unlike = reversed(like_those([url for url, _ in held], others))
        yield from (pair for pair in unlike if pair not in beside)

    def _sampled(self, rule: Rule, judge: Judge, reasons: Counter[str], held: Sequence[Rule]) -> Sampled:
        candidate = Candidate((rule,), 0, "pairs")
        if not is_proposed(rule):
            pairs = _while_hopeful(self.samples.pairs(rule, self.sampling.attempts), reasons)
            return decide(candidate, pairs, judge, self.sampling)
        merged = list(islice(self._merged(rule, held), MOST_APART))
        known = (SampleTrial(*pair, class_of(pair[0]), 1) for pair in merged)
        others = self.samples.trials(rule, MOST_TRIES)
        trials = chain(known, (each for each in others if (each.url, each.target) not in merged))
        belief = belief_in(rule.extra.get(LIKELY), self.beforehand.true(rule))
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
