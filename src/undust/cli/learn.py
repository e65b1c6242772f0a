"""`undust learn`: from what a person has to the rules of each site, proved on pages held out."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

import click

from undust.cli import PROBLEM, fail, options, validate
from undust.cli.inputs import EngineChoice, engine_option, master_option, resume_option
from undust.cli.inputs import inputs as with_inputs
from undust.cli.learn_job import (
    NO_RULES,
    AskRequest,
    LearnRequest,
    exit_code,
    figures_of,
    kept_as_it_is,
    learned,
    print_learned,
    save,
)
from undust.cli.options import say_json, show
from undust.cli.rule_options import measured_change, sample_option
from undust.errors import UndustError
from undust.jobs import require_readable

if TYPE_CHECKING:
    from undust.cli.inputs import Inputs
    from undust.jobs.input_files import AskingChoice
    from undust.jobs.learn_files import LearnedRules


@click.command("learn")
@with_inputs
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="Write the rules to FILE, or to a folder of parts if its name ends with a slash. It is written or "
    "replaced only when complete, never by no rules. Without it the rules are only shown.",
)
@options.methods
@click.option(
    "--max-fpr",
    metavar="RATE",
    type=options.Numbers(0, 1),
    default=0.01,
    show_default=True,
    help="The largest share of false merges, of a rule and of all rules of a site.",
)
@click.option(
    "--min-support",
    metavar="N",
    type=click.IntRange(min=1),
    help="Accept only rules that at least N pages prove; 5 or more by default.",
)
@click.option(
    "--priors",
    metavar="FILE",
    type=click.Path(),
    help="How often kinds of rules are right on other sites, instead of what undust ships.",
)
@options.learner_options
@click.option(
    "--update",
    metavar="RULES",
    type=click.Path(),
    help="Prove the rules of this file again, retire those that fail, add new ones. Without -o the file is "
    "replaced, and kept as RULES.bak.",
)
@click.option(
    "--today",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The date for rules that --update proves or retires, instead of today.",
)
@sample_option
@click.option(
    "--yes",
    is_flag=True,
    help="Allow --update to retire many rules at once, to replace FILE if nothing was learned, and to write "
    "rules that lose more pages of --sample than the rules before.",
)
@click.option("--seed", metavar="N", type=int, default=0, help="Hold out other pages, to repeat a proof.")
@options.keep_values
@click.option(
    "--report",
    metavar="FILE",
    type=click.Path(),
    help="Also write an HTML page about the rules and the refused candidates.",
)
@click.option("--ask", is_flag=True, help="Prove likely rules by a few polite fetches of the site's pages.")
@validate.asking_options
@click.option(
    "--from",
    "archives",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Pages in this archive (WARC, ARC) are not asked for; may be repeated.",
)
@resume_option
@engine_option
@master_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print counts and rules as JSON to stdout, and nothing else."
)
@options.quiet
@click.pass_context
def command(  # noqa: PLR0913 -- one argument per option
    context: click.Context,
    inputs: Inputs,
    *,
    output: str | None,
    methods: tuple[str, ...],
    max_fpr: float,
    min_support: int | None,
    priors: str | None,
    said: dict[str, object],
    update: str | None,
    today: datetime | None,
    sample: tuple[str, ...],
    yes: bool,
    seed: int,
    keep_values: bool,
    report: str | None,
    ask: bool,
    asking: AskingChoice,
    archives: tuple[str, ...],
    resume: bool,
    engine_name: str,
    master: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn from INPUT which URL forms of each site show the same page, and write the rules.

    A rule is proposed from some of the pages and must hold on the held-out pages. A rule
    that would merge two different pages is narrowed until it does not, or refused:
    missing a duplicate costs one fetch, a false merge loses a page.

    A log, a list or an index has no pages and proves nothing. Of such input the likely rules are
    written as proposed, which nothing applies; with --ask the site itself confirms or refutes them.

    Exit codes: 0 at least one active rule, 3 only proposed ones, 4 no rule, or no URL in the
    input; a sentence says why.

    \b
    Examples:
      undust learn crawl.warc.gz -o rules.json
      undust learn crawl.warc.gz -o rules.json --report report.html
      undust learn access.log --base https://a.test -o likely.json
      undust learn access.log --base https://a.test --ask -o rules.json
      undust learn crawl.jsonl.gz --method substring -o published.json
      undust learn new_crawl.jsonl.gz --update rules.json
      undust learn new_crawl.jsonl.gz --update rules.json --sample labelled.jsonl
      undust learn big/*.parquet --memory 4GB -o rules.json
      undust learn big/*.parquet --memory 4GB -o rules.json --resume
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.learn_files import LearnPlan  # noqa: PLC0415
    from undust.jobs.learn_result import Stages  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.proposals import COMBINED as JOB_COMBINED  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.proposals import require_methods  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.report import report as report_job  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.rule_files import RuleSet  # noqa: PLC0415 -- slow to load, and not for --help

    methods = methods or (JOB_COMBINED,)
    require_methods(methods)
    _require_owners(said, methods)
    _require_priors(priors, methods)
    _require_update(update, methods, today=today, yes=yes and output is None and not sample)
    before = RuleSet.load(update) if update is not None else None
    output = output or update
    options.require_folder(output)
    options.require_folder(report)
    _require_apart(inputs, output, update, report)
    is_silent = quiet or as_json
    told = (max_fpr, seed, output, resume, is_silent)
    question = _question(context, (asking, archives, inputs.base), told, ask=ask)
    plan = LearnPlan(
        methods=methods,
        options=said,
        max_fpr=max_fpr,
        min_support=min_support,
        seed=seed,
        before=before,
        today=f"{today or datetime.now(UTC):%Y-%m-%d}",
        keep_values=keep_values,
        keep_refused=report is not None,
        priors_file=priors,
    )
    asked = LearnRequest(inputs, output, plan, report is not None, resume, is_silent, question)
    place = EngineChoice(engine_name, master)
    started, stages = perf_counter(), Stages()
    with learned(asked, place, stages) as found:
        has_agreed = _has_agreed(found, str(update), yes=yes, is_silent=is_silent)
        effect = {}
        if sample:
            effect = measured_change(before or RuleSet(), found.rules, sample, yes=yes, is_silent=is_silent)
        kept = None if has_agreed else kept_as_it_is(found.rules, output)
        written = None if kept else output
        if written is not None:
            with stages.timed("writing"):
                save(found.rules, written, update)
        if found.journal is not None:
            found.journal.is_complete = not found.failed
        counted = found
        if report is not None:
            named = RuleSet(found.rules, name=written or "rules that were not saved")
            shown = {"refusals": found.refusals, "keep_values": keep_values, "threads": inputs.threads}
            counted = found.counted_by(report_job(named, found.seen, report, **shown))
    seconds = perf_counter() - started
    if as_json:
        figures = figures_of(counted, seconds, written)
        say_json(figures | {"stages": stages.as_json()} | effect)
    elif not quiet:
        print_learned(counted, seconds, written, inputs)
        if report is not None:
            click.echo(f"\n{report}: a page about them, for a browser")
    _end(found, kept, is_silent=is_silent)


def _question(
    context: click.Context,
    asking: tuple[AskingChoice, tuple[str, ...], str | None],
    told: tuple[float, int, str | None, bool, bool],
    *,
    ask: bool,
) -> AskRequest | None:
    """Return what to ask the sites; None if they are not to be asked."""
    choice, archives, base = asking
    if not ask:
        validate.require_used(context, "archives")
        return None
    require_readable(archives)
    with options.usage_errors():
        hosts = choice.required_hosts(base)
    return AskRequest(choice, archives, hosts, *told)


def _end(found: LearnedRules, kept: str | None, *, is_silent: bool) -> None:
    """End with the exit code of the result."""
    if kept:
        fail(kept, PROBLEM)
    if found.failed:
        mend = "; --resume tries again" if found.journal else ""
        fail(f"rules are missing, for some sites failed: {found.why}{mend}", PROBLEM)
    code = exit_code(found.rules)
    if code == NO_RULES:
        fail(found.without_rules(is_silent=is_silent), NO_RULES)
    if code:
        raise click.exceptions.Exit(code)


def _require_priors(priors: str | None, methods: tuple[str, ...]) -> None:
    """Raise if priors are given that the methods do not use."""
    from undust.jobs.proposals import COMBINED, EDITS  # noqa: PLC0415 -- slow to load, and not for --help

    if priors is not None and methods not in {(COMBINED,), (EDITS,)}:
        message = "--priors is not used by single learners; leave --method out"
        raise click.UsageError(message)


def _require_update(
    update: str | None, methods: tuple[str, ...], *, today: datetime | None, yes: bool
) -> None:
    """Raise if an option is not used, or if a method cannot do this."""
    from undust.jobs.proposals import COMBINED  # noqa: PLC0415 -- slow to load, and not for --help

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


def _has_agreed(found: LearnedRules, name: str, *, yes: bool, is_silent: bool) -> bool:
    """Return whether a person agreed to lose rules; where many fail at once, stop unless that is right."""
    if yes or found.drift is None or not found.drift.is_sudden:
        return yes
    from undust.showing.learned import sudden_end  # noqa: PLC0415 -- slow to load, and not for --help

    told, became = sudden_end(found.drift, name)
    if is_silent or not sys.stdin.isatty():
        message = f"{told}; nothing was written; add --yes to retire them"
        raise UndustError(message)
    from rich.text import Text  # noqa: PLC0415 -- rich is slow to load

    show(Text("\n".join([*became, "", f"{told}."])))
    click.confirm("Retire them?", abort=True)
    return True


def _require_owners(said: dict[str, object], methods: tuple[str, ...]) -> None:
    """Raise if an option is not used, instead of leaving it out in silence."""
    for name in said:
        owner = name.partition(".")[0]
        if owner not in methods:
            message = f"--option {name} is for the learner '{owner}', which is not used; add --method {owner}"
            raise click.UsageError(message)
