"""The options of commands that ask sites, and what they make of them: who is asked, how often, how long."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from undust.cli import options
from undust.jobs.asking_choice import AskingChoice

if TYPE_CHECKING:
    from collections.abc import Callable


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


def asking(command: Callable[..., Result]) -> Callable[..., Result]:
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
