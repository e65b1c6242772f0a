"""`undust normalize`: the standard form of every URL of a list, a table or records."""

from __future__ import annotations

import sys
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.options import destination, require_held, require_stdout_for_one, say, say_json
from undust.jobs import STANDARD
from undust.jobs.application import Application, OutputOptions
from undust.jobs.mapping import Normalizing
from undust.jobs.urls_input import UrlsInput, named_files

if TYPE_CHECKING:
    from undust.jobs.mapping import Tally


class WithSteps(click.Command):
    """A command whose help also lists the steps of normalization."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of steps."""
        with formatter.section("Steps, each of which --skip leaves out"):
            formatter.write_dl(list(Normalizing.steps().items()))
        super().format_epilog(ctx, formatter)


@click.command("normalize", cls=WithSteps)
@options.files
@options.output
@click.option(
    "--skip",
    metavar="STEP",
    multiple=True,
    type=click.Choice(list(Normalizing.steps())),
    help="Leave a step out; may be given several times.",
)
@options.reading_options
@options.output_options("normalized_url")
@options.threads
@options.memory
@options.json_of_lines
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    files: tuple[str, ...],
    output: str | None,
    skip: tuple[str, ...],
    *,
    input_format: str | None,
    column: str | None,
    base: str | None,
    log_format: str | None,
    output_format: str | None,
    into: str | None,
    threads: int,
    memory: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Bring URLs into their standard form (RFC 3986), in the same order.

    Reads whatever 'undust learn' reads from the FILEs, one after the other, or from stdin; '-' is
    stdin too. The format is recognised from the content. Gzip and zstd are unpacked, and an output named
    .gz or .zst is packed. Memory stays the same however long the input.

    Only what is true on every site is done: nothing is sorted, no 'www' and no trailing slash
    removed, no http made https. A line that is not an http(s) URL, a blank one or one with a tab
    among them, passes unchanged and is counted ("not_urls"); so does a line longer than 1 MiB
    ("too_long"). If more than half of the lines are not URLs, the command ends with exit code 1 and
    says what the input looks like; with --format lines, only if none is.

    A table keeps its rows, columns and format, and gets a new last column, or the one that --into
    names. A log, a web archive or a sitemap gives one line per record.

    \b
    Examples:
      undust normalize urls.txt > normal.txt
      undust normalize crawl-*.txt.gz -o urls.txt.zst --skip fragment
      undust normalize crawl.csv --column link --into link -o normal.csv
    """  # noqa: D301 -- click keeps the lines after a \b
    require_stdout_for_one(output, as_json=as_json)
    paths = named_files(files or (STANDARD,))
    require_held(memory, "undust itself")
    is_talking = not quiet and sys.stderr is not None and sys.stderr.isatty()
    if is_talking and STANDARD in paths and sys.stdin is not None and sys.stdin.isatty():
        click.echo("One URL per line, please; Ctrl-D ends.", err=True)
    job = Application(
        Normalizing(skip, threads),
        UrlsInput(input_format, column, base, log_format),
        OutputOptions(output_format, into, "normalized_url"),
        tell=len if quiet else partial(say, err=True),
    )
    started = perf_counter()
    with options.usage_errors(), destination(output, as_json=as_json) as write:
        job.run(paths, write)
    seconds = perf_counter() - started
    if as_json:
        say_json({**as_object(job.tally), "seconds": round(seconds, 6)})
    elif is_talking:
        click.echo(summary(job.tally, seconds), err=True)


def as_object(tally: Tally) -> dict[str, int]:
    """Return the counts for programs."""
    counts = {
        "lines": tally.urls,
        "changed": tally.changed,
        "not_urls": tally.not_urls,
        "too_long": tally.too_long,
    }
    records = {
        "records_skipped": tally.records_skipped,
        "records_passed_over": tally.records_passed_over,
    }
    return counts | {name: count for name, count in records.items() if count}


def summary(tally: Tally, seconds: float) -> str:
    """Return the counts as a person reads them.

    >>> from undust.jobs.mapping import Tally
    >>> summary(Tally(urls=1200, changed=1, not_urls=3), 0.5)
    '1,200 lines: 1 changed, 3 not URLs (unchanged); 0.5 s, 2,400 lines/s'
    """
    parts = [f"{tally.changed:,} changed"]
    if tally.not_urls:
        parts.append(f"{tally.not_urls:,} not URLs (unchanged)")
    if tally.too_long:
        parts.append(f"{tally.too_long:,} too long (unchanged)")
    speed = tally.urls / max(seconds, 1e-6)
    return f"{tally.urls:,} lines: {', '.join(parts)}; {seconds:.1f} s, {speed:,.0f} lines/s"
