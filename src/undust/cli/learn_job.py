"""What `undust learn` runs: the job on its input, questions to the sites, and the file that it writes.

Proved rules in the file are not replaced by none, unless a person says so.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.cli import long_jobs, options
from undust.cli.options import require_room
from undust.cli.validate import showing_fetches
from undust.display import how_many
from undust.errors import UndustError
from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.asking.outcome import Validation
    from undust.cli.asking_options import AskingChoice
    from undust.cli.inputs import Inputs
    from undust.jobs.learn_files import LearnedRules, LearnPlan
    from undust.jobs.learn_result import Stages
    from undust.rules import Rule, RuleSet

BACKUP = ".bak"
ONLY_PROPOSED, NO_RULES = 3, 4
"""Exit codes of `undust learn`: nothing but proposed rules; no rule at all, or no URL in the input."""


def exit_code(rules: Sequence[Rule]) -> int:
    """Return the exit code of what was learned."""
    from undust.rules.proposed import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    if any(rule.status == "active" for rule in rules):
        return 0
    return ONLY_PROPOSED if any(map(is_proposed, rules)) else NO_RULES


def save(rules: RuleSet, path: str, update: str | None) -> None:
    """Write the rules; the file that --update replaces is kept beside them, whole or not at all."""
    from undust.rules.parts import is_folder  # noqa: PLC0415 -- slow to load, and not for --help

    if options.is_one_file(path, update):
        before = type(rules).load(path).dumps() if is_folder(path) else Path(path).read_bytes()
        if before != rules.dumps():  # a backup of an older file says more than one of the same
            with open_output(f"{path.rstrip('/')}{BACKUP}") as output:
                output.write(before)
    rules.save(path)


def kept_as_it_is(rules: RuleSet, output: str | None) -> str | None:
    """Return why the output is not replaced: a run that proved nothing must not remove existing rules."""
    from undust.rules.parts import readable  # noqa: PLC0415 -- slow to load, and not for --help

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
class AskRequest:
    """What `--ask` is to do."""

    choice: AskingChoice
    archives: tuple[str, ...]
    hosts: frozenset[str]
    max_fpr: float
    seed: int
    output: str | None
    resume: bool
    is_silent: bool

    def run(self, rules: RuleSet, seen: Any) -> Validation:  # noqa: ANN401 -- any Arrow object
        """Ask the sites about what is proposed."""
        from undust.jobs.ask import ask  # noqa: PLC0415 -- slow to load, and not for --help

        job = hashlib.blake2b(
            json.dumps([rules.ids, self.choice.facts(), self.max_fpr, self.seed]).encode(), digest_size=16
        )
        with showing_fetches(rules, is_silent=self.is_silent) as watch:
            return ask(
                rules,
                seen,
                self.choice.manners(self.hosts),
                max_fpr=self.max_fpr,
                samples=self.choice.samples,
                epsilon=self.choice.epsilon,
                seed=self.seed,
                archives=self.archives,
                journal=self.journal,
                resume=self.resume and self.journal is not None and Path(self.journal).exists(),
                job=job.hexdigest(),
                watch=watch,
            )

    @property
    def journal(self) -> str | None:
        """Where answers are written down; nowhere if nothing is written."""
        if self.choice.journal is not None:
            return self.choice.journal
        return None if self.output in {None, STANDARD} else f"{self.output}.asked"


@dataclass(frozen=True)
class LearnRequest:
    """What is learned from, what is learned, and what is done with it."""

    inputs: Inputs
    output: str | None
    plan: LearnPlan
    has_report: bool
    resume: bool
    is_silent: bool
    question: AskRequest | None = None
    """What to ask the sites about likely rules, if they are to be asked."""

    def announce(self) -> None:
        """Report, once the options are known to be right, that the result will not be kept."""
        if self.output is None and not self.is_silent:
            click.echo("Without -o the rules are shown and not written; -o rules.json keeps them.", err=True)


@contextmanager
def learned(asked: LearnRequest, place: long_jobs.EngineChoice, stages: Stages) -> Iterator[LearnedRules]:
    """Learn, ask the sites if that is wanted, and give what came of it while the input is still there."""
    learning = together if asked.plan.is_together else single
    with learning(asked, place, stages) as found:
        if asked.question is None:
            yield found
            return
        with stages.timed("asking"):
            proof = asked.question.run(found.rules, found.seen)
        yield found.asked(proof)


@contextmanager
def together(asked: LearnRequest, place: long_jobs.EngineChoice, stages: Stages) -> Iterator[LearnedRules]:
    """Learn with all methods together, and give what came of it."""
    facts = asked.plan.facts(asked.inputs.memory)
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
            found = asked.plan.together(seen, engine, stages, journal=journal, watch=watch)
        yield found


@contextmanager
def single(asked: LearnRequest, place: long_jobs.EngineChoice, stages: Stages) -> Iterator[LearnedRules]:
    """Learn with methods that are named, each by itself, and give what came of it."""
    _require_local(place, resume=asked.resume)
    # Where memory is bounded, only reading shows whether the options can be met.
    is_bounded = asked.inputs.memory is not None
    if not is_bounded:
        asked.announce()
    with stages.timed("reading"):
        seen = asked.inputs.read(quiet=asked.is_silent)
    if is_bounded:
        asked.announce()
    inputs = asked.inputs
    yield asked.plan.single(seen, stages, threads=inputs.threads, memory=inputs.memory, folder=inputs.tmp)


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
