"""`undust apply`: the canonical form, or the key, of every URL in a list or a table."""

from __future__ import annotations

import sys
from time import perf_counter

import click

from undust.cli import options
from undust.cli.application import Application
from undust.cli.memory import require_held
from undust.cli.stdout import destination, require_stdout_for_one
from undust.cli.tables import ColumnNames
from undust.cli.terminal import say, say_json
from undust.files.streams import STANDARD, require_readable
from undust.rules import load

_FORMATS = ["lines", "jsonl", "csv", "parquet"]


@click.command("apply")
@click.argument("rules", metavar="RULES", type=click.Path(allow_dash=True))
@options.files
@options.output
@click.option("--key", "keys", is_flag=True, help="Give keys, to compare URLs by, instead of forms to fetch.")
@click.option("--only-changed", is_flag=True, help="Leave out what stays as it is.")
@click.option(
    "--format",
    "input_format",
    type=click.Choice(_FORMATS),
    help="What the input is; otherwise its name tells, and an unknown name means lines.",
)
@click.option(
    "--output-format",
    type=click.Choice(_FORMATS),
    help="What to write; a table stays the table it is, unless you ask for lines.",
)
@click.option(
    "--column", default="url", show_default=True, metavar="NAME", help="The column that holds the URLs."
)
@click.option(
    "--into",
    metavar="NAME",
    help="The column for the results, replaced if it is there.  [default: canonical_url, or key with --key]",
)
@click.option(
    "--stats", is_flag=True, help="Tell on stderr how many different URLs there were, and what each rule did."
)
@options.threads
@options.memory
@options.json_of_lines
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    rules: str,
    files: tuple[str, ...],
    *,
    output: str | None,
    input_format: str | None,
    output_format: str | None,
    column: str,
    into: str | None,
    keys: bool,
    only_changed: bool,
    stats: bool,
    threads: int,
    memory: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Send each URL to the one form that RULES give it, in the same order.

    Reads one URL per line from the FILEs, or from stdin; '-' is stdin too. Gzip and zstd are
    unpacked, and an output named .gz or .zst is packed. Memory stays the same however long the
    input. What is no http(s) URL passes unchanged and is counted; without rules for its site, a
    URL is brought into its standard form, as 'undust normalize' does.

    A table (JSON lines, CSV, Parquet) keeps its rows, columns and format; the results go into a
    new last column. Made from a list of URLs, a table has two columns.

    \b
    Examples:
      undust apply rules.json urls.txt > canonical.txt
      undust apply rules.json --key < urls.txt | sort -u | wc -l
      undust apply rules.json crawl.parquet --column url -o deduplicated.parquet
      undust apply rules.json urls.txt --only-changed --output-format csv
    """  # noqa: D301 -- click keeps the lines behind a \b
    paths = files or (STANDARD,)
    _require_sense(rules, paths, output, as_json=as_json)
    require_readable((rules, *paths))
    job = Application(
        load(rules).compile(),
        ColumnNames(column, into or ("key" if keys else "canonical_url")),
        keys=keys,
        only_changed=only_changed,
        stats=stats,
        threads=threads,
    )
    require_held(memory, "the rules")
    started = perf_counter()
    with destination(output, as_json=as_json) as write:
        job.run(paths, input_format, output_format, write)
    _tell(job, perf_counter() - started, as_json=as_json, quiet=quiet)


def _require_sense(rules: str, paths: tuple[str, ...], output: str | None, *, as_json: bool) -> None:
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, rules)
    if (rules, *paths).count(STANDARD) > 1:
        message = "stdin can be read once, so name a file for the rules or for the URLs"
        raise click.UsageError(message)


def _tell(job: Application, seconds: float, *, as_json: bool, quiet: bool) -> None:
    rules = job.canonicalizer.rules
    if as_json:
        say_json(job.tally.as_json(rules, seconds, is_full=job.stats))
    elif job.stats or (not quiet and sys.stderr is not None and sys.stderr.isatty()):
        click.echo(job.tally.as_text(seconds), err=True)
    if job.stats and not as_json:
        say(job.tally.statistics(rules), err=True)
