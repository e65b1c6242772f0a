"""Learning as a person asks for it, all methods together or single ones, and what came of it.

Both ways give what was found while the observations are still there, for a page about them may be wanted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from undust.engines.spool import site_rows
from undust.errors import UndustError
from undust.jobs.combined import learn_combined
from undust.jobs.learn import failed_sites, learn_with
from undust.jobs.learn_result import ACROSS, LEARNING
from undust.jobs.proposals import COMBINED, EDITS
from undust.judging.verdict import limits_from
from undust.learning import Outcome, masked, requirements_from
from undust.rules import RuleSet
from undust.searching.objective import load_priors
from undust.showing.learned import told, told_of_asking, told_of_learners, without_rules
from undust.showing.report import ShownRefusal, ShownRefusals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undust.asking.outcome import Validation
    from undust.engines import Engine
    from undust.jobs.combined import SiteJournal, Watch
    from undust.jobs.learn_result import Stages
    from undust.learning import Drift, Requirements
    from undust.learning.single_methods import MethodOutcome
    from undust.searching.objective import KindPrior
    from undust.showing.report import Report


class LearnedRules(NamedTuple):
    """What came of it."""

    result: Outcome | MethodOutcome
    rules: RuleSet
    refusals: Any
    seen: Any
    failed: Mapping[str, str]
    """Sites that gave nothing for an error."""
    drift: Drift | None = None
    journal: SiteJournal | None = None
    proof: Validation | None = None
    """What the sites said of likely rules."""

    @property
    def why(self) -> str:
        """Which sites failed, in a sentence."""
        return failed_sites(self.failed)

    @property
    def is_compared(self) -> bool:
        """Whether the pages of URLs could be compared."""
        return self.result.has_evidence if isinstance(self.result, Outcome) else bool(self.result.evidence)

    def asked(self, proof: Validation) -> LearnedRules:
        """Return the same with what the sites said of likely rules."""
        return self._replace(rules=proof.rules, proof=proof)

    def counted_by(self, report: Report) -> LearnedRules:
        """Return the same with the counts of the page about it, which know the rules for all sites."""
        if not isinstance(self.result, Outcome):
            return self
        return self._replace(result=replace(self.result, totals=report.totals, is_by_all=True))

    def sentences(self) -> list[str]:
        """Return what was found, left out and asked, in lines."""
        found, proof = self.result, self.proof
        is_asked = proof is not None
        said = told(found, is_asked=is_asked) if isinstance(found, Outcome) else told_of_learners(found)
        return said + ([told_of_asking(proof)] if proof is not None else [])

    def without_rules(self, *, is_silent: bool) -> str:
        """Return that there is no rule, and why."""
        is_refuted = self.proof is not None and bool(self.proof.count("refuted"))
        return without_rules(self.result, is_refuted=is_refuted, is_silent=is_silent)

    def counts(self) -> dict[str, Any]:
        """Return what was found, for machines."""
        return self.result.as_json()

    def details(self) -> dict[str, Any]:
        """Return what the sites said when asked, and what each of them gave, as far as it is known."""
        asked = {} if self.proof is None else {"asked": self.proof.to_json()}
        return asked | ({"by_site": self.result.by_site()} if isinstance(self.result, Outcome) else {})


@dataclass(frozen=True)
class LearnPlan:
    """What a person wants to be learned."""

    methods: tuple[str, ...]
    options: dict[str, object]
    """Of single learners."""
    max_fpr: float
    min_support: int | None
    seed: int
    before: RuleSet | None
    """Rules to prove again."""
    today: str
    keep_values: bool
    keep_refused: bool
    priors_file: str | None = None
    """With what is known of kinds of edits."""

    @property
    def is_together(self) -> bool:
        """Whether all methods learn together, which any engine can do."""
        return self.methods in {(COMBINED,), (EDITS,)}

    @cached_property
    def requirements(self) -> Requirements:
        """What a rule must show."""
        return requirements_from(self.max_fpr, self.min_support, self.seed)

    @cached_property
    def priors(self) -> Mapping[str, KindPrior] | None:
        """What is known of kinds of edits, if a person gave it."""
        return load_priors(self.priors_file) if self.priors_file is not None else None

    def facts(self, memory: int | None) -> dict[str, Any]:
        """Return all that decides what is learned from the same observations."""
        priors = self.priors
        return {
            "care": asdict(self.requirements),
            "update": self.before and self.before.dumps(),
            "today": self.before and self.today,
            "site_rows": site_rows(memory),
            "refused": self.keep_refused,
            "methods": self.methods,
            "priors": None if priors is None else {kind: asdict(prior) for kind, prior in priors.items()},
        }

    def together(
        self,
        seen: Any,  # noqa: ANN401 -- any Arrow object
        engine: Engine,
        stages: Stages,
        *,
        journal: SiteJournal | None = None,
        watch: Watch | None = None,
    ) -> LearnedRules:
        """Learn with all methods together; raise if no site gave anything."""
        outcome = learn_combined(
            seen,
            self.requirements,
            keep_values=self.keep_values,
            update=self.before,
            today=self.today,
            engine=engine,
            journal=journal,
            stages=stages,
            keep_refused=self.keep_refused,
            watch=watch,
            edits=self.methods == (EDITS,),
            priors=self.priors,
        )
        with stages.timed(ACROSS):
            rules = outcome.rules
        refusals = refusals_of(outcome) if self.keep_refused else {}
        found = LearnedRules(outcome, rules, refusals, seen, outcome.failed, outcome.drift, journal)
        if found.failed and not outcome.site_counts[0]:
            raise UndustError(found.why)
        return found

    def single(
        self,
        seen: Any,  # noqa: ANN401 -- any Arrow object
        stages: Stages,
        *,
        threads: int,
        memory: int | None,
        folder: str | None,
    ) -> LearnedRules:
        """Learn with the methods that are named, each by itself."""
        with stages.timed(LEARNING):
            learned = learn_with(
                seen,
                self.methods,
                options=self.options,
                max_fpr=self.max_fpr,
                min_support=limits_from(self.min_support).min_support,
                seed=self.seed,
                threads=threads,
                memory=memory,
                folder=folder,
            )
        rules = RuleSet([*learned.rules, *learned.proposed])
        rules = rules if self.keep_values else RuleSet(masked(rules))
        return LearnedRules(learned, rules, refusals_of_verdicts(learned), seen, {})


def refusals_of(outcome: Outcome) -> dict[str, ShownRefusals]:
    """Return by site what the combined learner did not take."""
    return {
        site.site: ShownRefusals(
            tuple(ShownRefusal(one.rule, one.reason, one.pages, one.lost) for one in site.refused),
            dict(site.rejected),
            site.candidates,
        )
        for site in outcome.sites
    }


def refusals_of_verdicts(learned: MethodOutcome) -> dict[str, ShownRefusals]:
    """Return by site the candidates of single learners whose proof failed."""
    found: dict[str, list[ShownRefusal]] = {site: [] for site in learned.proposals}
    for verdict in learned.verdicts:
        if not verdict.accepted:
            rule = verdict.candidate.rules[0]
            found.setdefault(rule.site, []).append(
                ShownRefusal(rule, verdict.reason, verdict.pages, verdict.lost)
            )
    return {site: _counted(some) for site, some in found.items()}


def _counted(refused: list[ShownRefusal]) -> ShownRefusals:
    counts: dict[str, int] = {}
    for one in refused:
        counts[one.reason] = counts.get(one.reason, 0) + 1
    return ShownRefusals(
        tuple(sorted(refused, key=lambda one: (-one.pages, -one.lost, str(one.rule)))), counts
    )
