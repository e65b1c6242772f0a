"""`undust apply`: the canonical form, or the key, of every URL in a list or a table."""

from __future__ import annotations

import sys
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.options import destination, require_held, require_stdout_for_one, say, say_json
from undust.cli.rule_options import sites_option
from undust.jobs import STANDARD, require_readable
from undust.jobs.application import Application, OutputOptions
from undust.jobs.mapping import Canonicalizing, Surting
from undust.jobs.rule_files import files_of_rules, rules_of
from undust.jobs.urls_input import UrlsInput, named_files

if TYPE_CHECKING:
    from undust.jobs.rule_files import OrderedRules


@click.command("apply")
@click.argument("rules", metavar="RULES", type=click.Path(allow_dash=True))
@options.files
@options.output
@click.option(
    "--key", "keys", is_flag=True, help="Write keys, to compare URLs by, instead of canonical URLs, to fetch."
)
@click.option("--surt", is_flag=True, help="Write keys as SURT, by which web archives sort; implies --key.")
@click.option("--only-changed", is_flag=True, help="Write only URLs that change.")
@options.reading_options
@options.output_options("canonical_url, or key with --key")
@click.option(
    "--stats", is_flag=True, help="Print on stderr the number of distinct URLs, and the effect of each rule."
)
@sites_option
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
    column: str | None,
    base: str | None,
    log_format: str | None,
    into: str | None,
    keys: bool,
    surt: bool,
    only_changed: bool,
    stats: bool,
    sites: str | None,
    threads: int,
    memory: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Replace each URL with its canonical form by RULES, in the same order.

    Reads whatever 'undust learn' reads from the FILEs, or from stdin; '-' is stdin too. The format
    is recognised from the content. Gzip and zstd are unpacked, and an output named .gz or .zst is packed.
    Memory stays the same however long the input.

    A list has one URL per line, and so has the output. What is not an http(s) URL passes unchanged
    and is counted; so does a line with a tab in it. If more than half of the lines are not URLs, the
    command ends with exit code 1 and says what the input looks like; with --format lines, only if
    none is. Without rules for its site, a URL is brought into its standard form, as
    'undust normalize' does.

    A table (CSV, TSV, JSON lines, JSON, CDX, CDXJ, Parquet) keeps its rows, columns and format; the
    results go into a new last column, or into the one that --into names. All other bytes stay. A
    log, a web archive or a sitemap gives one line per record. Made from any of these but a table,
    --output-format writes a table of two columns.

    \b
    Examples:
      undust apply rules.json urls.txt > canonical.txt
      undust apply rules.json --key < urls.txt | sort -u | wc -l
      undust apply rules.json crawl.parquet --column url -o deduplicated.parquet
      undust apply rules.json access.log --base https://shop.test
      undust apply rules.json urls.txt --only-changed --output-format csv
    """  # noqa: D301 -- click keeps the lines after a \b
    _require_sense(rules, (*(files or (STANDARD,)), sites or ""), output, as_json=as_json)
    require_readable(files_of_rules(rules, sites))
    paths = named_files(files or (STANDARD,))
    canonicalizer = rules_of(rules, sites).compile()
    job = Application(
        Surting(canonicalizer, threads, stats)
        if surt
        else Canonicalizing(canonicalizer, keys, threads, stats),
        UrlsInput(input_format, column, base, log_format),
        OutputOptions(output_format, into, "key" if keys or surt else "canonical_url", only_changed),
        stats=stats,
        tell=len if quiet else partial(say, err=True),
    )
    require_held(memory, "the rules")
    started = perf_counter()
    with options.usage_errors(), destination(output, as_json=as_json) as write:
        job.run(paths, write)
    _tell(job, canonicalizer.rules, perf_counter() - started, as_json=as_json, quiet=quiet)


def _require_sense(rules: str, paths: tuple[str, ...], output: str | None, *, as_json: bool) -> None:
    require_stdout_for_one(output, as_json=as_json)
    options.require_apart(output, rules)
    if (rules, *paths).count(STANDARD) > 1:
        message = "stdin can be read once, so name a file for the rules or for the URLs"
        raise click.UsageError(message)


def _tell(job: Application, rules: OrderedRules, seconds: float, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        say_json(job.tally.as_json(rules, seconds, is_full=job.stats))
    elif job.stats or (not quiet and sys.stderr is not None and sys.stderr.isatty()):
        click.echo(job.tally.as_text(seconds), err=True)
    if job.stats and not as_json:
        say(job.tally.statistics(rules), err=True)
