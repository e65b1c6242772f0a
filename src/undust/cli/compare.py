"""`undust compare`: all methods trained on the same pages and judged on the same unseen pages."""

from __future__ import annotations

import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from undust.cli import options
from undust.cli.inputs import inputs as with_inputs
from undust.cli.terminal import say_json, show
from undust.display import how_many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.table import Table

    from undust.cli.inputs import Inputs
    from undust.measuring.compare import Comparison, MethodRow

SWEEP_STEPS = 10
PRECISION_AT = (10, 50, 200)
MACRO = ("removed", "lost", "compression_rate", "dup_reduction_rate", "coverage", "fpr")


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
        say_json(as_dict(found, seed))
    else:
        _print(found, published=published)


def _watch(*, quiet: bool) -> Callable[[str], object]:
    if quiet or not sys.stderr.isatty():
        return lambda _: None
    return lambda name: click.echo(f"\r\033[K{name} …\r", err=True, nl=False)


def as_dict(found: Comparison, seed: int) -> dict[str, Any]:
    """Return everything that was measured, for machines."""
    return {
        "seed": seed,
        "sites": found.sites,
        "train_urls": found.train_urls,
        "test_urls": found.test_urls,
        "test_pages": found.test_pages,
        "unlabelled": found.unlabelled,
        "rows": [_row(row, found) for row in found.rows],
    }


def _row(row: MethodRow, found: Comparison) -> dict[str, Any]:
    from undust.showing.words import figures  # noqa: PLC0415 -- slow to load, and not for --help

    ranking, published = row.ranking, row.total_as_published
    said = {
        "method": row.method,
        "max_fpr": row.max_fpr,
        "train_urls": found.train_urls,
        "test_urls": found.test_urls,
        "rules": row.rules,
        "candidates": row.candidates,
        "valid": row.valid,
        "qualified_rate": ranking.qualified_rate,
        "precision_at": {str(k): ranking.precision_at(k) for k in PRECISION_AT},
        "seconds": round(row.seconds, 4),
        "train_seconds": round(row.train_seconds, 4),
        "apply_seconds": round(row.apply_seconds, 4),
        "peak_memory_bytes": row.peak_memory_bytes,
        "macro": {name: row.macro(attrgetter(name)) for name in MACRO},
        "duplicates_only": figures(row.duplicates_only),
        "by_site": {site: figures(one) for site, one in row.sites.items()},
        "as_published": None if published is None else figures(published),
    }
    measured = figures(row.total)
    measured["intervals"] |= {"qualified_rate": list(ranking.interval)}
    measured["intervals"] |= {f"precision_at_{k}": list(ranking.interval_at(k)) for k in PRECISION_AT}
    return measured | said


def _print(found: Comparison, *, published: bool) -> None:
    sites = how_many(found.sites, "site")
    show(
        f"learned from {found.train_urls:,} URLs of {sites}, judged on {found.test_urls:,} others "
        f"of {found.test_pages:,} other pages",
        _papers_table(found) if published else _table(found),
    )
    if note := _published(found.rows):
        show(note)
    if found.unlabelled:
        show(f"{found.unlabelled:,} URLs are not judged: no evidence shows their page")


def _table(found: Comparison) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    swept = len({row.max_fpr for row in found.rows if row.max_fpr is not None}) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("method", overflow="fold", min_width=11)
    heads = ["max fpr"] * swept + [
        *("removed", "95 %", "lost", "95 %", "fpr", "tried", "valid", "rules", "s"),
        *(("MB",) * (not swept)),  # the same in all rows of a method, and there is no room for both
    ]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in found.rows:
        one = row.total
        ends = one.intervals()
        cells = [
            f"{one.removed:.1%}", _interval(ends["removed"]), f"{one.lost:.2%}", _interval(ends["lost"]),
            f"{one.fpr:.2%}",
        ]  # fmt: skip
        learned = (row.candidates, row.valid, row.rules)
        cells += [f"{count:,}" if row.max_fpr is not None else "" for count in learned]
        cells += [f"{row.seconds:.1f}", f"{row.peak_memory_bytes / 1e6:,.0f}"][: 2 - swept]
        bound = [f"{row.max_fpr:g}" if row.max_fpr is not None else ""] * swept
        table.add_row(Text(row.method), *bound, *cells)
    return table


def _papers_table(found: Comparison) -> Table:
    """Return what the papers measure, each method with the published lines below it."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from undust.measuring.methods import PUBLISHED_FIGURES  # noqa: PLC0415 -- not for --help

    swept = len({row.max_fpr for row in found.rows if row.max_fpr is not None}) > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("method", overflow="fold", min_width=11)
    for head in ("candidates", "valid", "rules", "compression", "dup. reduction", "fpr"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for row in found.rows:
        one, learned = row.total, row.max_fpr is not None
        counts = [f"{row.candidates:,}", f"{row.ranking.qualified_rate:.1%}", f"{row.rules:,}"]
        rates = [f"{rate:.1%}" for rate in (one.compression_rate, one.dup_reduction_rate, one.fpr)]
        bound = f" at {row.max_fpr:g}" if swept and learned else ""
        table.add_row(Text(row.method), *(counts if learned else ["", "", ""]), *rates, f"here{bound}")
        for line in (each for each in PUBLISHED_FIGURES if each.method == row.method):
            cells = [
                "" if line.candidates is None else f"{line.candidates:,.0f}",
                "" if line.valid is None else f"{line.valid:.1%}",
                "" if line.rules is None else f"{line.rules:,.0f}",
                "" if line.compression is None else f"{line.compression:.1%}",
            ]
            table.add_row(Text("  published"), *cells, "", "", line.paper)
    return table


def _interval(ends: tuple[float, float]) -> str:
    low, high = (100 * end for end in ends)
    places = 0 if high >= 10 else 1  # noqa: PLR2004 -- as many as can be read
    return f"{low:.{places}f}–{high:.{places}f}"


def _published(rows: Sequence[MethodRow]) -> str:
    """Return where the published way of applying rules makes a difference."""
    said = []
    for row in rows:
        own, one = row.total_as_published, row.total
        if own is not None and (own.canonical_urls, own.lost_unlike) != (one.canonical_urls, one.lost_unlike):
            bound = f" at {row.max_fpr:g}"
            said.append(f"  {row.method}{bound}: removed {own.removed:.1%}, lost {own.lost:.2%}")
    return "\n".join(["with the rules applied as their papers do", *said]) if said else ""
