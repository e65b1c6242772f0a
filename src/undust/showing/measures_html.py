"""What rules do to labelled URLs, as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.showing.notebook import code, table

if TYPE_CHECKING:
    from undust.measuring.judged import Evaluation
    from undust.measuring.measures import Measures

_MOST_SITES = 20
_MOST_RULES = 40


def evaluation_as_html(found: Evaluation) -> str:
    """Return two tables: the sites with what is removed and lost, the rules with what each does alone."""
    largest = sorted(found.sites.items(), key=lambda item: (-item[1].urls, item[0]))[:_MOST_SITES]
    heads = ("site", "URLs", "pages", "left", "removed", "95 %", "lost", "95 %")
    sites = table(
        f"{found.active:,} rules; {len(largest):,} of {len(found.sites):,} sites, the largest first",
        heads,
        [_row(name, one) for name, one in [*largest, ("all", found.total)]],
    )
    best = sorted(found.rules, key=lambda row: (-row.saved, row.name))[:_MOST_RULES]
    rules = table(
        f"alone, beyond standard normalization; {len(best):,} of {len(found.rules):,} rules",
        ("removed", "lost", "rule"),
        [(f"{row.saved:,}", f"{row.lost:,}", code(row.name)) for row in best],
    )
    return sites + rules


def _row(name: str, one: Measures) -> tuple[str, ...]:
    counts = (f"{count:,}" for count in (one.urls, one.clusters, one.canonical_urls))
    rates = (
        text
        for rate in ("removed", "lost")
        for text in (f"{getattr(one, rate):.2%}", "{:.2%} to {:.2%}".format(*one.interval_of(rate)))
    )
    return (name, *counts, *rates)
