"""`undust signatures`: how far pages of equal body text reduce the URLs of a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import say_json, show

if TYPE_CHECKING:
    from rich.table import Table

    from undust.cli.inputs import Inputs
    from undust.jobs.signatures import Experiment

_MOST_SITES = 20
"""Sites that the table for people shows; --json has all."""


@click.command("signatures")
@with_inputs
@click.option(
    "--sessions", is_flag=True, help="Each file is one crawl; only URLs that are in all of them count."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the results as JSON to stdout, and nothing else."
)
@options.quiet
def command(inputs: Inputs, *, sessions: bool, as_json: bool, quiet: bool) -> None:
    """Repeat the experiment with URL signatures (Soon and Lee, 2009) on your own crawl.

    Three steps, each on top of the one before: standard normalization; URLs whose pages have
    equal body text count as one; equal body text and equal page size. With WARC files the body
    text is read from the pages; else the column 'digest' is taken for its signature.

    Where a column 'cluster' names the true page of each URL, each step also has its
    contingency table and rates. Without labels only what needs no truth is shown.

    \b
    Examples:
      undust signatures crawl.warc.gz
      undust signatures --sessions monday.warc.gz tuesday.warc.gz
      undust signatures crawl.jsonl --column cluster=page --json
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.signatures import run_experiment  # noqa: PLC0415 -- slow to load, and not for --help

    found = run_experiment(inputs.read(quiet=quiet or as_json), by_session=sessions)
    if as_json:
        say_json(found.as_json())
        return
    show(_introduction(found), "", _steps(found))
    if found.tables:
        show("", _contingency(found))
    show("", _sites(found))


def _introduction(found: Experiment) -> str:
    of_sessions = f" that are in all of {found.sessions:,} sessions" if found.sessions > 1 else ""
    text = f"{found.regular:,} regular URLs{of_sessions}"
    if found.left_out:
        text += f"; {found.left_out:,} others left out"
    if found.without_signature:
        text += f"; {found.without_signature:,} have no signature and merge with none"
    return text


def _table(*headings: str) -> Table:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 -- slow to load
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _steps(found: Experiment) -> Table:
    from undust.jobs.signatures import SIGNATURE_STEPS  # noqa: PLC0415

    table = _table("step", "URLs left", "removed", "of regular", "of standard")
    for step, name in SIGNATURE_STEPS.items():
        left = found.urls(step)
        rates = (f"{found.reduction(step):.2%}", f"{found.reduction_of_standard(step):.2%}")
        table.add_row(name, f"{left:,}", f"{found.regular - left:,}", *rates)
    return table


def _contingency(found: Experiment) -> Table:
    from undust.jobs.signatures import SIGNATURE_STEPS  # noqa: PLC0415

    rates = ("sensitivity", "specificity", "precision", "accuracy")
    name = f"{found.labelled:,} URLs with a label"
    table = _table(name, "TP", "FN", "FP", "TN", *rates)
    for step, counts in found.tables.items():
        cells = (
            counts.true_positives,
            counts.false_negatives,
            counts.false_positives,
            counts.true_negatives,
        )
        table.add_row(
            SIGNATURE_STEPS[step],
            *(f"{cell:,}" for cell in cells),
            *(f"{getattr(counts, rate):.2%}" for rate in rates),
        )
    return table


def _sites(found: Experiment) -> Table:
    table = _table("site", "regular", "standard", "body text", "and size")
    for site in found.sites[:_MOST_SITES]:
        numbers = (site.regular, site.standard, site.body_text, site.body_text_and_size)
        table.add_row(site.site, *(f"{number:,}" for number in numbers))
    if len(found.sites) > _MOST_SITES:
        table.add_row(f"{len(found.sites) - _MOST_SITES:,} more; --json names all", "", "", "", "")
    return table
