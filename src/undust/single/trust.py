"""Whether what a single learner found may be used: more than each of its candidates by itself can show.

Three pages of three prove nothing where most candidates of a kind are false, so the posterior of the combined
learner is asked. What the learner was shown itself counts against its candidates, though never for them: a
rule that loses one page in ten there is wrong, even if the part held out happens not to show it. And rules
are deployed together: URLs that one of them brings within reach of another are nobody's evidence, until the
whole set is tried.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from undust.intervals import upper_bound
from undust.learning.beliefs import Beliefs
from undust.validation import HeldOut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.candidates import Candidate
    from undust.duplicates import SiteClusters
    from undust.rules import Rule
    from undust.validation import Verdict

    Ints = NDArray[np.int64]

TRIED = 16
"""Rules at most that a set is tried without before one of them goes: those at work where pages are lost."""


class Evidence:
    """What is known of one site, and the part of it that no learner saw."""

    def __init__(self, site: SiteClusters, held_out: SiteClusters, threads: int = 1) -> None:
        self.site, self.threads = site, threads
        self.held_out = HeldOut(held_out, threads)

    @cached_property
    def known(self) -> HeldOut:
        """All pages, ready to try rules on; of most sites nobody asks for them."""
        return HeldOut(self.site, self.threads)

    def verdicts(self, candidates: Sequence[Candidate], *, alone: bool) -> Iterator[Verdict]:
        """Yield what each candidate did, and unless it is to stand alone also what else is known of it."""
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
        while left:
            every = self.known.together(rules_of(left))
            if not self._exceeds(left, every.verdict, max_fpr):
                break
            gone.append(left.pop(self._worst(left, every.troubled)))
        return gone

    def _exceeds(self, verdicts: Sequence[Verdict], every: Verdict, max_fpr: float) -> bool:
        if every.lost > max_fpr * (every.lost + every.pages):
            return True
        held = self.held_out.together(rules_of(verdicts)).verdict
        return held.false_pairs > 0 and upper_bound(held.false_pairs, held.decided) > max_fpr

    def _worst(self, verdicts: Sequence[Verdict], troubled: Ints) -> int:
        """Return the place of the one without which least is lost where pages are; of several, the idlest."""
        there = self.known.only(troubled)
        trials = []
        for place in _busiest(verdicts, there):
            left = there.together(rules_of([*verdicts[:place], *verdicts[place + 1 :]])).verdict
            trials.append((left.lost, left.false_pairs, verdicts[place].saves, place))
        return min(trials)[-1]


def _busiest(verdicts: Sequence[Verdict], there: HeldOut) -> list[int]:
    """Return the places of those that change most URLs there, or of all, if none does anything by itself."""
    owner = np.repeat(np.arange(len(verdicts)), [len(verdict.candidate.rules) for verdict in verdicts])
    work = np.bincount(owner[there.at_work(rules_of(verdicts))], minlength=len(verdicts))
    order = np.argsort(-work, kind="stable")[: min(TRIED, int((work > 0).sum()))]
    return [int(place) for place in order] or list(range(len(verdicts)))


def rules_of(verdicts: Iterable[Verdict]) -> list[Rule]:
    """Return the rules of candidates, as they are deployed together."""
    return [rule for verdict in verdicts for rule in verdict.candidate.rules]
