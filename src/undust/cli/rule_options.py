"""The options of commands that read, change or exchange rule files, and what a change does to a sample.

Before rules are changed, the change is measured on the sample, and refused if it would lose pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from undust.cli.options import say
from undust.errors import UndustError
from undust.jobs import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undust.jobs.rule_files import RuleSet

F = TypeVar("F", bound="Callable[..., Any]")

rule_file = click.argument("file", metavar="RULES", type=click.Path(allow_dash=True))
as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON to stdout, and nothing else."
)
new_file_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(allow_dash=True),
    help="The file to write.",
)
sites_option = click.option(
    "--sites",
    metavar="FILE|NAME",
    type=click.Path(allow_dash=True),
    help="Only the rules of the sites in FILE, one a line, or of the site NAME; and those for all sites.",
)
sample_option = click.option(
    "--sample",
    metavar="FILE",
    multiple=True,
    type=click.Path(allow_dash=True),
    help="Measure the change on the URLs of FILE, any input that `learn` reads; may be repeated.",
)
yes_option = click.option(
    "--yes", is_flag=True, help="Make the change even if more pages of the sample are lost than before."
)


def with_sample(function: F) -> F:
    """Give a command the options --sample and --yes."""
    return sample_option(yes_option(function))


def measured_change(
    before: RuleSet, after: RuleSet, sample: Sequence[str], *, yes: bool, is_silent: bool = False
) -> dict[str, Any]:
    """Return what a change does to a sample, for programs; print it for people; refuse one that loses pages.

    Without a sample the answer is empty.
    """
    if not sample:
        return {}
    from undust.jobs.evaluate import effect_of_change  # noqa: PLC0415 -- loads pyarrow
    from undust.jobs.read import read  # noqa: PLC0415

    effect = effect_of_change(before, after, read(*sample))
    if effect.is_worse and not yes:
        message = f"{effect}; nothing was written; add --yes to lose them"
        raise UndustError(message)
    if not is_silent:
        say(str(effect), err=True)
    return {"effect": effect.to_json()}


exchange_output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=STANDARD,
    type=click.Path(allow_dash=True),
    help="Write there instead of to stdout.",
)
exchange_json = click.option(
    "--json", "as_json", is_flag=True, help="Print a summary as JSON to stdout; needs --output."
)


class WithFormats(click.Command):
    """A command whose help also lists its formats."""

    def __init__(self, *args: Any, formats: Mapping[str, str], **kwargs: Any) -> None:  # noqa: ANN401 -- as click has it
        super().__init__(*args, **kwargs)
        self.formats = formats

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of formats."""
        with formatter.section("Formats"):
            formatter.write_dl(list(self.formats.items()))
        super().format_epilog(ctx, formatter)
