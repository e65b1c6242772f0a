"""Single published learners as a whole job: split, propose, prove, and the rules in the published order.

Their candidates are found as the papers find them, and trusted like all other candidates. The papers prove
each candidate alone and stop there, which a job does if asked to (`Job.alone`).

More is needed than each candidate by itself can show. Three pages of three prove nothing where most
candidates of a kind are false, so the posterior of the combined learner is asked. What the learner was shown
itself counts against its candidates, though never for them: a rule that loses one page in ten there is wrong,
even if the part held out happens not to show it. And rules are deployed together: URLs that one of them
brings within reach of another have no evidence, until the whole set is tried.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from undust.judging.checked import CheckedPages
from undust.judging.held_out import HeldOut
from undust.judging.verdict import Resources, VerdictLimits
from undust.learning.bounds import Beliefs
from undust.learning.outcome import TOGETHER
from undust.proposing.papers import propose
from undust.rules import RuleSet
from undust.rules.reasoning.algebra import is_opposite, refines
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from undust.judging.verdict import Candidate, Proposal, Verdict
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule


_TRIED = 16
"""Rules at most that a set is tried without before one of them goes: those at work where pages are lost."""
_LOOKED_AT = 1_000
"""URLs that show which of the rules change URLs without end."""
HELD_OUT = 0.4
"""The share of the clusters that is kept for the proof."""


@dataclass(frozen=True)
class Job:
    """Which learners, with what options, and what their candidates must show."""

    methods: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    demands: VerdictLimits = field(default_factory=VerdictLimits)
    held_out: float = HELD_OUT
    seed: int = 0
    threads: int = 1
    min_support: int | None = None
    """What a person demands of any method; without it, each has its own measure."""
    alone: bool = False
    """Prove each candidate by itself on the part held out, as the papers do, and nothing else."""
    memory: int | None = None
    folder: str | None = None

    @property
    def resources(self) -> Resources:
        """What it may use of the machine."""
        return Resources(self.memory, self.threads, self.folder)


def learn_sites(sites: Iterable[SiteClusters], job: Job) -> MethodOutcome:
    """Return what the learners of a job find, site by site."""
    verdicts: list[Verdict] = []
    proposals, evidence = {}, {}
    for site in sites:
        training, held_out = site.split(job.held_out, job.seed)
        proposals[site.site] = propose(training, job.methods, job.options, job.resources)
        every = [one for proposal in proposals[site.site].values() for one in proposal.candidates]
        known = Evidence(site, held_out, job.threads)
        found = list(known.verdicts(every, alone=job.alone))
        verdicts += found
        if not job.alone and any(verdict.saves for verdict in found):
            evidence[site.site] = known
    return MethodOutcome(tuple(verdicts), proposals, job.methods, evidence).under(job.demands)


@dataclass(frozen=True)
class MethodOutcome:
    """The rules, and every verdict they were chosen from."""

    verdicts: tuple[Verdict, ...]
    """By site, then by learner, in the order of the proposals."""
    proposals: Mapping[str, Mapping[str, Proposal]]
    """By site and learner."""
    methods: tuple[str, ...]
    evidence: Mapping[str, Evidence] = field(default_factory=dict, repr=False, compare=False)
    """By site: what the rules of a set are held against, all of them at work."""
    proposed: tuple[Rule, ...] = ()
    """Rules that are likely and unproven, on sites whose pages are not known."""

    @property
    def candidates(self) -> int:
        """How many there were."""
        return len(self.verdicts)

    @property
    def accepted(self) -> tuple[Verdict, ...]:
        """Those that showed what was demanded."""
        return tuple(verdict for verdict in self.verdicts if verdict.accepted)

    @property
    def unproved(self) -> int:
        """How many joined only URLs for which it is undecided whether they are one page."""
        return sum(
            verdict.unknown_pairs > 0 and not verdict.support and not verdict.false_pairs
            for verdict in self.verdicts
        )

    @property
    def rules(self) -> RuleSet:
        """The accepted rules, each once, by site and learner and then as the learner applies them."""
        return RuleSet(_each_once(rule for verdict in self._ordered() for rule in verdict.rules))

    @property
    def held_out(self) -> tuple[int, int]:
        """Pairs of URLs held out that the rules together send to one form, and how many are of two pages."""
        pairs = false = 0
        for site, places in self._places().items():
            if site in self.evidence:
                rules = chosen([self.verdicts[place] for place in places], self.methods)
                found = self.evidence[site].held_out.together(rules_of(rules)).verdict
                pairs, false = pairs + found.decided, false + found.false_pairs
        return pairs, false

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines, with what the learners noted and left out."""
        pairs, false = self.held_out
        return {
            "sites": len(self.proposals),
            "candidates": self.candidates,
            "accepted": len(self.accepted),
            "unproved": self.unproved,
            "held_out_pairs": pairs,
            "held_out_false_pairs": false,
            "fpr_upper": CheckedPages().upper,
            "checked": CheckedPages().as_json(),
            "notes": {
                site: {
                    name: {"notes": list(each.notes), "left_out": dict(each.cut)}
                    for name, each in found.items()
                }
                for site, found in self.proposals.items()
            },
        }

    def under(self, demands: VerdictLimits) -> MethodOutcome:
        """Return the same candidates judged by other demands; none of them is measured again."""
        verdicts = [verdict.under(demands) for verdict in self.verdicts]
        for site, places in self._places().items():
            if site in self.evidence:
                _bound(verdicts, places, self.methods, self.evidence[site], demands.max_fpr)
        return replace(self, verdicts=tuple(verdicts))

    def _ordered(self) -> Iterator[Verdict]:
        for places in self._places().values():
            yield from chosen([self.verdicts[place] for place in places], self.methods)

    def _places(self) -> dict[str, list[int]]:
        """Return where the verdicts of each site are."""
        places: dict[str, list[int]] = {site: [] for site in self.proposals}
        for place, verdict in enumerate(self.verdicts):
            places.setdefault(verdict.site, []).append(place)
        return places


def _bound(
    verdicts: list[Verdict],
    places: Sequence[int],
    methods: Sequence[str],
    evidence: Evidence,
    max_fpr: float,
) -> None:
    """Refuse those that keep the set of a site from the bound that a person was promised."""
    while refused := evidence.exceeding(chosen([verdicts[place] for place in places], methods), max_fpr):
        # What one of them made redundant may come in now, and the set is another one.
        for place in places:
            if any(verdicts[place] is one for one in refused):
                verdicts[place] = replace(verdicts[place], accepted=False, reason=TOGETHER)


def _each_once(rules: Iterable[Rule]) -> Sequence[Rule]:
    found: dict[str, Rule] = {}
    for rule in rules:
        found.setdefault(rule.id, rule)
    return list(found.values())


class Evidence:
    """What is known of one site, and the part of it that no learner saw."""

    def __init__(self, site: SiteClusters, held_out: SiteClusters, threads: int = 1) -> None:
        self.site, self.threads = site, threads
        self.held_out = HeldOut(held_out, threads)

    @cached_property
    def known(self) -> HeldOut:
        """All pages, ready to try rules on; most sites do not need them."""
        return HeldOut(self.site, self.threads)

    def verdicts(self, candidates: Sequence[Candidate], *, alone: bool) -> Iterator[Verdict]:
        """Yield what each candidate did, and unless it is judged alone also what else is known of it."""
        measured = list(self.held_out.measured(candidates))
        if alone:
            yield from measured
            return
        beliefs = Beliefs()
        beliefs.note((verdict.candidate.rules[0], verdict) for verdict in measured)
        hopeful = [verdict.candidate for verdict in measured if verdict.saves]
        on_all = iter(self.known.measured(hopeful) if hopeful else ())
        for verdict in measured:
            if not verdict.saves:
                yield verdict
                continue
            every = next(on_all)
            risk = beliefs.risk(verdict.candidate.rules[0], verdict)
            yield replace(verdict, known_pages=every.pages, known_lost=every.lost, risk=risk)

    def exceeding(self, verdicts: Sequence[Verdict], max_fpr: float) -> list[Verdict]:
        """Return those that have to go, so that the others together keep the bound."""
        left, gone = list(verdicts), []
        while left and (there := self._trouble(left, max_fpr)):
            worst = _worst(left, there)
            gone += [verdict for verdict in left if _ids(verdict) & _ids(worst)]
            left = _without(left, worst)
        return gone

    def _trouble(self, verdicts: Sequence[Verdict], max_fpr: float) -> HeldOut | None:
        """Return the URLs for which a set cannot stay as it is, if there are any."""
        every = self.known.together(rules_of(verdicts))
        if every.endless:
            return self.known.only(every.unmoved[:_LOOKED_AT])
        lost, pages = every.verdict.lost, every.verdict.pages
        if lost > max_fpr * (lost + pages):
            return self.known.only(every.troubled)
        held = self.held_out.together(rules_of(verdicts))
        false = held.verdict.false_pairs
        exceeds = false > 0 and upper_bound(false, held.verdict.decided) > max_fpr
        return self.held_out.only(held.troubled) if exceeds else None


def as_proposed(_: Verdict) -> tuple[float, ...]:
    """Return the key of an order that changes nothing."""
    return ()


def _most_specific(verdict: Verdict) -> tuple[float, ...]:
    wildcards = sum(rule.source.count("{") for rule in verdict.candidate.rules)
    return wildcards / len(verdict.candidate.rules), verdict.fpr, -verdict.support


def _most_support(verdict: Verdict) -> tuple[float, ...]:
    return (-verdict.support,)


PUBLISHED_ORDERS: Mapping[str, Callable[[Verdict], tuple[float, ...]]] = {
    "substring": as_proposed,
    "rewrite": _most_specific,
    "tree": as_proposed,
    "alignment": _most_support,
}
"""What comes first: the likeliest (DustBuster), the most specific, then the lower fpr and the higher
support (rewrite rules; our reading, the paper is silent), the rule that selection kept (pattern tree),
the highest validated support (DUSTER)."""


def chosen(verdicts: Sequence[Verdict], methods: Sequence[str]) -> list[Verdict]:
    """Return the accepted ones of a site, learner by learner and each as its paper has it."""
    rank = {name: place for place, name in enumerate(methods)}

    def key(verdict: Verdict) -> tuple[Any, ...]:
        method = verdict.candidate.rules[0].learned_by or ""
        return rank.get(method, len(rank)), PUBLISHED_ORDERS.get(method, as_proposed)(verdict)

    return without_redundant(sorted((verdict for verdict in verdicts if verdict.accepted), key=key))


def without_redundant(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts without those that DustBuster would not have tried any more.

    Of a substitution and its opposite the first counts, the one that shrinks URLs if both are valid; one
    that says the same as another with more context is redundant, before it and after it (Fig. 5, A8c).
    """
    kept: list[Verdict] = []
    taken: list[Rule] = []
    for verdict in verdicts:
        rule = verdict.candidate.rules[0]
        if len(verdict.candidate.rules) > 1 or rule.kind != "replace":
            kept.append(verdict)
        elif not any(is_opposite(rule, other) or _refines(rule, other) for other in taken):
            kept.append(verdict)
            taken.append(rule)
    return [one for one in kept if not any(_refines(one.candidate.rules[0], wide) for wide in taken)]


def _refines(narrow: Rule, wide: Rule) -> bool:
    # A rule that refines another contains its sides unchanged; that is quick to see, and rare.
    sides, (one, other) = (narrow.source, narrow.target or ""), (wide.source, wide.target or "")
    may = (one in sides[0] and other in sides[1]) or (other in sides[0] and one in sides[1])
    return may and narrow is not wide and refines(narrow, wide)


def _worst(verdicts: Sequence[Verdict], there: HeldOut) -> Verdict:
    """Return the one without which a set does least harm somewhere; of several, the idlest."""
    trials = []
    for place in _busiest(verdicts, there):
        left = there.together(rules_of(_without(verdicts, verdicts[place])))
        harm = left.endless, left.verdict.lost, left.verdict.false_pairs
        trials.append((*harm, verdicts[place].saves, place))
    return verdicts[min(trials)[-1]]


def _without(verdicts: Iterable[Verdict], worst: Verdict) -> list[Verdict]:
    """Return the others; two learners may have found one rule."""
    return [verdict for verdict in verdicts if not _ids(verdict) & _ids(worst)]


def _ids(verdict: Verdict) -> set[str]:
    return {rule.id for rule in verdict.candidate.rules}


def _busiest(verdicts: Sequence[Verdict], there: HeldOut) -> list[int]:
    """Return the places of those that change most URLs there, or of all, if none does anything by itself."""
    owner = np.repeat(np.arange(len(verdicts)), [len(verdict.candidate.rules) for verdict in verdicts])
    work = np.bincount(owner[there.at_work(rules_of(verdicts))], minlength=len(verdicts))
    order = np.argsort(-work, kind="stable")[: min(_TRIED, int((work > 0).sum()))]
    return [int(place) for place in order] or list(range(len(verdicts)))


def rules_of(verdicts: Iterable[Verdict]) -> list[Rule]:
    """Return the rules of candidates, as they are deployed together."""
    return [rule for verdict in verdicts for rule in verdict.candidate.rules]
