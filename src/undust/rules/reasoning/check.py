"""What a person should know about a rule set before it runs on a crawl: findings, and what changed.

The promises hold for every set, so nothing here is an error of the file; but a cycle, a rule that never
is applied, or two rules that disagree are seldom intended. The findings come from running
the set on URLs made of its own patterns, so each has a URL to show; a set without findings is not proven
to have none.

Two rule sets are compared by id: the text of a rule is its identity, the rest may differ.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from undust.rules.compiled import rules_in_effect
from undust.rules.reasoning.trial import NumberedRule, Trial, UrlRun, trials_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.rules.compiled import OrderedRules
    from undust.rules.language import Rule


FindingKind = Literal["cycle", "inverse", "growth", "conflict", "unmet", "dead", "shadowed", "redundant"]
_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)
"""From what may surprise most to what is merely untidy."""


@dataclass(frozen=True)
class Finding:
    """One thing to look at: the rules it is about, in words, with a URL that shows it."""

    kind: FindingKind
    numbers: tuple[int, ...]
    """The places of the rules in their set, from 1 on."""
    rules: tuple[Rule, ...]
    message: str
    url: str
    """A URL that shows it; empty where none is needed to see it."""

    def __str__(self) -> str:
        """Return the finding as one sentence."""
        return f"{self.kind}: {self.message}"


def check(rules: OrderedRules) -> tuple[Finding, ...]:
    """Return the findings about a rule set, the first rule's first."""
    found: dict[tuple[str, tuple[int, ...]], Finding] = {}
    for trial in trials_of(rules):
        for finding in (*_unused(trial), *_surprises(trial)):
            found.setdefault((finding.kind, tuple(sorted(finding.numbers))), finding)
    for finding in _unmet(rules):
        found[finding.kind, finding.numbers] = finding
    for kind, numbers in list(found):
        # A rule that is never applied disagrees with the one before it, as a matter of course; and a
        # keep that comes too late should move, not go.
        if kind == "conflict" and ("shadowed", numbers) in found:
            del found[kind, numbers]
        elif kind == "conflict" and found[kind, numbers].rules[-1].kind == "keep":
            found.pop(("redundant", found[kind, numbers].numbers[-1:]), None)
    return tuple(sorted(found.values(), key=lambda finding: (finding.numbers, _KINDS.index(finding.kind))))


def _unmet(rules: OrderedRules) -> Iterator[Finding]:
    """Yield the active rules that are out of effect, since a rule that they need is."""
    numbers = {id_: number for number, id_ in enumerate(rules.ids, 1)}
    acting = {rule.id for rule in rules_in_effect(rules)}
    for number, rule in enumerate(rules, 1):
        if rule.status == "active" and rule.id not in acting:
            missing = [need for need in rule.needs if need not in acting] or list(rule.needs)
            named = ", ".join(
                f"rule {numbers[need]}, which is not in effect"
                if need in numbers
                else f"{need}, which is not here"
                for need in missing
            )
            message = f"rule {number} is out of effect: it needs {named}; switch that on, or this one off"
            yield Finding("unmet", (number,), (rule,), message, "")


def _surprises(trial: Trial) -> Iterator[Finding]:
    for each in trial.own:
        for run in trial.runs[each.number]:
            yield from _loop(run)
            yield from _conflict(trial, each, run)


def _unused(trial: Trial) -> Iterator[Finding]:
    """Yield the rules that could go, all of them together; looks at the last first, as they matter least."""
    gone: list[NumberedRule] = []
    for each in reversed(trial.own):
        runs = trial.runs[each.number]
        if not runs:
            yield _dead(trial, each)
        elif trial.is_needed(each):
            continue
        elif not any(run.has(each) for run in runs):
            gone.append(each)
            yield _shadowed(each, runs)
        elif all(run.outcome == "resolved" for run in runs) and trial.is_same_without((*gone, each), runs):
            gone.append(each)
            yield _redundant(each, runs)


def _loop(run: UrlRun) -> Iterator[Finding]:
    if run.outcome == "cycle":
        circle, urls = run.circle
        rules = tuple(dict.fromkeys(circle))
        way = " → ".join((*urls, urls[0]))
        if len(urls) == 2 and len(rules) == 2:  # noqa: PLR2004 -- there and back
            message = (
                f"{_named(rules)} undo each other: {way}; both URLs become {run.canonical}; remove one rule"
            )
            yield _finding("inverse", rules, message, run.url)
        else:
            message = (
                f"{_named(rules)} lead round in a circle: {way}; all become {run.canonical}; remove a rule"
            )
            yield _finding("cycle", rules, message, run.url)
    elif run.outcome == "unresolved":
        rules = tuple(dict.fromkeys(step.by for step in run.steps[-len(run.steps) // 2 :]))
        way = " → ".join((run.url, *(step.url for step in run.steps[:2])))
        message = (
            f"{_named(rules)} never come{'s' if len(rules) == 1 else ''} to an end: {way} → …; such URLs "
            "are left as they are; narrow the left side so that it does not match what it made"
        )
        yield _finding("growth", rules, message, run.url)


def _conflict(trial: Trial, tested: NumberedRule, run: UrlRun) -> Iterator[Finding]:
    if run.outcome != "resolved" or not run.steps:
        return
    first = run.steps[0].by
    if first.rule.kind == "keep" or first.number == tested.number:
        return
    if tested.rule.kind == "keep":
        if run.has(tested):
            return
        message = (
            f"{_named([tested])} would keep {run.url}, but {_named([first])} comes first and changes it "
            f"to {run.steps[0].url}; move the keep to the front"
        )
        yield _finding("conflict", (first, tested), message, run.url)
        return
    acting = dict.fromkeys(step.by for step in run.steps)
    # Where a keep stops the rule, the order of the others is not what matters.
    # The rule that acted first may only have stood in the way of two others that disagree.
    for before in () if any(each.rule.kind == "keep" for each in acting) else acting:
        if not trial.stands_before(before, tested):
            return
        if trial.is_special_case(before, tested):
            continue
        swapped = [order.explain(run.url) for order in trial.swapped(before, tested)]
        if all((each.canonical, each.key) != (run.canonical, run.key) for each in swapped):
            message = (
                f"{_named((before, tested))} both match {run.url} and disagree: it becomes {run.canonical}, "
                f"and with rule {tested.number} before rule {before.number} it becomes "
                f"{swapped[0].canonical}; put first the one you mean, or narrow the other"
            )
            yield _finding("conflict", (before, tested), message, run.url)
            return


def _dead(trial: Trial, tested: NumberedRule) -> Finding:
    url = trial.candidates(tested)[0]
    message = (
        f"{_named([tested])} does nothing to any URL made from its left side, such as {url}; see whether it "
        "is meant for another site, leaves the site, or has conditions that exclude each other"
    )
    return _finding("dead", (tested,), message, url)


def _shadowed(tested: NumberedRule, runs: Sequence[UrlRun]) -> Finding:
    first = runs[0].first
    message = (
        f"{_named([tested])} is never applied: {_named([first])} comes first and takes "
        f"{runs[0].url}, and so with all {len(runs)} URLs made from it; move it to the front or remove it"
    )
    return _finding("shadowed", (first, tested), message, runs[0].url)


def _redundant(tested: NumberedRule, runs: Sequence[UrlRun]) -> Finding:
    message = (
        f"{_named([tested])} can be removed: without it {runs[0].url} still becomes {runs[0].canonical}, "
        f"and so with all {len(runs)} URLs made from it"
    )
    return _finding("redundant", (tested,), message, runs[0].url)


def _finding(kind: FindingKind, rules: Sequence[NumberedRule], message: str, url: str) -> Finding:
    return Finding(
        kind, tuple(each.number for each in rules), tuple(each.rule for each in rules), message, url
    )


def _named(rules: Sequence[NumberedRule]) -> str:
    numbers = [str(each.number) for each in rules]
    if len(numbers) == 1:
        return f"rule {numbers[0]}"
    return f"rules {', '.join(numbers[:-1])} and {numbers[-1]}"


@dataclass(frozen=True)
class Change:
    """One rule with other evidence, another status or other exceptions than before."""

    before: Rule
    after: Rule

    @property
    def fields(self) -> dict[str, tuple[Any, Any]]:
        """The JSON keys that differ, each with its value before and after; None if it was not there."""
        old, new = self.before.to_json(), self.after.to_json()
        keys = dict.fromkeys((*old, *new))
        return {key: (old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)}


@dataclass(frozen=True)
class Difference:
    """Rules that came, went, changed, or moved past another rule of their site."""

    added: tuple[Rule, ...]
    removed: tuple[Rule, ...]
    changed: tuple[Change, ...]
    moved: tuple[Rule, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.moved)


def difference(before: Sequence[Rule], after: Sequence[Rule]) -> Difference:
    """Return what turns `before` into `after`."""
    old, new = ({rule.id: rule for rule in rules} for rules in (before, after))
    return Difference(
        added=tuple(rule for key, rule in new.items() if key not in old),
        removed=tuple(rule for key, rule in old.items() if key not in new),
        changed=tuple(Change(old[key], rule) for key, rule in new.items() if key in old and old[key] != rule),
        moved=_moved(old, new),
    )


def _moved(old: dict[str, Rule], new: dict[str, Rule]) -> tuple[Rule, ...]:
    # Order is preference among the rules of one site, so a change of place between sites means nothing.
    places = {key: place for place, key in enumerate(old)}
    by_site: dict[str, list[str]] = {}
    for key, rule in new.items():
        if key in old:
            by_site.setdefault(rule.site, []).append(key)
    stayed = {
        keys[place]
        for keys in by_site.values()
        for place in _longest_increasing([places[key] for key in keys])
    }
    return tuple(rule for key, rule in new.items() if key in old and key not in stayed)


def _longest_increasing(values: list[int]) -> list[int]:
    """Return the places of a longest increasing subsequence (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for place, value in enumerate(values):
        pile = bisect_left(tails, value)
        tails[pile : pile + 1] = [value]
        ends[pile : pile + 1] = [place]
        previous.append(ends[pile - 1] if pile else -1)
    chain: list[int] = []
    place = ends[-1] if ends else -1
    while place >= 0:
        chain.append(place)
        place = previous[place]
    return chain[::-1]
