"""What a job of single learners gave: every verdict, and the rules that were chosen by them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from undust.judging.checked import CheckedPages
from undust.learning.refusals import TOGETHER
from undust.learning.single.order import chosen
from undust.learning.single.trust import rules_of
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from undust.judging.verdict import Proposal, Verdict, VerdictLimits
    from undust.learning.single.trust import Evidence
    from undust.rules import Rule


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
