"""What `undust export` and `undust import` have in common: their options, and the formats in their help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from undust.files.streams import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping

output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=STANDARD,
    type=click.Path(allow_dash=True),
    help="Write there instead of to stdout.",
)
as_json = click.option(
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
