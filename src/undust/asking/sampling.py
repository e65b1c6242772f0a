"""Phase 4 of DustBuster: a rule is tried on few URLs, one after the other, until enough is known.

Bar-Yossef, Keidar and Schonfeld, figures 4 and 5. What decides whether two URLs show one page is the judge:
the clusters of a site that no learner saw (`judge_from`), or the site itself, asked live. A judge may not
know, and what is unknown counts neither for a rule nor against it. The figures fetch until they know; here
URLs are drawn without replacement and `attempts` bounds them, so that it always ends, and a rule with fewer
than `least` answers is undecided, never valid (A8b).

A rule that was likely before any fetch (`Belief`) needs fewer answers than another. Its prior, what a log or
an index says of it, and the answers of the site count together. A rule is true, and then goes wrong as seldom
as pages change between two visits; or it is false, and goes wrong at a rate that is unknown. It is confirmed
when the expected share of false merges is as small as a person asked for, and refuted when enough answers are
against it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from math import exp, lgamma, log
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.rules import RuleSet
from undust.rules.reasoning.algebra import refines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.asking.samples import SampleTrial
    from undust.judging.verdict import Candidate
    from undust.pages.clustering import SiteClusters
    from undust.rules import Canonicalizer, Rule


Answer = Literal["same", "different", "unknown"]
Judge = Callable[[str, str], Answer]
"""Whether two URLs show one page; `unknown` if it cannot be decided."""
Found = Literal["valid", "refuted", "undecided", "redundant"]

_REMEMBERED = 1 << 16
"""URLs whose place is known without a search; the same ones are drawn for many rules."""
ANSWERS: dict[int, Answer] = {1: "same", -1: "different", 0: "unknown"}


@dataclass(frozen=True)
class Sampling:
    """How much evidence confirms a rule; the defaults are the published ones."""

    samples: int = 100
    """N: answers that would decide any rule."""
    epsilon: float = 0.05
    """Share of counter-examples among them that refutes a rule; 0.1 in the paper's relaxed runs."""
    least: int = 3
    """Answers without which a rule stays undecided where URLs run out."""
    attempts: int = 1000
    """URLs tried at most, including those that stay undecided."""
    max_unknown: float = 0.5
    """Share of them at most: where most outcomes were never seen, the others prove little. A rule that
    takes a slash out of every URL is right wherever it was tried."""
    max_fpr: float = 0.01
    """The largest expected share of false merges of a proposed rule when it is confirmed."""
    seed: int = 0


@dataclass(frozen=True)
class Sampled:
    """A candidate and the result of its samples."""

    candidate: Candidate
    found: Found
    positive: int = 0
    negative: int = 0
    unknown: int = 0

    @property
    def asked(self) -> int:
        """How many pairs of URLs the judge was asked about."""
        return self.positive + self.negative + self.unknown


def judge_from(site: SiteClusters) -> Judge:
    """Return the judge that knows what was observed of a site; a URL that was not is unknown."""
    urls, count = site.node_urls, len(site.node_urls)
    cluster = site.cluster_of_node

    @lru_cache(_REMEMBERED)
    def node_of(url: str) -> int:
        place = bisect_left(range(count), url, key=lambda node: urls[node].as_py())
        is_there = place < count and urls[place].as_py() == url and cluster[place] >= 0
        return place if is_there else -1

    def answer(left: str, right: str) -> Answer:
        nodes = node_of(left), node_of(right)
        if min(nodes) < 0:
            return "unknown"
        if cluster[nodes[0]] == cluster[nodes[1]]:
            return "same"
        relation = site.relation(np.array(nodes[:1], np.int64), np.array(nodes[1:], np.int64))
        return ANSWERS[int(relation[0])]

    return answer


def urls_of(site: SiteClusters) -> pa.Array:
    """Return the URLs of a site that rules can be tried on, in normal form."""
    return site.node_urls.take(pa.array(np.flatnonzero(site.cluster_of_node >= 0)))


def validate_rule(
    candidate: Candidate, urls: pa.Array, judge: Judge, sampling: Sampling | None = None
) -> Sampled:
    """Try one candidate on URLs in normal form: Fig. 4."""
    bounds = sampling or Sampling()
    return decide(candidate, _changed(candidate, urls, bounds), judge, bounds)


def decide(candidate: Candidate, pairs: Iterable[tuple[str, str]], judge: Judge, bounds: Sampling) -> Sampled:
    """Ask about pairs of a URL and what the candidate makes of it, until enough is known or none is left."""
    refuting, convincing = bounds.epsilon * bounds.samples, (1 - bounds.epsilon) * bounds.samples
    said = {"same": 0, "different": 0, "unknown": 0}
    found: Found | None = None
    for before, after in pairs:
        said[judge(before, after)] += 1
        if said["different"] >= refuting:
            found = "refuted"
        elif said["same"] >= convincing:
            found = "valid"
        if found:
            break
    if found is None:
        found = _at_the_end(said["same"], said["different"], bounds)
    if found == "valid" and said["unknown"] > bounds.max_unknown * sum(said.values()):
        found = "undecided"
    return Sampled(candidate, found, said["same"], said["different"], said["unknown"])


def _at_the_end(positive: int, negative: int, bounds: Sampling) -> Found:
    """Return what to think when the URLs have run out: the same share, among the answers there are."""
    decided = positive + negative
    if decided < bounds.least:
        return "undecided"
    return "refuted" if negative and negative >= bounds.epsilon * decided else "valid"


def _changed(candidate: Candidate, urls: pa.Array, bounds: Sampling) -> Iterator[tuple[str, str]]:
    """Yield URLs that the rules change, in an order that only they and the seed decide, with the outcome."""
    canonicalizer = RuleSet(candidate.rules).compile()
    rows = np.flatnonzero(_may_change(candidate, urls, canonicalizer))
    digest = hashlib.blake2b(f"{bounds.seed}\n{candidate.text}".encode(), digest_size=8).digest()
    chance = np.random.Generator(np.random.PCG64(int.from_bytes(digest)))
    left = bounds.attempts
    for row in chance.permutation(rows).tolist():
        if not left:
            return
        url = urls[row].as_py()
        after = canonicalizer.program.step(url)[1]
        if after != url:
            left -= 1
            yield url, after


def _may_change(candidate: Candidate, urls: pa.Array, canonicalizer: Canonicalizer) -> NDArray[np.bool_]:
    """Return which URLs to try; a canonical form does not show what a rule does that can undo itself."""
    if all(rule.kind == "replace" for rule in candidate.rules):
        texts = [rule.source.removeprefix("^").removesuffix("$") for rule in candidate.rules]
        masks = [np.asarray(pc.match_substring(urls, text), np.bool_) for text in texts]
        return np.asarray(np.logical_or.reduce(masks), np.bool_)
    images = canonicalizer.batch(urls)
    return np.asarray(pc.not_equal(images, urls), np.bool_)


def validate(
    candidates: Iterable[Candidate],
    urls: pa.Array,
    judge: Judge,
    sampling: Sampling | None = None,
) -> tuple[Sampled, ...]:
    """Try candidates in their order, each pair in both directions until one is valid: Fig. 5.

    The direction that comes first is tried first; learners propose the one that shrinks the URL. The
    other one is added when it is the valid one (A1). A substitution that refines a valid one is redundant,
    also one that came before it (A8c); so are the other direction of a valid one, and the setting of a
    parameter that may be removed.
    """
    done: list[Sampled] = []
    valid: list[Rule] = []
    for candidate in candidates:
        rule = candidate.rules[0]
        if len(candidate.rules) == 1 and any(_makes_redundant(other, rule) for other in valid):
            done.append(Sampled(candidate, "redundant"))
            continue
        tried = validate_rule(candidate, urls, judge, sampling)
        done.append(tried)
        if tried.found == "valid" and len(candidate.rules) == 1:
            valid.append(rule)
    return tuple(
        Sampled(each.candidate, "redundant", each.positive, each.negative, each.unknown)
        if each.found == "valid" and any(refines(each.candidate.rules[0], later) for later in valid[place:])
        else each
        for place, each in _with_places(done)
    )


def _with_places(done: Sequence[Sampled]) -> Iterator[tuple[int, Sampled]]:
    """Yield each with how many valid ones there are up to it."""
    place = 0
    for each in done:
        place += each.found == "valid" and len(each.candidate.rules) == 1
        yield place, each


def _makes_redundant(valid: Rule, rule: Rule) -> bool:
    if rule.kind == valid.kind == "rewrite":
        return rule.source == valid.source
    return refines(rule, valid)


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
