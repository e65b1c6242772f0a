"""What a proved set can do without: rules that others make redundant, and one of two that undo each other.

Each rule is proved alone, so both directions of an equivalence can hold, and a rule beside another one that
does its work. Whatever is switched off here changes nothing that is known: without a redundant rule every URL
has the same canonical form, and without one of two inverse rules the same URLs are still equal. That is tried
on the URLs of the proof and on URLs made from the rules themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.rules import RuleSet
from undust.rules.language import ANY_SITE
from undust.rules.reasoning.trial import trials_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.rules import Canonicalizer, Rule
    from undust.rules.reasoning.trial import NumberedRule, Trial, UrlRun

THERE_AND_BACK = 2
"""Rules in the circle that two inverse rules make, and URLs in it."""


def dispensable(rules: RuleSet, confirmed: Iterable[str], urls: Mapping[str, pa.Array]) -> Mapping[str, str]:
    """Return the ids of rules that can be switched off, each with the reason.

    Args:
        rules: The rules after their proof.
        confirmed: The ids of those that were confirmed; they are not given up for others.
        urls: URLs of each site in normal form.

    """
    proved = frozenset(confirmed)
    found: dict[str, str] = {}
    for search in (_inverses, _redundant):
        left = rules.with_rules(
            rule if rule.id not in found else rule.with_status("disabled") for rule in rules
        )
        own = [rule for rule in left if rule.status == "active" and rule.site != ANY_SITE]
        for trial in trials_of(left):
            site = trial.own[0].rule.site
            if site == ANY_SITE:
                found.update(search(_Site(trial, proved, _all(urls), own)))
            else:
                found.update(search(_Site(trial, proved, urls.get(site, _all({})))))
    return found


def _all(urls: Mapping[str, pa.Array]) -> pa.Array:
    arrays = [array.cast(pa.large_string()) for _, array in sorted(urls.items())]
    return pa.concat_arrays([pa.array([], pa.large_string()), *arrays])


@dataclass
class _Site:
    """The rules of one site, and the URLs on which they are compared."""

    trial: Trial
    proved: frozenset[str]
    seen: pa.Array
    ahead: Sequence[Rule] = ()
    """Rules of single sites, which come before those for all."""
    gone: set[int] = field(default_factory=set)
    """Numbers of rules that are switched off already."""

    def without(self, rule: NumberedRule) -> tuple[Canonicalizer, list[Rule]]:
        """Return the set without a rule and without what was removed, and its rules."""
        off = {*self.gone, rule.number}
        left = [*self.ahead, *(each.rule for each in self.trial.rules if each.number not in off)]
        return RuleSet(left).compile(), left

    def before(self) -> Canonicalizer:
        """Return the set without what was removed."""
        kept = (each.rule for each in self.trial.rules if each.number not in self.gone)
        return RuleSet([*self.ahead, *kept]).compile()

    def is_weaker(self, rule: Rule, than: Rule) -> bool:
        """Return whether a rule is less proved than another one."""
        return than.id in self.proved and rule.id not in self.proved


def _inverses(site: _Site) -> Iterator[tuple[str, str]]:
    for each in site.trial.own:
        for run in site.trial.runs[each.number]:
            pair = _undoing(run)
            if pair is None or site.gone & {one.number for one in pair}:
                continue
            first, second = sorted(pair, key=lambda one: one.number)
            order = (first, second) if site.is_weaker(first.rule, second.rule) else (second, first)
            for dropped, kept in zip(order, reversed(order), strict=True):
                if not site.is_weaker(kept.rule, dropped.rule) and _keeps_apart(site, dropped, order):
                    site.gone.add(dropped.number)
                    yield dropped.rule.id, f"it undoes rule {kept.rule.id}, which stays: {kept.rule}"
                    break


def _undoing(run: UrlRun) -> tuple[NumberedRule, NumberedRule] | None:
    """Return the two rules that lead to and fro at the end of a run."""
    if run.outcome != "cycle":
        return None
    circle, urls = run.circle
    if len(urls) != THERE_AND_BACK or len(set(circle)) != THERE_AND_BACK:
        return None
    return circle[0], circle[1]


def _keeps_apart(site: _Site, dropped: NumberedRule, pair: Sequence[NumberedRule]) -> bool:
    """Return whether the same URLs are equal, and the same are not, without a rule."""
    own = [run.url for rule in pair for run in site.trial.runs.get(rule.number, ())]
    steps = [step.url for rule in pair for run in site.trial.runs.get(rule.number, ()) for step in run.steps]
    urls = pa.concat_arrays([site.seen.cast(pa.large_string()), pa.array([*own, *steps], pa.large_string())])
    before = site.before().batch(urls, keys=True).to_pylist()
    after = site.without(dropped)[0].batch(urls, keys=True).to_pylist()
    pairs = set(zip(before, after, strict=True))
    return len(set(before)) == len(pairs) == len(set(after))


def _redundant(site: _Site) -> Iterator[tuple[str, str]]:
    # What is not proved goes first; of equals the last, which matters least.
    for each in sorted(site.trial.own, key=lambda one: (one.rule.id in site.proved, -one.number)):
        if each.rule.kind == "keep" or not site.trial.runs[each.number]:
            continue
        if _is_same(site, each):
            site.gone.add(each.number)
            yield each.rule.id, "it is redundant: the other rules do the same without it"


def _is_same(site: _Site, tested: NumberedRule) -> bool:
    """Return whether other rules, no less proved, do all that a rule does."""
    rest, left = site.without(tested)
    for run in site.trial.runs[tested.number]:
        explained = rest.explain(run.url)
        done = (left[step.number - 1] for step in (*explained.steps, *explained.compared, *explained.masks))
        if run.outcome != "resolved" or (explained.canonical, explained.key) != (run.canonical, run.key):
            return False
        if any(site.is_weaker(other, tested.rule) for other in done):
            return False
    whole = site.before()
    return all(
        whole.batch(site.seen, keys=keys) == rest.batch(site.seen, keys=keys) for keys in (False, True)
    )
