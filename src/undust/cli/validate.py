"""`undust validate`: rules against the sites themselves, a few pages each, or against their archives.

`learn --ask` has the same options about asking: who is asked, how often, how long.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import wraps
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from undust.cli import options
from undust.cli.inputs import reading
from undust.cli.options import say_json, show_lines
from undust.jobs import STANDARD, peak_memory_bytes, require_readable
from undust.jobs.input_files import AskingChoice
from undust.jobs.rule_files import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from undust.cli.inputs import Inputs
    from undust.jobs.rule_files import Rule, RuleSet

    Watch = Callable[[Rule, str, int], object]


Result = TypeVar("Result")

_OPTIONS = (
    click.option(
        "--samples",
        metavar="N",
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
        help="The number of answers that decides a rule; for a proposed rule, the largest number.",
    ),
    click.option(
        "--epsilon",
        metavar="SHARE",
        type=options.Numbers(0, 1, min_open=True, max_open=True),
        default=0.05,
        show_default=True,
        help="The share of wrong answers that refutes a rule.",
    ),
    click.option(
        "--delay",
        metavar="SECONDS",
        type=options.Numbers(min=0),
        default=1.0,
        show_default=True,
        help="The least time between two requests to a host; robots.txt can only raise it.",
    ),
    click.option(
        "--max-fetches",
        metavar="N",
        type=click.IntRange(min=1),
        default=10_000,
        show_default=True,
        help="The largest number of requests.",
    ),
    click.option(
        "--max-fetches-per-host",
        metavar="N",
        type=click.IntRange(min=1),
        help="The largest number of requests to one host.",
    ),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=options.Numbers(min=0, min_open=True),
        default=60.0,
        show_default=True,
        help="The limit for a whole answer; a third of it for each step.",
    ),
    click.option(
        "--contact",
        metavar="TEXT",
        envvar="UNDUST_CONTACT",
        help="How site owners reach you, in the User-Agent: mail or web address. Also: UNDUST_CONTACT.",
    ),
    click.option(
        "--ask-host",
        "ask_hosts",
        metavar="HOST",
        multiple=True,
        help="A host that may be asked, *.shop.test for all below one; may be repeated. For proposed rules "
        "no other is asked but that of --base: a log says what strangers want it to say.",
    ),
    click.option(
        "--connect-to",
        metavar="HOST[:PORT]=ADDRESS:PORT",
        multiple=True,
        help="Connect to another address for a host, as for a staging server; may be repeated.",
    ),
    click.option(
        "--allow-private", is_flag=True, help="Also fetch from private, loopback and link-local addresses."
    ),
    click.option(
        "--journal",
        metavar="FILE",
        type=click.Path(),
        help="The file that records every answer; beside the rules by default.",
    ),
)
_NAMES = (
    *("samples", "epsilon", "delay", "max_fetches", "max_fetches_per_host", "timeout", "contact"),
    *("ask_hosts", "connect_to", "allow_private", "journal"),
)


def asking_options(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command the options about asking sites, as one parameter `asking`."""

    @wraps(command)
    def with_asking(*args: Any, **kwargs: Any) -> Result:  # noqa: ANN401 -- the command's own
        said = AskingChoice(**{name: kwargs.pop(name) for name in _NAMES})
        return command(*args, asking=said, **kwargs)

    chosen: Callable[..., Result] = with_asking
    for option in reversed(_OPTIONS):
        chosen = option(chosen)
    return chosen


def require_used(context: click.Context, *more: str) -> None:
    """Raise if an option of --ask is given without --ask."""
    for name in (*_NAMES, *more):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            message = f"{option} says something about --ask, which is not used; add --ask"
            raise click.UsageError(message)


@click.command("validate")
@click.argument("file", metavar="RULES", type=click.Path(allow_dash=True))
@click.option(
    "--sample",
    "paths",
    metavar="FILE",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="URLs to try the rules on: a list, a log, any input; may be repeated.",
)
@reading
@click.option(
    "--from",
    "archives",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Use this archive (WARC, ARC) instead of the live sites; may be repeated.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Write the rules here instead of to RULES itself.",
)
@click.option("--seed", metavar="N", type=int, default=0, help="Draw other URLs.")
@asking_options
@click.option(
    "--max-fpr",
    metavar="RATE",
    type=options.Numbers(0, 1),
    default=0.01,
    show_default=True,
    help="The largest expected share of false merges of a proposed rule when it is confirmed.",
)
@click.option("--resume", is_flag=True, help="Continue with a journal; nothing in it is fetched again.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the outcome as JSON to stdout, and nothing else."
)
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    file: str,
    inputs: Inputs,
    *,
    archives: tuple[str, ...],
    output: str | None,
    asking: AskingChoice,
    max_fpr: float,
    seed: int,
    resume: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check each rule of RULES on a sample of URLs, and write the result into it.

    A URL and what the rule makes of it are both fetched, one after the other and slowly, until
    enough pairs show one page and the rule is confirmed, or enough do not and it is refuted. A
    refuted rule is switched off and stays in the file, with the reason. A proposed rule that is
    confirmed becomes active; for those, only hosts that you name are asked.

    \b
    Examples:
      undust validate rules.json --sample urls.txt --contact you@example.org
      undust validate rules.json --sample crawl.cdxj --max-fetches 2000
      undust validate rules.json --sample urls.txt --resume
      undust validate likely.json --sample access.log --base https://www.shop.test
      undust validate rules.json --sample urls.txt --from crawl.warc.gz
    """  # noqa: D301 -- click keeps the lines after a \b
    target = output or file
    if target == STANDARD:
        message = "rules from stdin have no file to go back to, and stdout has the outcome; name one with -o"
        raise click.UsageError(message)
    options.require_apart(target, *archives)
    inputs.require_apart(target)
    require_readable([file, *archives])
    rules = load(file)
    hosts = _hosts(rules, asking, inputs.base, is_live=not archives)
    is_silent = quiet or as_json
    seen = inputs.read(quiet=is_silent) if inputs.paths else None
    from undust.jobs.validate import validate  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.showing.learned import outcome_lines, told_of_validation  # noqa: PLC0415

    started = perf_counter()
    with showing_fetches(rules, is_silent=is_silent) as watch:
        done = validate(
            rules,
            seen,
            live=not archives,
            archives=archives,
            journal=asking.journal or f"{target}.journal",
            watch=watch,
            samples=asking.samples,
            epsilon=asking.epsilon,
            max_fpr=max_fpr,
            seed=seed,
            delay=asking.delay,
            max_fetches=asking.max_fetches,
            max_fetches_per_host=asking.max_fetches_per_host,
            timeout=asking.timeout,
            contact=asking.contact,
            allow_private=asking.allow_private,
            connect_to=asking.connect_to,
            hosts=hosts,
            resume=resume,
        )
    done.rules.save(target)
    seconds = perf_counter() - started
    if as_json:
        figures = {
            "output": target,
            "seconds": round(seconds, 3),
            "peak_memory_bytes": peak_memory_bytes(),
        }
        say_json(done.to_json() | figures)
    elif not quiet:
        show_lines(lambda width, styled: outcome_lines(done, width, styled))
        click.echo(f"\n{told_of_validation(done, seconds)}\nwritten to {target}")
        if seen is None:
            click.echo("Tried on the examples of the rules alone; --sample FILE gives more URLs.", err=True)
        if not archives and asking.contact is None:
            click.echo(f"Asked as {asking.agent}; --contact says how to reach you.", err=True)


def _hosts(rules: RuleSet, asking: AskingChoice, base: str | None, *, is_live: bool) -> frozenset[str] | None:
    """Return the only hosts that are asked; None for those that rules and samples name."""
    from undust.jobs.rule_files import is_proposed  # noqa: PLC0415 -- slow to load, and not for --help

    with options.usage_errors():
        if is_live and any(map(is_proposed, rules)):
            return asking.required_hosts(base)
        return asking.named_hosts(base) if asking.ask_hosts else None


@contextmanager
def showing_fetches(rules: RuleSet, *, is_silent: bool) -> Iterator[Watch | None]:
    """Show on a terminal what is being asked of which host, and for which rule."""
    if is_silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and for terminals only
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from undust.showing.learned import place_of  # noqa: PLC0415

    places = {rule: place for place, rule in enumerate(rules.ids, 1)}
    shown = (
        TextColumn("rule {task.fields[rule]} of {task.total:.0f}"),
        BarColumn(bar_width=8),
        TextColumn("{task.fields[fetches]:,} fetches"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[asked]}", markup=False),
    )
    with Progress(*shown, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(rules), rule=1, fetches=0, asked="")

        def watch(rule: Rule, url: str, fetches: int) -> None:
            place = places.get(rule.id, 0)
            progress.update(task, completed=place, rule=place or "?", fetches=fetches, asked=place_of(url))

        yield watch
