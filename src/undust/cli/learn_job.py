"""What `undust learn` runs, writes and prints: the job on its input, questions to the sites, the rules.

Proved rules in the file are not replaced by none, unless a person says so.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.inputs import EngineChoice, journal_of_job, watching_sites
from undust.cli.options import show, show_lines
from undust.cli.validate import showing_fetches
from undust.display import how_many
from undust.errors import UndustError
from undust.jobs import STANDARD, open_output, peak_memory_bytes
from undust.jobs.input_files import require_room

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.cli.inputs import Inputs
    from undust.jobs.input_files import AskingChoice
    from undust.jobs.learn_files import LearnedRules, LearnPlan
    from undust.jobs.learn_result import Stages
    from undust.jobs.rule_files import Rule, RuleSet

BACKUP = ".bak"
ONLY_PROPOSED, NO_RULES = 3, 4
"""Exit codes of `undust learn`: nothing but proposed rules; no rule at all, or no URL in the input."""


def exit_code(rules: Sequence[Rule]) -> int:
    """Return the exit code of what was learned."""
    from undust.jobs.rule_files import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    if any(rule.status == "active" for rule in rules):
        return 0
    return ONLY_PROPOSED if any(map(is_proposed, rules)) else NO_RULES


def save(rules: RuleSet, path: str, update: str | None) -> None:
    """Write the rules; the file that --update replaces is kept beside them, whole or not at all."""
    from undust.jobs.rule_files import is_folder  # noqa: PLC0415 -- slow to load, and not for --help

    if options.is_one_file(path, update):
        before = type(rules).load(path).dumps() if is_folder(path) else Path(path).read_bytes()
        if before != rules.dumps():  # a backup of an older file says more than one of the same
            with open_output(f"{path.rstrip('/')}{BACKUP}") as output:
                output.write(before)
    rules.save(path)


def kept_as_it_is(rules: RuleSet, output: str | None) -> str | None:
    """Return why the output is not replaced: a run that proved nothing must not remove existing rules."""
    from undust.jobs.rule_files import readable  # noqa: PLC0415 -- slow to load, and not for --help

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
    from undust.jobs.rule_files import RuleSet  # noqa: PLC0415 -- slow to load, and not for --help

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

    def run(self, found: LearnedRules) -> LearnedRules:
        """Ask the sites about what is proposed, and return it with their answers."""
        from undust.jobs.ask import ask  # noqa: PLC0415 -- slow to load, and not for --help

        rules = found.rules
        job = hashlib.blake2b(
            json.dumps([rules.ids, self.choice.facts(), self.max_fpr, self.seed]).encode(), digest_size=16
        )
        with showing_fetches(rules, is_silent=self.is_silent) as watch:
            proof = ask(
                rules,
                found.seen,
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
        return found.asked(proof)

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
def learned(asked: LearnRequest, place: EngineChoice, stages: Stages) -> Iterator[LearnedRules]:
    """Learn, ask the sites if that is wanted, and give what came of it while the input is still there."""
    learning = together if asked.plan.is_together else single
    with learning(asked, place, stages) as found:
        if asked.question is None:
            yield found
            return
        with stages.timed("asking"):
            answered = asked.question.run(found)
        yield answered


@contextmanager
def together(asked: LearnRequest, place: EngineChoice, stages: Stages) -> Iterator[LearnedRules]:
    """Learn with all methods together, and give what came of it."""
    facts = asked.plan.facts(asked.inputs.memory)
    said = {"resume": asked.resume, "is_silent": asked.is_silent}
    with (
        journal_of_job(asked.inputs, asked.output, facts, **said) as journal,
        asked.inputs.engine(place.engine_name, place.master) as engine,
    ):
        asked.announce()
        with stages.timed("reading"):
            seen = asked.inputs.read(quiet=asked.is_silent, engine=engine)
        if asked.has_report:
            require_room(len(seen), asked.inputs.memory, "--report")
        with watching_sites(is_silent=asked.is_silent) as watch:
            found = asked.plan.together(seen, engine, stages, journal=journal, watch=watch)
        yield found


@contextmanager
def single(asked: LearnRequest, place: EngineChoice, stages: Stages) -> Iterator[LearnedRules]:
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


def _require_local(place: EngineChoice, *, resume: bool) -> None:
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


_SHOWN_RULES = 60


def figures_of(found: LearnedRules, seconds: float, output: str | None) -> dict[str, Any]:
    """Return what was learned, for machines."""
    rules = found.rules
    return (
        {"rules": len(rules)}
        | found.counts()
        | _by_status(rules)
        | {"output": output, "seconds": round(seconds, 3), "peak_memory_bytes": peak_memory_bytes()}
        | found.details()
        | {"learned": [rule.to_json() for rule in rules]}
    )


def _by_status(rules: RuleSet) -> dict[str, Any]:
    from undust.jobs.rule_files import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    proposed = sum(map(is_proposed, rules))
    active = sum(rule.status == "active" for rule in rules)
    return {"rules": len(rules) - proposed, "active": active, "proposed": proposed}


def print_learned(found: LearnedRules, seconds: float, output: str | None, inputs: Inputs) -> None:
    """Print what was learned, for people."""
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to load, and not for --json

    from undust.jobs.rule_files import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.showing.learned import proposed_lines, told_of_proposed  # noqa: PLC0415
    from undust.showing.listing import listed  # noqa: PLC0415

    rules = found.rules
    certain = [rule for rule in rules if not is_proposed(rule)]
    likely = [rule for rule in rules if is_proposed(rule)]
    shown = certain[:_SHOWN_RULES]
    if shown:
        show_lines(lambda width, styled: listed(shown, width, styled, origins=True))
    if len(certain) > _SHOWN_RULES:
        show(Text(f"{len(certain) - _SHOWN_RULES:,} more rules; `undust rules list` shows all of a file"))
    if likely:
        show_lines(lambda width, styled: proposed_lines(likely, width, styled))
    said = ["", *found.sentences()]
    known = {"has_active": not exit_code(rules), "is_compared": found.is_compared}
    said += told_of_proposed(likely, **known) if likely else []
    said += [f"{seconds:.1f} s"]
    if len(rules) and output is None:
        said += ["", "Nothing was written; name a file with -o rules.json."]
    show(Text("\n".join(said)))
    is_asked = found.proof is not None
    commands = [f"undust {line}" for line in _next(rules, output, inputs, is_asked=is_asked)]
    if commands:
        # A command that is broken over two lines cannot be copied.
        lines = "\n".join(f"  {command}" for command in commands)
        show(Text(f"\nWhat you can do next:\n{lines}"), wrap=False)


def _next(rules: RuleSet, output: str | None, inputs: Inputs, *, is_asked: bool) -> list[str]:
    code = exit_code(rules)
    if code == ONLY_PROPOSED and not is_asked:
        return [next_question(inputs, output, rules)]
    if code or output is None:
        return []
    return [
        f"rules check {output}             what could go wrong in use",
        f"explain {output} URL             why a URL becomes what it becomes",
        f"apply --key {output} urls.txt    the key of each URL, to compare by",
        f"evaluate {output} OTHER          what they do to other data",
        f"report {output} INPUT            a page that shows each rule at work",
    ]


def next_question(inputs: Inputs, output: str | None, rules: Sequence[Rule]) -> str:
    """Return the command that proves what is proposed; of several sites, a person says which to ask."""
    from undust.jobs.rule_files import ANY_SITE  # noqa: PLC0415 -- slow to load, and not for --help

    files = " ".join(map(shlex.quote, inputs.paths))
    sites = {rule.site for rule in rules} - {ANY_SITE}
    hosts = [name for site in sites for name in (site, f"*.{site}")] if len(sites) == 1 else ["www.your.site"]
    asked = " ".join(f"--ask-host {shlex.quote(host)}" for host in hosts)
    named = f"--base {inputs.base}" if inputs.base else asked
    return f"learn {files} --ask {named} --contact you@example.org -o {output or 'rules.json'}"
