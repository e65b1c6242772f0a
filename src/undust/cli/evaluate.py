"""`undust evaluate`: what rules do to URLs whose pages are known."""

from __future__ import annotations

from operator import attrgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.params import told_savings
from undust.cli.terminal import say_json, show
from undust.errors import UndustError
from undust.files.process import peak_memory_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from undust.cli.inputs import Inputs
    from undust.measuring import Evaluation
    from undust.measuring.counts import Savings

SHOWN_SITES = 20
_SHOWN_RULES = 40


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
    from undust.jobs.evaluate import evaluate  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.measuring.counts import savings  # noqa: PLC0415
    from undust.rules import load  # noqa: PLC0415

    started = perf_counter()
    loaded = load(rules)
    saved = savings(loaded, inputs.traffic())
    seen = inputs.read(quiet=quiet or as_json)
    try:
        found = evaluate(loaded, seen, threads=inputs.threads)
    except UndustError as error:
        if not saved:
            raise
        _only_savings(saved, str(error), as_json=as_json)
        return
    seconds = perf_counter() - started
    if as_json:
        say_json(as_dict(found, seconds) | {"savings": [each.to_json() for each in saved]})
    else:
        _print(found, seconds)
        for line in told_savings(saved):
            click.echo(line)


def _only_savings(saved: Sequence[Savings], why: str, *, as_json: bool) -> None:
    """Print the requests of a log that rules remove, if the pages are not known."""
    if as_json:
        say_json({"savings": [each.to_json() for each in saved], "not_judged": why})
        return
    click.echo(f"Nothing is known of the pages: {why}.")
    for line in told_savings(saved):
        click.echo(line)


def as_dict(found: Evaluation, seconds: float) -> dict[str, Any]:
    """Return everything that was measured, for machines."""
    from undust.showing.words import figures, figures_of_rule  # noqa: PLC0415 -- slow to load

    macro = {name: found.macro(attrgetter(name)) for name in ("removed", "lost", "fpr")}
    return figures(found.total) | {
        "rules": found.active,
        "unlabelled": found.unlabelled,
        "totals": found.all_totals.as_json(),
        "macro": macro,
        "duplicates_only": figures(found.duplicates_only),
        "sites": {
            site: figures(one) | {"totals": found.totals[site].as_json()} for site, one in found.sites.items()
        },
        "classes": [figures_of_rule(row) for row in found.classes],
        "by_rule": [figures_of_rule(row) for row in found.rules],
        "seconds": round(seconds, 3),
        "peak_memory_bytes": peak_memory_bytes(),
    }


def _print(found: Evaluation, seconds: float) -> None:
    total = found.total
    intervals = total.intervals()
    said = found.all_totals.sentences(len(found.totals), found.active)
    for name, meaning in (
        ("removed", "of the duplicates are removed"),
        ("lost", "of the pages were merged into a different one"),
        ("url_fpr", "of the merged URLs belong to a different page"),
    ):
        low, high = intervals[name]
        said.append(f"  {getattr(total, name):7.2%}  {meaning} (95 %: {low:.2%} to {high:.2%})")
    show("\n".join(said), _sites(found), _rules(found))
    if len(found.rules) > _SHOWN_RULES:
        show(f"{len(found.rules) - _SHOWN_RULES:,} more rules; --json has them all")
    show(f"{seconds:.1f} s")


def _sites(found: Evaluation) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("site", overflow="fold", min_width=12)
    for head in ("URLs", "pages", "left", "removed", "lost", "compr.", "dup red", "cover.", "fpr"):
        table.add_column(head, justify="right", no_wrap=True)
    largest = sorted(found.sites.items(), key=lambda item: (-item[1].urls, item[0]))[:SHOWN_SITES]
    for name, one in [*largest, ("all", found.total), ("without single URLs", found.duplicates_only)]:
        counts = (f"{count:,}" for count in (one.urls, one.clusters, one.canonical_urls))
        rates = (one.removed, one.lost, one.compression_rate, one.dup_reduction_rate, one.coverage, one.fpr)
        table.add_row(Text(name), *counts, *(f"{rate:.1%}" for rate in rates))
    return table


def _rules(found: Evaluation) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("removed", "lost", "fpr"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("alone, beyond standard normalization", overflow="fold")
    best = sorted(found.rules, key=lambda row: (-row.saved, row.name))[:_SHOWN_RULES]
    for row in [*found.classes, *best]:
        text = f"all rules of the class '{row.name}'" if row.name == row.kind else row.name
        table.add_row(f"{row.saved:,}", f"{row.lost:,}", f"{row.measures.fpr:.1%}", Text(text))
    return table
