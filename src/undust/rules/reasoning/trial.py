"""The rules of one site, run on URLs made of their own patterns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from undust.rules.compiled import Canonicalizer
from undust.rules.language import ANY_SITE
from undust.rules.needs import rules_in_effect
from undust.rules.reasoning import witnesses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.rules.compiled import OrderedRules, Outcome
    from undust.rules.language import Rule

MOST_PAIRS = 40_000
"""Pairs of rules of one site for which common URLs are looked for; 200 rules have that many."""


class NumberedRule(NamedTuple):
    """A rule and its place in the set, from 1 on."""

    number: int
    rule: Rule

    def __hash__(self) -> int:
        return self.number


class Did(NamedTuple):
    """What one rule did in a run."""

    by: NumberedRule
    url: str


@dataclass(frozen=True)
class UrlRun:
    """One URL on its way through all rules of its site."""

    url: str
    steps: tuple[Did, ...]
    masks: tuple[Did, ...]
    """What was done for the key alone."""
    canonical: str
    key: str
    outcome: Outcome

    def has(self, tested: NumberedRule) -> bool:
        """Whether a rule did something on the way."""
        return any(step.by.number == tested.number for step in (*self.steps, *self.masks))

    @property
    def first(self) -> NumberedRule:
        """The rule that acted first."""
        return (*self.steps, *self.masks)[0].by

    @property
    def circle(self) -> tuple[tuple[NumberedRule, ...], tuple[str, ...]]:
        """The rules of the cycle at the end of the run, and the URLs between them."""
        end = self.steps[-1].url
        urls = [step.url for step in self.steps]
        start = urls.index(end) if end in urls[:-1] else -1
        around = self.steps[start + 1 :]
        return tuple(step.by for step in around), (end, *(step.url for step in around[:-1]))


def trials_of(rules: OrderedRules) -> Iterator[Trial]:
    """Yield the rules in effect site by site, each site with the rules of all sites behind its own."""
    by_site: dict[str, list[NumberedRule]] = {}
    acting = {rule.id for rule in rules_in_effect(rules)}
    for number, rule in enumerate(rules, 1):
        if rule.id in acting:
            by_site.setdefault(rule.site, []).append(NumberedRule(number, rule))
    shared = by_site.get(ANY_SITE, [])
    for site, own in by_site.items():
        behind = [] if site == ANY_SITE else [each for each in shared if site not in each.rule.except_sites]
        yield Trial(rules, tuple(own), tuple(behind))


@dataclass(frozen=True)
class Trial:
    """One site's own rules, and those of all sites that come behind them."""

    whole: OrderedRules
    """The set that they are of."""
    own: tuple[NumberedRule, ...]
    shared: tuple[NumberedRule, ...]
    _swapped: dict[tuple[int, int], tuple[Canonicalizer, Canonicalizer]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @cached_property
    def rules(self) -> tuple[NumberedRule, ...]:
        """The rules in the order in which they are tried."""
        return self.own + self.shared

    @cached_property
    def canonicalizer(self) -> Canonicalizer:
        """All rules of the site."""
        return self._compiled(self.rules)

    @cached_property
    def runs(self) -> dict[int, tuple[UrlRun, ...]]:
        """For each own rule, by number, the runs of URLs on which it acts when it is alone."""
        return {each.number: tuple(map(self.run, self._urls_of(each))) for each in self.own}

    def candidates(self, tested: NumberedRule) -> list[str]:
        """Return the URLs made from a rule, alone and with each other rule of the site."""
        near = self.rules if len(self.own) * len(self.rules) <= MOST_PAIRS else ()
        return witnesses.urls_of(tested.rule, [each.rule for each in near if each is not tested])

    def _urls_of(self, tested: NumberedRule) -> Iterator[str]:
        alone = self._compiled([tested])
        for url in self.candidates(tested):
            explained = alone.explain(url)
            if explained.steps or explained.compared or explained.masks:
                yield explained.normalized

    def run(self, url: str) -> UrlRun:
        """Return what all rules of the site do to a URL."""
        explained = self.canonicalizer.explain(url)
        did = [
            tuple(Did(self.rules[step.number - 1], step.url) for step in steps)
            for steps in (explained.steps, (*explained.compared, *explained.masks))
        ]
        return UrlRun(
            explained.normalized, did[0], did[1], explained.canonical, explained.key, explained.outcome
        )

    def is_needed(self, tested: NumberedRule) -> bool:
        """Return whether another rule is only safe beside this one."""
        return any(tested.rule.id in each.rule.needs for each in self.rules)

    def stands_before(self, first: NumberedRule, second: NumberedRule) -> bool:
        """Return whether a rule is tried before another one."""
        places = [each.number for each in self.rules]
        return places.index(first.number) < places.index(second.number)

    def swapped(self, first: NumberedRule, tested: NumberedRule) -> tuple[Canonicalizer, Canonicalizer]:
        """Return all rules of the site with `tested` before `first`, in the two ways that move one rule.

        Either `tested` moves up to stand right before `first`, or `first` moves down to stand right behind
        `tested`. Where one of them changes nothing, the order of the two rules is not what matters.
        """
        key = first.number, tested.number
        if key not in self._swapped:
            up = _moved(self.rules, tested, first, behind=False)
            down = _moved(self.rules, first, tested, behind=True)
            self._swapped[key] = self._compiled(up), self._compiled(down)
        return self._swapped[key]

    def is_special_case(self, first: NumberedRule, tested: NumberedRule) -> bool:
        """Return whether a rule acts on every URL that was made from a rule before it.

        Then the special rule has to come first, or it would never be applied.
        """
        alone = self._compiled([tested])
        found = (alone.explain(run.url) for run in self.runs[first.number])
        return all(each.steps or each.compared or each.masks for each in found)

    def is_same_without(self, gone: Sequence[NumberedRule], runs: Sequence[UrlRun]) -> bool:
        """Whether all these URLs end in the same place without some rules."""
        numbers = {each.number for each in gone}
        rest = self._compiled(each for each in self.rules if each.number not in numbers)
        return all(rest(run.url) == run.canonical and rest.key(run.url) == run.key for run in runs)

    def _compiled(self, rules: Iterable[NumberedRule]) -> Canonicalizer:
        # All needs are met here, and a rule is also looked at alone.
        return Canonicalizer(self.whole.with_rules(replace(each.rule, needs=()) for each in rules))


def _moved(
    rules: Iterable[NumberedRule], moved: NumberedRule, to: NumberedRule, *, behind: bool
) -> list[NumberedRule]:
    left = [each for each in rules if each.number != moved.number]
    place = [each.number for each in left].index(to.number) + behind
    return [*left[:place], moved, *left[place:]]
