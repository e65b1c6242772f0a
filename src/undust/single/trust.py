"""Whether what a single learner found may be used: more than each of its candidates by itself can show.

Three pages of three prove nothing where most candidates of a kind are false, so the posterior of the combined
learner is asked. What the learner was shown itself counts against its candidates, though never for them: a
rule that loses one page in ten there is wrong, even if the part held out happens not to show it. And rules
are deployed together: URLs that one of them brings within reach of another are nobody's evidence, until the
whole set is tried.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from undust.intervals import upper_bound
from undust.learning.beliefs import Beliefs
from undust.validation import HeldOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.candidates import Candidate
    from undust.duplicates import SiteClusters
    from undust.rules import Rule
    from undust.validation import Verdict

TRIED = 16
"""Rules at most that a set is tried without before one of them goes: those at work where pages are lost."""


class Evidence:
    """What is known of one site, and the part of it that no learner saw."""

    def __init__(self, site: SiteClusters, held_out: SiteClusters, threads: int = 1) -> None:
        self.known = HeldOut(site, threads)
        self.held_out = HeldOut(held_out, threads)

    def verdicts(self, candidates: Sequence[Candidate], *, alone: bool) -> Iterator[Verdict]:
        """Yield what each candidate did, and unless it is to stand alone also what else speaks against it."""
        measured = list(self.held_out.measured(candidates))
        if alone:
            yield from measured
            return
        beliefs = Beliefs()
        beliefs.note((verdict.candidate.rules[0], verdict) for verdict in measured)
        hopeful = [verdict.candidate for verdict in measured if verdict.saves]
        on_all = iter(self.known.measured(hopeful))
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
        while left and self._exceeds(left, max_fpr):
            trials = [
                (self.known.together(rules_of(left[:place] + left[place + 1 :])).verdict, place)
                for place in self._suspects(left)
            ]
            gone.append(left.pop(min(trials, key=_harm)[1]))
        return gone

    def _exceeds(self, verdicts: Sequence[Verdict], max_fpr: float) -> bool:
        held = self.held_out.together(rules_of(verdicts)).verdict
        if held.false_pairs and upper_bound(held.false_pairs, held.support + held.false_pairs) > max_fpr:
            return True
        every = self.known.together(rules_of(verdicts)).verdict
        return every.lost > max_fpr * (every.lost + every.pages)

    def _suspects(self, verdicts: Sequence[Verdict]) -> list[int]:
        """Return the places of those at work where pages are lost, the busiest first; all, if none is."""
        rules = rules_of(verdicts)
        owner = np.repeat(np.arange(len(verdicts)), [len(verdict.candidate.rules) for verdict in verdicts])
        numbers = self.known.at_work(rules, self.known.together(rules).troubled)
        work = np.bincount(owner[numbers], minlength=len(verdicts))
        busiest = np.argsort(-work, kind="stable")[: min(TRIED, int((work > 0).sum()))]
        return [int(place) for place in busiest] or list(range(len(verdicts)))


def rules_of(verdicts: Iterable[Verdict]) -> list[Rule]:
    """Return the rules of candidates, as they are deployed together."""
    return [rule for verdict in verdicts for rule in verdict.candidate.rules]


def _harm(trial: tuple[Verdict, int]) -> tuple[int, ...]:
    """Return what a set without one of its rules still does wrong, and then how little it saves."""
    left, place = trial
    return left.lost, left.false_pairs, -left.saves, place
