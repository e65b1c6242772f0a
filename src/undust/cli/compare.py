"""`undust compare`: all methods trained on the same pages and judged on the same unseen pages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.options import say_json, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from undust.cli.inputs import Inputs

SWEEP_STEPS = 10


def _bounds(_: click.Context, __: click.Parameter, text: str) -> tuple[float, ...]:
    """Return the bounds that a text names: `0.01`, `0,0.01,0.1`, or `0..0.1` for eleven steps."""
    low, dots, high = text.replace("…", "..").partition("..")
    try:
        if dots:
            first, last = float(low), float(high)
            bounds = [first + (last - first) * step / SWEEP_STEPS for step in range(SWEEP_STEPS + 1)]
        else:
            bounds = [float(part) for part in text.split(",")]
    except ValueError:
        bounds = [-1.0]
    if not all(0 <= bound <= 1 for bound in bounds):
        message = f"'{text}' is not a share from 0 to 1, as in 0.01, nor a list of them: 0,0.01,0.1 or 0..0.1"
        raise click.BadParameter(message)
    return tuple(round(bound, 6) for bound in bounds)


@click.command("compare")
@with_inputs
@options.methods
@click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="A table of url and cluster to judge by, which no method sees.",
)
@click.option(
    "--max-fpr",
    "bounds",
    metavar="RATE",
    default="0.01",
    show_default=True,
    callback=_bounds,
    help="The largest share of false pairs in a rule's proof; 0..0.1 shows eleven steps.",
)
@click.option(
    "--min-support",
    metavar="N",
    type=click.IntRange(min=1),
    help="Take only rules that at least N pages prove; 3, and 5 for undust, by default.",
)
@options.learner_options
@click.option(
    "--test",
    metavar="SHARE",
    type=options.Numbers(0, 1, min_open=True, max_open=True),
    default=0.4,
    show_default=True,
    help="The share of the pages that are judged, and that no method sees.",
)
@click.option("--seed", metavar="N", type=int, default=0, help="Split the pages in another way.")
@click.option(
    "--published", is_flag=True, help="Print the measures of the papers, with their figures beside ours."
)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON to stdout, and nothing else.")
@options.quiet
def command(  # noqa: PLR0913 -- one argument per option
    inputs: Inputs,
    *,
    methods: tuple[str, ...],
    labels: str | None,
    bounds: tuple[float, ...],
    min_support: int | None,
    said: dict[str, object],
    test: float,
    seed: int,
    published: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train all methods on one part of the pages of INPUT and measure them on the other part.

    The column 'cluster' names the page of each URL; without it, digests, sketches, redirects and
    rel=canonical are the evidence. No page is in both parts, and every method gets the same ones.

    removed is the share of the duplicates that need no fetch; lost is the share of pages that were
    merged into a different one. With --published, the measures of the papers; with --json, all.

    \b
    Examples:
      undust compare crawl.jsonl.gz
      undust compare crawl.parquet --method substring --max-fpr 0..0.1
      undust compare crawl.jsonl.gz --method tree --published
      undust compare crawl.jsonl.gz --labels truth.csv --json
    """  # noqa: D301 -- click keeps the lines after a \b
    from undust.jobs.evaluate import compare  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.jobs.read import read  # noqa: PLC0415 -- slow to load, and not for --help
    from undust.showing.measured import comparison_as_dict, comparison_shown  # noqa: PLC0415

    seen = inputs.read(quiet=quiet or as_json)
    found = compare(
        seen,
        methods or None,
        labels=None if labels is None else read(labels, columns=inputs.columns),
        options=said,
        max_fpr=bounds,
        min_support=min_support,
        test=test,
        seed=seed,
        threads=inputs.threads,
        watch=_watch(quiet=quiet or as_json),
    )
    if as_json:
        say_json(comparison_as_dict(found, seed))
    else:
        show(*comparison_shown(found, published=published))


def _watch(*, quiet: bool) -> Callable[[str], object]:
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    return lambda name: click.echo(f"\r\033[K{name} …\r", err=True, nl=False)
