"""`undust normalize`: the standard form of every URL in a list."""

from __future__ import annotations

from functools import partial

import click

from undust.cli import lines, options
from undust.cli.memory import require_held
from undust.urls import STEPS, normalize_lines


class WithSteps(click.Command):
    """A command whose help also tells the steps of normalization."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of steps."""
        with formatter.section("Steps, each of which --skip leaves out"):
            formatter.write_dl(list(STEPS.items()))
        super().format_epilog(ctx, formatter)


@click.command("normalize", cls=WithSteps)
@options.files
@options.output
@click.option(
    "--skip",
    metavar="STEP",
    multiple=True,
    type=click.Choice(list(STEPS)),
    help="Leave a step out; may be given several times.",
)
@options.threads
@options.memory
@options.json_of_lines
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    files: tuple[str, ...],
    output: str | None,
    skip: tuple[str, ...],
    *,
    threads: int,
    memory: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Bring URLs into their standard form (RFC 3986), one per line, in the same order.

    Reads the FILEs one after the other, or stdin; '-' is stdin too. Gzip and zstd are unpacked,
    and an output named .gz or .zst is packed. Memory stays the same however long the input.

    Only what is true on every site is done: nothing is sorted, no 'www' and no trailing slash
    removed, no http made https. A line that is no http(s) URL, a blank one among them, passes
    unchanged and is counted ("not_urls"); so does a line longer than 1 MiB ("too_long").

    \b
    Examples:
      undust normalize urls.txt > normal.txt
      undust normalize crawl-*.txt.gz -o urls.txt.zst --skip fragment
      cut -f 1 access.tsv | undust normalize | sort -u
    """  # noqa: D301 -- click keeps the lines behind a \b
    require_held(memory, "undust itself")
    work = partial(normalize_lines, skip=skip, threads=threads)
    lines.run(files, output, work, as_json=as_json, quiet=quiet)
