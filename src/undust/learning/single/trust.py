"""Whether what a single learner found may be used: more than each of its candidates by itself can show.

Three pages of three prove nothing where most candidates of a kind are false, so the posterior of the combined
learner is asked. What the learner was shown itself counts against its candidates, though never for them: a
rule that loses one page in ten there is wrong, even if the part held out happens not to show it. And rules
are deployed together: URLs that one of them brings within reach of another have no evidence, until the
whole set is tried.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from undust.judging.held_out import HeldOut
from undust.learning.beliefs import Beliefs
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.judging.verdict import Candidate, Verdict
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

_TRIED = 16
"""Rules at most that a set is tried without before one of them goes: those at work where pages are lost."""
_LOOKED_AT = 1_000
"""URLs that show which of the rules change URLs without end."""


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
