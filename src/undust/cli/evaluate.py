"""`undust evaluate`: what rules do to URLs whose pages are known."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import say_json, show
from undust.jobs import peak_memory_bytes

if TYPE_CHECKING:
    from undust.cli.inputs import Inputs


@click.command("evaluate")
@click.argument("rules", type=click.Path())
@with_inputs
@click.option(
    "--json", "as_json", is_flag=True, help="Print the figures as JSON to stdout, and nothing else."
)
@options.quiet
def command(rules: str, inputs: Inputs, *, as_json: bool, quiet: bool) -> None:
    """Measure what RULES do to the URLs of INPUT, whose pages are known.

    The column 'cluster' names the page of each URL. Without it the pages are found as
    'undust cluster' finds them, from digests, sketches, redirects and rel=canonical.

    removed is the share of the duplicates that need no fetch; lost is the share of pages that were
    merged into a different one, and would never be fetched. Both have 95 % intervals. URLs are
    compared by key. Of a log it also reports the requests and bytes per day that are removed, by client.

    \b
    Examples:
      undust evaluate rules.json crawl.jsonl.gz
      undust evaluate rules.json labelled.csv --column cluster=page --json
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.evaluate import judge_rules  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.rule_files import load  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.showing.measured import evaluation_as_dict, evaluation_shown, told_savings  # noqa: PLC0415

    started = perf_counter()
    loaded = load(rules)
    traffic = inputs.traffic()
    found = judge_rules(loaded, inputs.read(quiet=quiet or as_json), traffic, threads=inputs.threads)
    seconds = perf_counter() - started
    saved = [each.to_json() for each in found.saved]
    if as_json:
        known = (
            {"savings": saved, "not_judged": found.why_not}
            if found.evaluation is None
            else evaluation_as_dict(found.evaluation, seconds, peak_memory_bytes()) | {"savings": saved}
        )
        say_json(known)
    else:
        if found.evaluation is None:
            click.echo(f"Nothing is known of the pages: {found.why_not}.")
        else:
            show(*evaluation_shown(found.evaluation, seconds))
        for line in told_savings(found.saved):
            click.echo(line)
