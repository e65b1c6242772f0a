"""Single published learners as a whole job: split, propose, prove, and the rules in the published order.

Each candidate is proved alone, as the papers do. Nobody looks at how rules of one set act together;
that is what the combined learner is for, and what `undust compare` shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from undust.learners import propose
from undust.resources import Resources
from undust.rules import RuleSet
from undust.rules.algebra import is_opposite, refines
from undust.validation import Demands, prove_site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undust.candidates import Proposal
    from undust.duplicates import SiteClusters
    from undust.rules import Rule
    from undust.validation import Verdict

HELD_OUT = 0.4
"""The share of the clusters that is kept for the proof."""


@dataclass(frozen=True)
class Job:
    """Which learners, with what options, and what their candidates must show."""

    methods: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    demands: Demands = field(default_factory=Demands)
    held_out: float = HELD_OUT
    seed: int = 0
    threads: int = 1
    min_support: int | None = None
    """What a person demands of any method; without it, each has its own measure."""
    memory: int | None = None
    folder: str | None = None

    @property
    def resources(self) -> Resources:
        """What it may use of the machine."""
        return Resources(self.memory, self.threads, self.folder)


@dataclass(frozen=True)
class Learned:
    """The rules, and every verdict they were chosen from."""

    verdicts: tuple[Verdict, ...]
    """By site, then by learner, in the order of the proposals."""
    proposals: Mapping[str, Mapping[str, Proposal]]
    """By site and learner."""
    methods: tuple[str, ...]

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
        """How many joined URLs of which nobody can tell whether they are one page, and no others."""
        return sum(
            verdict.unknown_pairs > 0 and not verdict.support and not verdict.false_pairs
            for verdict in self.verdicts
        )

    @property
    def rules(self) -> RuleSet:
        """The accepted rules, each once, by site and learner and then as the learner applies them."""
        return RuleSet(_each_once(rule for verdict in self._ordered() for rule in verdict.rules))

    def as_json(self) -> dict[str, Any]:
        """Return the counts for machines, with what the learners noted and left out."""
        return {
            "sites": len(self.proposals),
            "candidates": self.candidates,
            "accepted": len(self.accepted),
            "unproved": self.unproved,
            "notes": {
                site: {
                    name: {"notes": list(each.notes), "left_out": dict(each.cut)}
                    for name, each in found.items()
                }
                for site, found in self.proposals.items()
            },
        }

    def under(self, demands: Demands) -> Learned:
        """Return the same candidates judged by other demands; nothing is measured again."""
        again = tuple(verdict.under(demands) for verdict in self.verdicts)
        return Learned(again, self.proposals, self.methods)

    def _ordered(self) -> list[Verdict]:
        sites, rank = list(self.proposals), {name: place for place, name in enumerate(self.methods)}
        site_rank = {site: place for place, site in enumerate(sites)}
        placed = list(enumerate(self.verdicts))

        def key(item: tuple[int, Verdict]) -> tuple[Any, ...]:
            place, verdict = item
            first = verdict.candidate.rules[0]
            method = first.learned_by or ""
            order = PUBLISHED_ORDERS.get(method, _as_proposed)
            return site_rank.get(first.site, 0), rank.get(method, len(rank)), order(verdict), place

        return without_redundant([verdict for _, verdict in sorted(placed, key=key) if verdict.accepted])


def learn_sites(sites: Iterable[SiteClusters], job: Job) -> Learned:
    """Return what the learners of a job find, site by site."""
    verdicts: list[Verdict] = []
    proposals = {}
    for site in sites:
        training, held_out = site.split(job.held_out, job.seed)
        proposals[site.site] = propose(training, job.methods, job.options, job.resources)
        for proposal in proposals[site.site].values():
            verdicts += prove_site(proposal.candidates, held_out, job.demands, job.threads)
    return Learned(tuple(verdicts), proposals, job.methods)


def _as_proposed(_: Verdict) -> tuple[float, ...]:
    return ()


def _most_specific(verdict: Verdict) -> tuple[float, ...]:
    wildcards = sum(rule.source.count("{") for rule in verdict.candidate.rules)
    return wildcards / len(verdict.candidate.rules), verdict.fpr, -verdict.support


def _most_support(verdict: Verdict) -> tuple[float, ...]:
    return (-verdict.support,)


PUBLISHED_ORDERS: Mapping[str, Callable[[Verdict], tuple[float, ...]]] = {
    "substring": _as_proposed,
    "rewrite": _most_specific,
    "tree": _as_proposed,
    "alignment": _most_support,
}
"""What comes first: the likeliest (DustBuster), the most specific, then the lower fpr and the higher
support (rewrite rules; our reading, the paper is silent), the rule that selection kept (pattern tree),
the highest validated support (DUSTER)."""


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
    # Whoever refines another holds its sides as they are; that is seen at once, and seldom so.
    sides, (one, other) = (narrow.source, narrow.target or ""), (wide.source, wide.target or "")
    may = (one in sides[0] and other in sides[1]) or (other in sides[0] and one in sides[1])
    return may and narrow is not wide and refines(narrow, wide)


def _each_once(rules: Iterable[Rule]) -> Sequence[Rule]:
    found: dict[str, Rule] = {}
    for rule in rules:
        found.setdefault(rule.id, rule)
    return list(found.values())
