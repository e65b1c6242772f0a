"""A whole rule file: the rules of each site on their own, sites side by side, those of all sites last.

A proved set can do without rules that others make redundant, and without one of two that undo each other.
Each rule is proved alone, so both directions of an equivalence can hold, and a rule beside another one that
does its work. Whatever is switched off here changes nothing that is known: without a redundant rule every URL
has the same canonical form, and without one of two inverse rules the same URLs are still equal. That is tried
on the URLs of the proof and on URLs made from the rules themselves.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from undust.asking.outcome import Validation
from undust.asking.proof import NOTHING_BEFOREHAND, SiteProof
from undust.rules import RuleSet
from undust.rules.language import ANY_SITE
from undust.rules.reasoning.trial import trials_of
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.asking.outcome import How, RuleOutcome
    from undust.asking.proof import Beforehand, CountingJudge
    from undust.asking.samples import Samples
    from undust.asking.sampling import Answer, Judge, Sampling
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


SITES_AT_ONCE = 8


@dataclass(frozen=True)
class SiteSamples:
    """The rules of one site, and the URLs to try them on."""

    site: str
    rules: tuple[Rule, ...]
    samples: Samples
    tried: int
    """Rules among them that are to be proved."""
    beside: tuple[Rule, ...] = ()
    """More rules that distinguish its pages."""


class Judges:
    """Where the judges of sites come from; these fetch nothing, and keep nothing."""

    def __init__(self, judges: Mapping[str, CountingJudge] | None = None) -> None:
        self._known = dict(judges or {})

    @property
    def hosts(self) -> int:
        """Hosts that were asked."""
        return 0

    @property
    def fetches(self) -> int:
        """Requests that were made."""
        return 0

    def begin(self, groups: Sequence[SiteSamples]) -> None:
        """Get ready for these."""

    def of(self, group: SiteSamples, site: str) -> CountingJudge:  # noqa: ARG002 -- for those who ask
        """Return the judge of a site, for the rules of a group."""
        return self._known.get(site) or Known(lambda *_: "unknown")

    def note(self, rule: Rule, left: str, right: str, said: Answer) -> None:
        """Receive a pair and its verdict."""

    def watch(self, rule: Rule) -> None:
        """Receive a rule before it is tried."""

    def done(self, outcomes: Sequence[RuleOutcome]) -> None:
        """Receive the end of the work."""

    def stop(self) -> None:
        """Receive that the rest is not needed."""


class Known:
    """A judge that fetches nothing."""

    because = "one of them was never seen"
    fetches = 0

    def __init__(self, judge: Judge, time: float = 0.0) -> None:
        self._judge, self.time = judge, time
        self.apart: dict[tuple[str, str], None] = {}

    def __call__(self, left: str, right: str) -> Answer:
        """Return whether two URLs show one page."""
        return self._judge(left, right)


def run(  # noqa: PLR0913 -- all that a proof is made of
    rules: RuleSet,
    groups: Sequence[SiteSamples],
    judges: Judges,
    sampling: Sampling,
    how: How,
    *,
    beforehand: Beforehand = NOTHING_BEFOREHAND,
) -> Validation:
    """Prove the rules of all groups; return them in the order of the file."""
    by_id = prove_groups(groups, judges, sampling, how, beforehand)
    outcomes = [outcome for rule in rules for outcome in by_id[rule.id]]
    return concluded(rules, outcomes, groups, judges)


def prove_groups(
    groups: Sequence[SiteSamples],
    judges: Judges,
    sampling: Sampling,
    how: How,
    beforehand: Beforehand = NOTHING_BEFOREHAND,
) -> dict[str, list[RuleOutcome]]:
    """Return by the id of each rule what was found, sites side by side.

    Args:
        groups: The rules of each site.
        judges: What answers for them.
        sampling: How many samples are taken.
        how: What the answers come from.
        beforehand: What is known of rules before that.

    """
    judges.begin(groups)

    def prove(group: SiteSamples) -> dict[str, list[RuleOutcome]]:
        judge = _General(group, judges) if group.site == ANY_SITE else judges.of(group, group.site)
        proof = SiteProof(group.samples, judge, sampling, how, judges.note, judges.watch, beforehand)
        return proof.outcomes(group.rules)

    single = [group for group in groups if group.site != ANY_SITE]
    with ThreadPoolExecutor(SITES_AT_ONCE) as threads:
        try:
            parts = list(threads.map(prove, single))
        except BaseException:
            judges.stop()
            raise
    parts += [prove(group) for group in groups if group.site == ANY_SITE]
    return {key: found for part in parts for key, found in part.items()}


def concluded(
    rules: RuleSet, outcomes: Sequence[RuleOutcome], groups: Sequence[SiteSamples], judges: Judges
) -> Validation:
    """Return what came of all rules, those switched off that the set can do without."""
    judges.done(outcomes)
    proved = rules.with_rules(outcome.rule for outcome in outcomes)
    urls = {group.site: group.samples.urls for group in groups if group.site != ANY_SITE}
    outcomes = _tidied(proved, outcomes, urls)
    proved = rules.with_rules(outcome.rule for outcome in outcomes)
    return Validation(proved, tuple(outcomes), judges.fetches, judges.hosts)


def _tidied(
    proved: RuleSet, outcomes: Sequence[RuleOutcome], urls: Mapping[str, pa.Array]
) -> list[RuleOutcome]:
    """Return the outcomes with rules switched off that the set can do without."""
    confirmed = [outcome.rule.id for outcome in outcomes if outcome.verdict == "confirmed"]
    days = [(outcome.rule.validated or {}).get("when") for outcome in outcomes]
    when = max((str(day) for day in days if day), default=None)
    needless = dispensable(proved, confirmed, urls)
    return [outcome.retired(needless.get(outcome.rule.id), when) for outcome in outcomes]


class _General:
    """The judge of rules for all sites: for each pair that of its site."""

    def __init__(self, group: SiteSamples, judges: Judges) -> None:
        self._group, self._judges = group, judges
        self._own: dict[str, CountingJudge] = {}
        self.because = ""
        self.time = 0.0

    @property
    def fetches(self) -> int:
        """Requests of all of them."""
        return sum(judge.fetches for judge in self._own.values())

    @property
    def apart(self) -> dict[tuple[str, str], None]:
        """Pairs of URLs that show two pages, of all of them."""
        return {pair: None for judge in self._own.values() for pair in judge.apart}

    def __call__(self, left: str, right: str) -> Answer:
        """Return whether two URLs show one page."""
        site = site_of(left) or ""
        if site not in self._own:
            self._own[site] = self._judges.of(self._group, site)
        judge = self._own[site]
        said = judge(left, right)
        self.because, self.time = judge.because, max(self.time, judge.time)
        return said
