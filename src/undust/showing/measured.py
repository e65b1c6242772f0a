"""What was measured, as people and programs read it: rules judged, methods compared, requests saved."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from undust.display import how_many
from undust.measuring.counts import EVERYBODY
from undust.showing.words import figures, figures_of_rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from undust.measuring import Evaluation
    from undust.measuring.compare import Comparison, MethodRow
    from undust.measuring.counts import Savings

SHOWN_SITES = 20
_SHOWN_RULES = 40
PRECISION_AT = (10, 50, 200)
MACRO = ("removed", "lost", "compression_rate", "dup_reduction_rate", "coverage", "fpr")


def evaluation_as_dict(found: Evaluation, seconds: float, peak_memory_bytes: int) -> dict[str, Any]:
    """Return everything that was measured, for machines."""
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
        "peak_memory_bytes": peak_memory_bytes,
    }


def evaluation_shown(found: Evaluation, seconds: float) -> Iterator[RenderableType]:
    """Yield what was measured of rules, for people."""
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
    yield "\n".join(said)
    yield _sites(found)
    yield _rules(found)
    if len(found.rules) > _SHOWN_RULES:
        yield f"{len(found.rules) - _SHOWN_RULES:,} more rules; --json has them all"
    yield f"{seconds:.1f} s"


def _sites(found: Evaluation) -> Table:
    from rich import box  # noqa: PLC0415 -- rich is slow to load, and not for --json
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
    from rich import box  # noqa: PLC0415 -- rich is slow to load, and not for --json
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


def comparison_as_dict(found: Comparison, seed: int) -> dict[str, Any]:
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


def comparison_shown(found: Comparison, *, published: bool) -> Iterator[RenderableType]:
    """Yield how methods compare, for people; with `published`, what the papers measure."""
    sites = how_many(found.sites, "site")
    yield (
        f"learned from {found.train_urls:,} URLs of {sites}, judged on {found.test_urls:,} others "
        f"of {found.test_pages:,} other pages"
    )
    yield _papers_table(found) if published else _table(found)
    if note := _published(found.rows):
        yield note
    if found.unlabelled:
        yield f"{found.unlabelled:,} URLs are not judged: no evidence shows their page"


def _table(found: Comparison) -> Table:
    from rich import box  # noqa: PLC0415 -- rich is slow to load, and not for --json
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
    from rich import box  # noqa: PLC0415 -- rich is slow to load, and not for --json
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from undust.measuring.methods import PUBLISHED_FIGURES  # noqa: PLC0415 -- loads every method

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


def told_savings(saved: Sequence[Savings]) -> Iterator[str]:
    """Yield what rules save of the requests of a log, in lines."""
    for each in saved:
        daily = each.to_json()
        megabytes = daily["saved_bytes_per_day"] / 1e6
        who = "" if each.who == EVERYBODY else f" of {each.who}"
        yield (
            f"the rules make {each.saved_requests:,} of the {each.requests:,} requests{who} redundant: "
            f"{daily['saved_requests_per_day']:,} and {megabytes:,.1f} MB a day"
        )
