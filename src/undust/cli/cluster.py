"""`undust cluster`: which URLs of a crawl, a log or an index are one page, and how we know."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from time import perf_counter
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.inputs import engine_option, master_option
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import require_stdout_for_one, say, say_json
from undust.errors import UndustError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undust.cli.inputs import Inputs

OUTPUT_FORMATS = ["parquet", "jsonl", "csv"]
_WIDTH = 100
"""Of the summary where there is no terminal."""


def _require_sites_that_fit(large: Mapping[str, int], most: int) -> None:
    for site, rows in sorted(large.items(), key=lambda item: -item[1])[:1]:
        message = (
            f"{site} has {rows:,} rows, and a site is looked at as a whole, for which the memory holds "
            f"{most:,}; allow more --memory"
        )
        raise UndustError(message)


@click.command("cluster")
@with_inputs
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Write the clusters to FILE (.parquet, .jsonl or .csv); without it, only the summary is shown.",
)
@click.option(
    "--output-format", type=click.Choice(OUTPUT_FORMATS), help="What to write, if the name does not show it."
)
@click.option(
    "--glue-values",
    metavar="N",
    type=click.IntRange(min=2),
    default=25,
    show_default=True,
    help="Do not trust a group with N values of a part that matters elsewhere on the site.",
)
@engine_option
@master_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print the summary as JSON to stdout, and nothing else."
)
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    inputs: Inputs,
    output: str | None,
    output_format: str | None,
    *,
    glue_values: int,
    engine_name: str,
    master: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find which URLs show the same page, from all evidence in INPUT.

    Reads crawls, capture indexes, tables and access logs. URLs are joined by a label that you
    gave, a redirect, equal content, rel=canonical, or nearly equal text. Misleading evidence
    (soft-404s, login walls, a canonical for the whole site) is recognised, reported, and not used.

    The output has one row per URL: site, url, cluster (counted within the site), evidence (why it
    is there, as in 'digest+redirect'; nothing for a URL alone), and size (URLs in the cluster).

    \b
    Examples:
      undust cluster crawl.jsonl.gz -o clusters.parquet
      undust cluster index.cdxj access.log --base https://a.test -o out.csv
      undust cluster big/*.parquet --memory 4GB --json -o clusters.parquet
      undust cluster --engine spark s3a://crawl/index/ -o clusters.parquet
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.find_duplicates import format_to_write, write_clusters  # noqa: PLC0415

    require_stdout_for_one(output, as_json=as_json)
    if output is not None:
        output_format = output_format or format_to_write(output)
        options.require_folder(output)
        inputs.require_apart(output)
    started = perf_counter()
    with inputs.engine(engine_name, master) as engine:
        seen = inputs.read(quiet=quiet or as_json, engine=engine)
        if inputs.memory is not None:
            _require_sites_that_fit(engine.survey(seen.table, engine.site_rows).large, engine.site_rows)
        summary = write_clusters(seen, output, engine, format=output_format, glue_values=glue_values)
    seconds = perf_counter() - started
    if as_json:
        told = summary.as_json() | {"skipped": seen.counts(), "seconds": round(seconds, 3)}
        say_json(told)
    elif not quiet:
        width = get_terminal_size(fallback=(_WIDTH, 0)).columns
        is_free = output is None and sys.stdout is not None
        say(f"{summary.text(width)}\n\n{seconds:.1f} s", err=not is_free)
