"""`undust learn`: from what a person has to the rules of each site, proved on pages held out."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from undust.cli import long_jobs, options
from undust.cli.frame import PROBLEM, fail
from undust.cli.inputs import inputs as with_inputs
from undust.cli.learn_job import LearnRequest, counted_by, single, together
from undust.cli.memory import peak_memory_bytes
from undust.cli.outcomes import drifted, told, told_of_learners
from undust.cli.terminal import say_json
from undust.display import how_many
from undust.errors import UndustError
from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from undust.cli.inputs import Inputs
    from undust.learning import Drift, Outcome
    from undust.learning.single import MethodOutcome
    from undust.rules import RuleSet

_SHOWN_RULES = 60
BACKUP = ".bak"
FLIPPED = 3
"""Sites that are named in the question whether their rules are retired."""


@click.command("learn")
@with_inputs
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="Write the rules to FILE. It appears, or is replaced, only when complete, never by no rules. "
    "Without it the rules are only shown.",
)
@options.methods
@click.option(
    "--max-fpr",
    metavar="RATE",
    type=options.Numbers(0, 1),
    default=0.01,
    show_default=True,
    help="The largest share of wrong merges, of a rule and of all rules of a site.",
)
@click.option(
    "--min-support",
    metavar="N",
    type=click.IntRange(min=1),
    help="Take only rules that at least N pages show to be right; 5 or more by default.",
)
@options.learner_options
@click.option(
    "--update",
    metavar="RULES",
    type=click.Path(),
    help="Prove the rules of this file again, retire what fails, add what is new. Without -o the file is "
    "replaced, and kept as RULES.bak.",
)
@click.option(
    "--today",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day to write beside what --update proves or retires, instead of this one.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Let --update retire many rules at once, and FILE be replaced where nothing was learned.",
)
@click.option("--seed", metavar="N", type=int, default=0, help="Hold out other pages.")
@options.keep_values
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(),
    help="Write a page about the rules too, with what was rejected and why.",
)
@long_jobs.resume
@long_jobs.engine
@long_jobs.master
@click.option(
    "--json", "as_json", is_flag=True, help="Print counts and rules as JSON to stdout, and nothing else."
)
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    inputs: Inputs,
    *,
    output: str | None,
    methods: tuple[str, ...],
    max_fpr: float,
    min_support: int | None,
    said: dict[str, object],
    update: str | None,
    today: datetime | None,
    yes: bool,
    seed: int,
    keep_values: bool,
    report: str | None,
    resume: bool,
    engine_name: str,
    master: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn from INPUT which URL forms of each site show one page, and write the rules.

    A rule is proposed from some of the pages and must hold on others that were held out. A rule
    that would bury a page under a different one is narrowed until it does not, or left out:
    missing a duplicate costs one fetch, a wrong merge loses a page.

    \b
    Examples:
      undust learn crawl.warc.gz -o rules.json
      undust learn crawl.warc.gz -o rules.json --report report.html
      undust learn index.cdxj access.log --base https://a.test -o rules.json
      undust learn crawl.jsonl.gz --method substring -o published.json
      undust learn new_crawl.jsonl.gz --update rules.json
      undust learn big/*.parquet --memory 4GB -o rules.json
      undust learn big/*.parquet --memory 4GB -o rules.json --resume
    """  # noqa: D301 -- click keeps the lines behind a \b
    from undust.jobs.learn import COMBINED as JOB_COMBINED  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.learn import EDITS, failed_sites, require_methods  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.report import report as report_job  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.stages import Stages  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.rules import RuleSet  # noqa: PLC0415

    methods = methods or (JOB_COMBINED,)
    require_methods(methods)
    _require_owners(said, methods)
    _require_update(update, methods, today=today, yes=yes and output is None)
    before = RuleSet.load(update) if update is not None else None
    output = output or update
    options.require_folder(output)
    options.require_folder(report)
    _require_apart(inputs, output, update, report)
    asked = LearnRequest(
        inputs=inputs,
        output=output,
        methods=methods,
        options=said,
        max_fpr=max_fpr,
        min_support=min_support,
        seed=seed,
        before=before,
        today=f"{today or datetime.now(UTC):%Y-%m-%d}",
        keep_values=keep_values,
        has_report=report is not None,
        resume=resume,
        is_silent=quiet or as_json,
    )
    _announce(output, is_silent=asked.is_silent)
    place = long_jobs.EngineChoice(engine_name, master)
    started, stages = perf_counter(), Stages()
    learning = together if methods in {(JOB_COMBINED,), (EDITS,)} else single
    with learning(asked, place, stages) as found:
        if found.drift and found.drift.is_sudden and not yes:
            _ask(found.drift, str(update), is_silent=asked.is_silent)
        kept = None if yes else _kept(found.rules, output)
        written = None if kept else output
        if written is not None:
            with stages.timed("writing"):
                _save(found.rules, written, update)
        if found.journal is not None:
            found.journal.is_complete = not found.failed
        result = found.result
        if report is not None:
            named = RuleSet(found.rules, name=written or "rules that were not saved")
            shown = {"refusals": found.refusals, "keep_values": keep_values, "threads": inputs.threads}
            made = report_job(named, found.seen, report, **shown)
            result = counted_by(found.result, made)
    seconds = perf_counter() - started
    if as_json:
        figures = _figures(result, found.rules, seconds, written) | {"stages": stages.as_json()}
        say_json(figures)
    elif not quiet:
        _print(result, found.rules, seconds, written)
        if report is not None:
            click.echo(f"\n{report}: a page about them, for a browser")
    if kept:
        fail(kept, PROBLEM)
    if found.failed:
        mend = "; --resume tries again" if found.journal else ""
        fail(f"rules are missing, for some sites failed: {failed_sites(found.failed)}{mend}", PROBLEM)


def _require_update(
    update: str | None, methods: tuple[str, ...], *, today: datetime | None, yes: bool
) -> None:
    """Say that an option goes nowhere, or that a method cannot do this."""
    from undust.jobs.learn import COMBINED  # noqa: PLC0415 -- slow to load, and not for --help

    if update is not None and methods != (COMBINED,):
        message = "--update needs all methods together; leave --method out"
        raise click.UsageError(message)
    for name, is_said in (("--today", today is not None), ("--yes", yes)):
        if is_said and update is None:
            message = f"{name} says something about --update, which is not used; add --update rules.json"
            raise click.UsageError(message)


def _require_apart(inputs: Inputs, output: str | None, update: str | None, report: str | None) -> None:
    """Refuse to lose what is read, or one result to the other."""
    # Rules that are proved again go back to where they were, even if that is a folder that is read.
    is_back = options.is_one_file(output, update)
    inputs.require_apart(None if is_back else output, report)
    options.require_apart(report, update)
    if options.is_one_file(output, report):
        message = f"the file {report} is where the rules go; name another one for --report"
        raise click.UsageError(message)


def _ask(drift: Drift, name: str, *, is_silent: bool) -> None:
    """Stop where many rules fail at once, unless a person at the terminal says that this is right."""
    retired, held = len(drift.of("retired")), len(drift.of("holds"))
    where = f"{', '.join(drift.flipped[:FLIPPED])}{' and others' * (len(drift.flipped) > FLIPPED)}"
    told = (
        f"{retired:,} of the {retired + held:,} rules of {name} that the input can test no longer hold"
        f"{f', most of those of {where}' * bool(where)}; a site that was moved looks like this, and so does "
        "a crawl that went wrong"
    )
    if is_silent or not sys.stdin.isatty():
        message = f"{told}; nothing was written; add --yes to retire them"
        raise UndustError(message)
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to load

    from undust.cli.printing import show  # noqa: PLC0415

    show(Text("\n".join([*drifted(drift), "", f"{told}."])))
    click.confirm("Retire them?", abort=True)


def _announce(output: str | None, *, is_silent: bool) -> None:
    """Say before the work that its result will not be kept; hours may pass until the end."""
    if output is None and not is_silent:
        click.echo("Without -o the rules are shown and not written; -o rules.json keeps them.", err=True)


def _save(rules: RuleSet, path: str, update: str | None) -> None:
    """Write the rules; the file that --update replaces is kept beside them, whole or not at all."""
    if options.is_one_file(path, update):
        before = Path(path).read_bytes()
        if before != rules.dumps():  # a backup of an older file says more than one of the same
            with open_output(f"{path}{BACKUP}") as output:
                output.write(before)
    rules.save(path)


def _kept(rules: RuleSet, output: str | None) -> str | None:
    """Return why the output is left as it is: that nothing was learned is no reason to lose what is there."""
    if len(rules) or output is None or output == STANDARD or not Path(output).is_file():
        return None
    held = _held(output)
    if held is None:
        return None
    return (
        f"nothing was learned, so {output} was left as it is, with {held}; name another file with -o, or "
        "add --yes to replace it"
    )


def _held(path: str) -> str | None:
    """Return what a file holds that somebody may miss; None for a rule file without rules, or nothing."""
    from undust.rules import RuleSet  # noqa: PLC0415 -- slow to load, and not for --help

    if not Path(path).stat().st_size:
        return None
    try:
        count = len(RuleSet.load(path))
    except UndustError:
        return "what is no rule file"
    return f"its {how_many(count, 'rule')}" if count else None


def _require_owners(said: dict[str, object], methods: tuple[str, ...]) -> None:
    """Say that an option goes nowhere, instead of leaving it out in silence."""
    for name in said:
        owner = name.partition(".")[0]
        if owner not in methods:
            message = f"--option {name} is for the learner '{owner}', which is not used; add --method {owner}"
            raise click.UsageError(message)


def _figures(
    found: Outcome | MethodOutcome, rules: RuleSet, seconds: float, output: str | None
) -> dict[str, Any]:
    from undust.learning import Outcome  # noqa: PLC0415 -- slow to load, and not for --help

    return (
        {"rules": len(rules)}
        | found.as_json()
        | {
            "output": output,
            "seconds": round(seconds, 3),
            "peak_memory_bytes": peak_memory_bytes(),
        }
        | ({"by_site": found.by_site()} if isinstance(found, Outcome) else {})
        | {"learned": [rule.to_json() for rule in rules]}
    )


def _print(found: Outcome | MethodOutcome, rules: RuleSet, seconds: float, output: str | None) -> None:
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to load, and not for --json

    from undust.cli.printing import show, show_lines  # noqa: PLC0415
    from undust.learning import Outcome  # noqa: PLC0415
    from undust.showing.listing import listed  # noqa: PLC0415

    shown = list(rules[:_SHOWN_RULES])
    if shown:
        show_lines(lambda width, styled: listed(shown, width, styled, origins=True))
    if len(rules) > _SHOWN_RULES:
        show(Text(f"{len(rules) - _SHOWN_RULES:,} more rules; `undust rules list` shows all of a file"))
    said = [""]
    said += told(found) if isinstance(found, Outcome) else told_of_learners(found)
    said += [f"{seconds:.1f} s"]
    if len(rules) and output is None:
        said += ["", "Nothing was written; name a file with -o rules.json."]
    show(Text("\n".join(said)))
    if len(rules) and output is not None:
        # A command that is broken over two lines cannot be copied.
        commands = "\n".join(f"  undust {line}" for line in _next(output))
        show(Text(f"\nWhat you can do next:\n{commands}"), wrap=False)


def _next(output: str) -> list[str]:
    return [
        f"rules check {output}             what could go wrong in use",
        f"explain {output} URL             why a URL becomes what it becomes",
        f"apply --key {output} urls.txt    the key of each URL, to compare by",
        f"evaluate {output} OTHER          what they do to other data",
        f"report {output} INPUT            a page that shows each rule at work",
    ]
