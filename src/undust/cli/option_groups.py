"""The help of one command: its own options, those that describe the input, and the rarely used ones.

Nine commands read crawls and have the same twelve options for it. The help of each command shows its own
options first, then "Input options". Options that few people ever need are listed by `--help-all` only; they
work all the same.
"""

from __future__ import annotations

from functools import partial

import click

INPUT = "Input options"
EXPERT = "Expert options"
_INPUT_OPTIONS = {"--format", "--base", "--column", "--log-format", "--strict"}
_EXPERT_OPTIONS = {
    *("--shingle-words", "--sketch-size", "--glue-values", "--tmp", "--master"),
    *("--option", "--seed", "--today", "--epsilon", "--connect-to", "--allow-private"),
    *("--max-fetches-per-host", "--journal"),
}
_MORE = f"Show {EXPERT.lower()} too, and exit."
_IS_ALL = "undust.help_all"


def group_options(command: click.Command) -> None:
    """Let the help of a command show its options in groups; add `--help-all` where there are more."""
    if isinstance(command, click.Group) or any(param.name == "help_all" for param in command.params):
        return
    if any(_group_of(param) == EXPERT for param in command.params):
        command.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_all,
                help=_MORE,
            )
        )
    command.format_options = partial(_format_options, command)  # type: ignore[method-assign]


def _show_all(context: click.Context, _: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001 -- as click calls it
    if is_asked and not context.resilient_parsing:
        context.meta[_IS_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _format_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options, each in its group."""
    groups: dict[str, list[tuple[str, str]]] = {"Options": [], INPUT: [], EXPERT: []}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and isinstance(param, click.Option):
            groups[_group_of(param)].append(record)
    if not context.meta.get(_IS_ALL):
        del groups[EXPERT]
    for title, records in groups.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _group_of(param: click.Parameter) -> str:
    names = set(param.opts)
    if names & _EXPERT_OPTIONS:
        return EXPERT
    return INPUT if names & _INPUT_OPTIONS else "Options"
