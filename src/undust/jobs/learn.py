"""Clusters to rules: all evidence together, or single learners with every stage in hand."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from undust.engines.local import LocalEngine
from undust.engines.spool import Budget
from undust.errors import UndustError
from undust.jobs.combined import learn_combined
from undust.jobs.evaluate import names_of, require_demands, require_rules
from undust.jobs.find_duplicates import find_duplicates
from undust.jobs.learn_result import (
    CLUSTERING,
    LEARNING,
    Progress,
    Stages,
    result_of_methods,
    result_of_outcome,
)
from undust.jobs.proposals import COMBINED, EDITS, proposed_by, require_methods
from undust.judging.held_out import prove_site
from undust.judging.verdict import VerdictLimits, limits_from
from undust.learning import RefusedRule, Requirements, masked, requirements_from
from undust.learning.single_methods import HELD_OUT, Job, learn_sites
from undust.pages.clustering import Duplicates
from undust.proposing.papers import propose as propose_for_site
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from undust.engines import Engine
    from undust.jobs.learn_result import LearnResult
    from undust.judging.verdict import Proposal, Verdict
    from undust.learning import Outcome
    from undust.learning.single_methods import MethodOutcome


def propose(
    training: Duplicates,
    methods: Iterable[str] | None = None,
    options: Mapping[str, object] | None = None,
) -> dict[str, dict[str, Proposal]]:
    """Return what learners propose, by site and by learner: all learners, or those that are named.

    Args:
        training: What the learners may see.
        methods: Their names, as in `["substring", "tree"]`.
        options: By their written names, as in `{"substring.max_bucket": 6}`.

    """
    names = None if methods is None else names_of(methods)
    return {found.site: propose_for_site(found, names, options) for found in training}


def prove(
    proposals: Mapping[str, Mapping[str, Proposal]],
    held_out: Duplicates,
    *,
    max_fpr: float = VerdictLimits.max_fpr,
    min_support: int = VerdictLimits.min_support,
    threads: int = 1,
) -> tuple[Verdict, ...]:
    """Return a verdict on every candidate, measured on data that no learner saw.

    Args:
        proposals: What `propose` returned.
        held_out: The other part of the split.
        max_fpr: The largest share of false pairs that is accepted.
        min_support: The number of pages that must show a candidate to be right.
        threads: How many to use; the result is the same.

    """
    require_demands(max_fpr, min_support)
    demands = VerdictLimits(max_fpr, min_support)
    return tuple(
        verdict
        for found in held_out
        for proposal in proposals.get(found.site, {}).values()
        for verdict in prove_site(proposal.candidates, found, demands, threads)
    )


@overload
def learn(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    methods: str | Iterable[str] = ...,
    options: Mapping[str, object] | None = ...,
    max_fpr: float = ...,
    min_support: int | None = ...,
    seed: int = ...,
    threads: int = ...,
    keep_values: bool = ...,
    update: RuleSet | None = ...,
    today: str | None = ...,
    engine: Engine | None = ...,
    memory: int | str | None = ...,
    progress: Callable[[int, int, str], object] | None = ...,
    details: Literal[False] = ...,
) -> RuleSet: ...
@overload
def learn(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    methods: str | Iterable[str] = ...,
    options: Mapping[str, object] | None = ...,
    max_fpr: float = ...,
    min_support: int | None = ...,
    seed: int = ...,
    threads: int = ...,
    keep_values: bool = ...,
    update: RuleSet | None = ...,
    today: str | None = ...,
    engine: Engine | None = ...,
    memory: int | str | None = ...,
    progress: Callable[[int, int, str], object] | None = ...,
    details: Literal[True],
) -> LearnResult: ...
def learn(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,
    *,
    methods: str | Iterable[str] = (COMBINED,),
    options: Mapping[str, object] | None = None,
    max_fpr: float = Requirements.max_fpr,
    min_support: int | None = None,
    seed: int = 0,
    threads: int = 1,
    keep_values: bool = False,
    update: RuleSet | None = None,
    today: str | None = None,
    engine: Engine | None = None,
    memory: int | str | None = None,
    progress: Callable[[int, int, str], object] | None = None,
    details: bool = False,
) -> RuleSet | LearnResult:
    """Return the rules that send the duplicate URLs of each site to one form.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        methods: `undust`, which is all together, `edits`, or the name of a single learner, or several.
        options: Of single learners, by their written names, as in `{"substring.max_bucket": 6}`.
        max_fpr: The largest share of false merges, of a rule and of all rules of a site; from 0 to 1.
        min_support: The number of pages that must show a rule to be right; 1 or more.
        seed: Another number holds out other pages.
        threads: How many to use; the result is the same.
        keep_values: Show the values of dropped parameters in examples, instead of `***`.
        update: Rules from before. They are proved again on what was seen now: those that fail are
            retired, what a person switched off stays off, and what is new comes behind them.
        today: The day that is written beside what was proved again or retired, as in `2026-11-15`.
        engine: Where the work runs, if not in this process and others like it: what `read` was given.
        memory: Bytes that learning may use, or a size such as `4GB`; larger sites are learned from a
            sample and proved on all their URLs. An engine has a limit of its own instead.
        progress: Called after each site with the number of finished sites, of all sites, and its name.
        details: Return a `LearnResult`: the rules with refused candidates, counts by site, the bound of
            the set, drift, failed sites and seconds by stage. Without it, a failed site is an error.

    """
    names = names_of(methods)
    require_methods(names)
    require_demands(max_fpr, min_support)
    require_rules(update)
    stages = Stages()
    if names in {(COMBINED,), (EDITS,)}:
        requirements = requirements_from(max_fpr, min_support, seed)
        told: dict[str, Any] = {
            "keep_values": keep_values,
            "update": update,
            "today": today,
            "threads": threads,
            "edits": names == (EDITS,),
        }
        told |= {"stages": stages, "watch": Progress(progress) if progress else None}
        with _engine_within(memory, engine, threads) as place:
            outcome = learn_combined(seen, requirements, engine=place, **told)
        if details:
            return result_of_outcome(outcome, stages)
        require_all(outcome)
        return outcome.rules
    unknown = (("updates rules", update), ("runs on an engine", engine), ("reports progress", progress))
    for name, given in unknown:
        if given is not None:
            message = f"only the method '{COMBINED}' {name}; leave the others out"
            raise UndustError(message)
    with stages.timed(CLUSTERING):
        duplicates = seen if isinstance(seen, Duplicates) else find_duplicates(seen)
    support = limits_from(min_support).min_support
    demands: dict[str, Any] = {"max_fpr": max_fpr, "min_support": support, "seed": seed, "threads": threads}
    demands["memory"] = Budget.of(memory, threads).memory
    with stages.timed(LEARNING):
        learned = learn_with(duplicates, names, options=options, **demands)
        rules = RuleSet([*learned.rules, *learned.proposed])
        rules = rules if keep_values else RuleSet(masked(rules))
    return result_of_methods(learned, rules, _refused(learned), stages) if details else rules


def _engine_within(
    memory: int | str | None, engine: Engine | None, threads: int
) -> AbstractContextManager[Engine | None]:
    """Return the engine for a limit of memory; None where the job starts one of its own."""
    if memory is None:
        return nullcontext(engine)
    if engine is not None:
        message = "memory is given beside an engine; give it to the engine, as in LocalEngine(memory='4GB')"
        raise UndustError(message)
    return LocalEngine(memory, threads)


def _refused(learned: MethodOutcome) -> dict[str, tuple[RefusedRule, ...]]:
    """Return by site the candidates of single methods whose proof failed."""
    found: dict[str, list[RefusedRule]] = {site: [] for site in learned.proposals}
    for verdict in learned.verdicts:
        if not verdict.accepted:
            one = (verdict.candidate.rules[0], verdict.reason, verdict.pages, verdict.lost, verdict.saves)
            found[verdict.site].append(RefusedRule(*one))
    return {
        site: tuple(sorted(some, key=lambda one: (-one.pages, -one.lost, str(one.rule))))
        for site, some in found.items()
    }


def require_all(outcome: Outcome) -> None:
    """Raise if a site failed: rules that are handed over are those of all sites."""
    if outcome.failed:
        raise UndustError(failed_sites(outcome.failed))


def failed_sites(failed: Mapping[str, str]) -> str:
    """Return which sites failed and why, in a sentence."""
    site, reason = min(failed.items())
    others = f" and {len(failed) - 1:,} more" if len(failed) > 1 else ""
    mend = "" if ";" in reason else "; leave it out of the input, or report this"
    return f"{site}{others}: {reason}{mend}"


def learn_with(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    methods: Iterable[str],
    *,
    options: Mapping[str, object] | None = None,
    max_fpr: float = VerdictLimits.max_fpr,
    min_support: int = VerdictLimits.min_support,
    held_out: float = HELD_OUT,
    seed: int = 0,
    threads: int = 1,
    memory: int | None = None,
    folder: str | None = None,
) -> MethodOutcome:
    """Return the rules of single learners in the published order, each proved, and the set of a site too.

    Args:
        seen: What `read` or `find_duplicates` returned, or any Arrow table with a column `url`.
        methods: The names of the learners.
        options: By their written names, as in `{"substring.max_bucket": 6}`.
        max_fpr: The largest share of false pairs that is accepted.
        min_support: The number of pages that must show a candidate to be right.
        held_out: The share of the clusters that no learner sees, for the proof.
        seed: Another number holds out other clusters.
        threads: How many to use; the result is the same.
        memory: Bytes that the program may use. A learner that needs more writes temporary files, and
            above what fits with them learns from a sample; its notes say so.
        folder: For those files, instead of the system's.

    """
    require_demands(max_fpr, min_support)
    duplicates = seen if isinstance(seen, Duplicates) else find_duplicates(seen)
    names = names_of(methods)
    job = Job(
        names,
        dict(options or {}),
        VerdictLimits(max_fpr, min_support),
        held_out,
        seed,
        threads,
        memory=memory,
        folder=folder,
    )
    learned = learn_sites(duplicates, job)
    own = {site: [rule for rule in learned.rules if rule.site == site] for site in learned.proposals}
    told: dict[str, Any] = {"options": options, "seed": seed}
    likely = [proposed_by(found, names, rules=own.get(found.site, ()), **told) for found in duplicates]
    return replace(learned, proposed=tuple(rule for some in likely for rule in some))
