"""The job: each site is split, learners propose from one part, and the other part says what is believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from undust.judging.verdict import VerdictLimits
from undust.learning.single.learned import MethodOutcome
from undust.learning.single.trust import Evidence
from undust.proposing.papers import propose
from undust.proposing.papers.method_options import Resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.judging.verdict import Verdict
    from undust.pages.clustering import SiteClusters

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
