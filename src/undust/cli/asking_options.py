"""The options of commands that ask sites, and what they make of them: who is asked, how often, how long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from undust.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.asking.limits import Manners

Result = TypeVar("Result")

STAGES = 3
"""Stages of an answer that may each take their time: to be reached, to begin, to go on."""

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


@dataclass(frozen=True)
class AskingChoice:
    """What a person said about asking sites."""

    samples: int
    epsilon: float
    delay: float
    max_fetches: int
    max_fetches_per_host: int | None
    timeout: float
    contact: str | None
    ask_hosts: tuple[str, ...]
    connect_to: tuple[str, ...]
    allow_private: bool
    journal: str | None

    def named_hosts(self, base: str | None) -> frozenset[str]:
        """Return the hosts that the person named in whatever way."""
        from undust.asking.limits import connection_from  # noqa: PLC0415 -- slow to load, not for --help
        from undust.urls import Url, normalize  # noqa: PLC0415

        texts = [base or "", *(f"http://{host.removeprefix('*.')}/" for host in self.ask_hosts)]
        parsed = [Url.parse(normalize(text)) for text in texts]
        hosts = {url.host for url in parsed[:1] if url is not None}
        for said, url in zip(self.ask_hosts, parsed[1:], strict=True):
            if url is None or url.path != "/" or url.query is not None:
                message = f"--ask-host {said} is not a host; give a name such as www.shop.test"
                raise click.UsageError(message)
            hosts.add(f"*.{url.host}" if said.startswith("*.") else url.host)
        return frozenset(hosts | {connection_from(text)[0][0] for text in self.connect_to})

    def manners(self, hosts: frozenset[str]) -> Manners:
        """Return how these hosts are asked."""
        from undust.asking.limits import Manners, connection_from  # noqa: PLC0415 -- not for --help

        return Manners(
            delay_s=self.delay,
            max_fetches=self.max_fetches,
            max_fetches_per_host=self.max_fetches_per_host,
            contact=self.contact,
            allow_private=self.allow_private,
            ask_hosts=hosts,
            connect_to=dict(map(connection_from, self.connect_to)),
            answer_timeout_s=self.timeout,
            stage_timeout_s=self.timeout / STAGES,
        )

    def facts(self) -> dict[str, Any]:
        """Return what decides which rules are confirmed."""
        return {"samples": self.samples, "epsilon": self.epsilon, "hosts": sorted(self.ask_hosts)}


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


def require_hosts(choice: AskingChoice, base: str | None) -> frozenset[str]:
    """Return the hosts that may be fetched from; raise if the user named none."""
    hosts = choice.named_hosts(base)
    if not hosts:
        message = (
            "no host was named to fetch from, and a log or a list may name hosts of others; "
            "name them with --ask-host www.your.site, or with --base https://www.your.site"
        )
        raise click.UsageError(message)
    return hosts


def require_used(context: click.Context, *more: str) -> None:
    """Raise if an option of --ask is given without --ask."""
    for name in (*_NAMES, *more):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            message = f"{option} says something about --ask, which is not used; add --ask"
            raise click.UsageError(message)
