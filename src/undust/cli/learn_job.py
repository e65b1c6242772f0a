"""The two ways in which `undust learn` learns, and the file that it writes.

All methods learn together through an engine, or single ones on their own. Both give what was found while the
observations are still there, for a page about them may be wanted. Proved rules in the file are not replaced
by none, unless a person says so.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from undust.cli import long_jobs, options
from undust.cli.learn_asking import exit_code
from undust.cli.options import require_room
from undust.display import how_many
from undust.errors import UndustError
from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from undust.asking.outcome import Validation
    from undust.cli.inputs import Inputs
    from undust.cli.learn_asking import AskRequest
    from undust.jobs.site_journal import SiteJournal
    from undust.jobs.stages import Stages
    from undust.learning import Drift, Outcome
    from undust.learning.single import MethodOutcome
    from undust.rules import RuleSet
    from undust.showing.report import Report

BACKUP = ".bak"


def save(rules: RuleSet, path: str, update: str | None) -> None:
    """Write the rules; the file that --update replaces is kept beside them, whole or not at all."""
    from undust.rules.files import is_folder  # noqa: PLC0415 -- slow to load, and not for --help

    if options.is_one_file(path, update):
        before = type(rules).load(path).dumps() if is_folder(path) else Path(path).read_bytes()
        if before != rules.dumps():  # a backup of an older file says more than one of the same
            with open_output(f"{path.rstrip('/')}{BACKUP}") as output:
                output.write(before)
    rules.save(path)


def kept_as_it_is(rules: RuleSet, output: str | None) -> str | None:
    """Return why the output is not replaced: a run that proved nothing must not remove existing rules."""
    from undust.rules.files import readable  # noqa: PLC0415 -- slow to load, and not for --help

    is_file = output is not None and output != STANDARD and Path(readable(output)).is_file()
    if output is None or not is_file or not exit_code(rules):
        return None
    held = _held(output, is_active=bool(len(rules)))
    if held is None:
        return None
    what = "only likely rules were found" if len(rules) else "nothing was learned"
    return (
        f"{what}, so {output} was left as it is, with {held}; name another file with -o, or "
        "add --yes to replace it"
    )


def _held(path: str, *, is_active: bool) -> str | None:
    """Return what a file holds that must not be lost; None for a rule file without such rules, or no file.

    Args:
        path: Of the file.
        is_active: Whether only rules in effect are missed.

    """
    from undust.rules import RuleSet  # noqa: PLC0415 -- slow to load, and not for --help

    if not Path(path).stat().st_size:
        return None
    try:
        rules = RuleSet.load(path)
    except UndustError:
        return "what is not a rule file"
    if is_active and exit_code(rules):
        return None
    return f"its {how_many(len(rules), 'rule')}" if len(rules) else None


@dataclass(frozen=True)
class LearnRequest:
    """What the person wants to be learned."""

    inputs: Inputs
    output: str | None
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
    has_report: bool
    resume: bool
    is_silent: bool
    priors: str | None = None
    """A file with what is known of kinds of edits."""
    question: AskRequest | None = None
    """What to ask the sites about likely rules, if they are to be asked."""

    def announce(self) -> None:
        """Report, once the options are known to be right, that the result will not be kept."""
        if self.output is None and not self.is_silent:
            click.echo("Without -o the rules are shown and not written; -o rules.json keeps them.", err=True)


class CommandResult(NamedTuple):
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
        from undust.jobs.learn import failed_sites  # noqa: PLC0415 -- slow to load, and not for --help

        return failed_sites(self.failed)


@contextmanager
def learned(asked: LearnRequest, place: long_jobs.EngineChoice, stages: Stages) -> Iterator[CommandResult]:
    """Learn, ask the sites if that is wanted, and give what came of it."""
    from undust.jobs.learn import COMBINED, EDITS  # noqa: PLC0415 -- slow to load, and not for --help

    learning = together if asked.methods in {(COMBINED,), (EDITS,)} else single
    with learning(asked, place, stages) as found:
        if asked.question is None:
            yield found
            return
        with stages.timed("asking"):
            proof = asked.question.run(found.rules, found.seen)
        yield found._replace(rules=proof.rules, proof=proof)


@contextmanager
def together(asked: LearnRequest, place: long_jobs.EngineChoice, stages: Stages) -> Iterator[CommandResult]:
    """Learn with all methods together, and give what came of it."""
    from undust.engines.budget import site_rows  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.combined import learn_combined  # noqa: PLC0415
    from undust.jobs.learn import EDITS  # noqa: PLC0415
    from undust.jobs.report import refusals_of  # noqa: PLC0415
    from undust.learning import requirements_from  # noqa: PLC0415
    from undust.searching.priors import load_priors  # noqa: PLC0415

    priors = load_priors(asked.priors) if asked.priors is not None else None
    requirements = requirements_from(asked.max_fpr, asked.min_support, asked.seed)
    facts = {
        "care": asdict(requirements),
        "update": asked.before and asked.before.dumps(),
        "today": asked.before and asked.today,
        "site_rows": site_rows(asked.inputs.memory),
        "refused": asked.has_report,
        "methods": asked.methods,
        "priors": None if priors is None else {kind: asdict(prior) for kind, prior in priors.items()},
    }
    said = {"resume": asked.resume, "is_silent": asked.is_silent}
    with (
        long_jobs.journal(asked.inputs, asked.output, facts, **said) as journal,
        place.engine(asked.inputs) as engine,
    ):
        asked.announce()
        with stages.timed("reading"):
            seen = asked.inputs.read(quiet=asked.is_silent, engine=engine)
        if asked.has_report:
            require_room(len(seen), asked.inputs.memory, "--report")
        with long_jobs.watching(is_silent=asked.is_silent) as watch:
            outcome = learn_combined(
                seen,
                requirements,
                keep_values=asked.keep_values,
                update=asked.before,
                today=asked.today,
                engine=engine,
                journal=journal,
                stages=stages,
                keep_refused=asked.has_report,
                watch=watch,
                edits=asked.methods == (EDITS,),
                priors=priors,
            )
        with stages.timed("across sites"):
            rules = outcome.rules
        found = CommandResult(
            outcome, rules, refusals_of(outcome), seen, outcome.failed, outcome.drift, journal
        )
        if found.failed and not outcome.site_counts[0]:
            raise UndustError(found.why)
        yield found


@contextmanager
def single(asked: LearnRequest, place: long_jobs.EngineChoice, stages: Stages) -> Iterator[CommandResult]:
    """Learn with methods that are named, each by itself, and give what came of it."""
    from undust.jobs.learn import learn_with  # noqa: PLC0415
    from undust.jobs.report import refusals_of_verdicts  # noqa: PLC0415
    from undust.judging.verdict import limits_from  # noqa: PLC0415
    from undust.learning import masked  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.rules import RuleSet  # noqa: PLC0415

    _require_local(place, resume=asked.resume)
    # Where memory is bounded, only reading shows whether the options can be met.
    is_bounded = asked.inputs.memory is not None
    if not is_bounded:
        asked.announce()
    with stages.timed("reading"):
        seen = asked.inputs.read(quiet=asked.is_silent)
    if is_bounded:
        asked.announce()
    with stages.timed("learning"):
        learned = learn_with(
            seen,
            asked.methods,
            options=asked.options,
            max_fpr=asked.max_fpr,
            min_support=limits_from(asked.min_support).min_support,
            seed=asked.seed,
            threads=asked.inputs.threads,
            memory=asked.inputs.memory,
            folder=asked.inputs.tmp,
        )
    rules = RuleSet([*learned.rules, *learned.proposed])
    rules = rules if asked.keep_values else RuleSet(masked(rules))
    yield CommandResult(learned, rules, refusals_of_verdicts(learned), seen, {})


def counted_by(result: Outcome | MethodOutcome, report: Report) -> Outcome | MethodOutcome:
    """Return what was learned with the counts of the page about it, which know the rules for all sites."""
    from undust.learning import Outcome  # noqa: PLC0415 -- slow to load, and not for --help

    if not isinstance(result, Outcome):
        return result
    return replace(result, totals=report.totals, is_by_all=True)


def _require_local(place: long_jobs.EngineChoice, *, resume: bool) -> None:
    """Raise if an option is not used."""
    is_said = {
        "--engine": place.engine_name != "local",
        "--master": place.master is not None,
        "--resume": resume,
    }
    for name, said in is_said.items():
        if said:
            message = f"{name} needs all methods together; leave --method out"
            raise click.UsageError(message)
