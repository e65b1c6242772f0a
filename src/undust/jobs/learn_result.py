"""What `undust.learn(..., details=True)` returns: the rules, how they came about, and where the time went.

Time is processor seconds by stage, those of other processes included.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from undust.judging.checked import CheckedPages
    from undust.learning import Drift, Outcome, RefusedRule
    from undust.learning.single_methods import MethodOutcome
    from undust.rules import RuleSet

READING, GROUPING, CLUSTERING, LEARNING, GIANTS, ACROSS, WRITING = _NAMES = (
    *("reading", "grouping", "clustering", "learning", "giant sites", "across sites", "writing"),
)
"""The stages of every job; others, such as asking, are counted where they happen."""


def spent() -> float:
    """Return the processor seconds of this process and of those it started that have ended."""
    return sum(os.times()[:4])


class Stages:
    """The seconds of each stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(_NAMES, 0.0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Count what is spent in the block, less what other stages count within it."""
        before, inner = spent(), sum(self.seconds.values())
        try:
            yield
        finally:
            counted = sum(self.seconds.values()) - inner
            self.add(name, max(0.0, spent() - before - counted))

    def add(self, name: str, seconds: float) -> None:
        """Add seconds that were measured elsewhere."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def as_json(self) -> dict[str, float]:
        """Return the seconds for machines."""
        return {name: round(seconds, 3) for name, seconds in self.seconds.items()}


@dataclass(frozen=True)
class LearnResult:
    """Rules with what was refused, counts by site, the bound of the set, and the time of each stage.

    >>> import undust
    >>> result = undust.learn(undust.read("examples/shop.jsonl.gz"), details=True)
    >>> result.rules == undust.learn(undust.read("examples/shop.jsonl.gz"))
    True
    >>> sorted(result.sites), sorted(result.sites["teapots.test"])[:3]
    (['teapots.test'], ['candidates', 'canonical_urls', 'checked'])
    >>> print(result.bound)
    at most 4.1 % of pages lost (95 % confidence, 72 pages checked)
    """

    rules: RuleSet
    refused: Mapping[str, tuple[RefusedRule, ...]]
    """By site: candidates that were not accepted, each with its reason; those of most pages first."""
    reasons: Mapping[str, Mapping[str, int]]
    """By site: how many candidates were refused for each reason, also those that `refused` leaves out."""
    sites: Mapping[str, Mapping[str, Any]]
    """Counts by site, as `undust learn --json` prints them under `by_site`."""
    bound: CheckedPages
    """How many pages that nothing was learned from were checked, and how many of them the rules lose."""
    seconds: Mapping[str, float]
    """Processor seconds by stage."""
    drift: Drift | None = None
    """What became of the rules that were given as `update`."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Sites without rules because of an error, each with the reason."""
    summary: Mapping[str, Any] = field(default_factory=dict)
    """The counts of all sites together, as `undust learn --json` prints them."""

    @property
    def fpr_upper(self) -> float:
        """The bound of the whole set: with 95 % confidence, at most this share of pages is lost.

        1 where nothing was checked.
        """
        return self.bound.upper


@dataclass
class Progress:
    """Counts finished sites for a function that wants to know."""

    call: Callable[[int, int, str], object]
    """Gets the number of finished sites, of all sites, and the name of the one that was finished."""
    done: int = 0
    sites: int = 0

    def expect(self, sites: int, rows: int) -> None:  # noqa: ARG002 -- the contract of `Watch`
        """Note how many sites there are."""
        self.sites = sites

    def tell(self, site: str, rows: int) -> None:  # noqa: ARG002 -- the contract of `Watch`
        """Count a finished site."""
        self.done += 1
        self.call(self.done, self.sites, site)


def result_of_outcome(outcome: Outcome, stages: Stages) -> LearnResult:
    """Return the result of learning from all evidence together."""
    return LearnResult(
        outcome.rules,
        {site.site: site.refused for site in outcome.sites},
        {site.site: dict(site.rejected) for site in outcome.sites},
        outcome.by_site(),
        outcome.checked,
        stages.as_json(),
        outcome.drift,
        dict(outcome.failed),
        outcome.as_json(),
    )


def result_of_methods(
    learned: MethodOutcome, rules: RuleSet, refused: Mapping[str, tuple[RefusedRule, ...]], stages: Stages
) -> LearnResult:
    """Return the result of single methods."""
    from undust.judging.checked import CheckedPages  # noqa: PLC0415 -- a report needs no judge

    summary = learned.as_json()
    candidates = Counter(verdict.site for verdict in learned.verdicts)
    own = Counter(rule.site for rule in rules)
    return LearnResult(
        rules,
        refused,
        {site: dict(Counter(one.reason for one in some)) for site, some in refused.items()},
        {site: {"candidates": candidates[site], "rules": own[site]} for site in learned.proposals},
        CheckedPages(),
        stages.as_json(),
        summary=summary,
    )
