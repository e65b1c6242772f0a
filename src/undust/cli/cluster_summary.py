"""The summary of `undust cluster` as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from undust.duplicates.evidence import KINDS

if TYPE_CHECKING:
    from undust.duplicates.distrust import Distrusted
    from undust.duplicates.summary import Summary

GROUPS_SHOWN = 3
"""Of each kind; --json has more."""


def print_summary(summary: Summary, seconds: float, *, is_on_stderr: bool) -> None:
    """Print what was found, why, what was not trusted, and what was left out."""
    console = Console(stderr=is_on_stderr, highlight=False, soft_wrap=False)
    console.print(_headline(summary, seconds))
    if summary.evidence:
        console.print()
        console.print(_evidence(summary))
    if summary.distrusted_groups:
        console.print()
        console.print(Text("Not trusted, and not used", style="bold"))
        for kind, urls in sorted(summary.distrusted_urls.items(), key=lambda item: (-item[1], item[0])):
            _print_kind(console, summary, kind, urls)
    left_out = _left_out(summary)
    if left_out:
        console.print()
        console.print(Text(f"Left out: {left_out}", style="dim"))


def _headline(summary: Summary, seconds: float) -> Text:
    share = summary.duplicates / summary.urls if summary.urls else 0.0
    text = Text()
    text.append(f"{summary.urls:,} URLs", style="bold")
    text.append(f" of {_many(summary.sites, 'site')} in ")
    text.append(f"{_many(summary.clusters, 'cluster')}", style="bold")
    text.append(f"; {summary.duplicates:,} to spare ({share:.0%}), the largest cluster has {summary.largest:,}")
    text.append(f"  [{seconds:.1f} s]", style="dim")
    return text


def _evidence(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Evidence")
    table.add_column("URLs", justify="right")
    table.add_column("what joins them", style="dim")
    for kind, meaning in KINDS.items():
        if summary.evidence[kind]:
            table.add_row(kind, f"{summary.evidence[kind]:,}", meaning)
    return table


def _print_kind(console: Console, summary: Summary, kind: str, urls: int) -> None:
    groups = [(site, group) for site, group in summary.distrusted if group.kind == kind]
    count = summary.distrusted_groups[kind]
    line = Text(f"  {kind}", style="yellow")
    line.append(f": {_many(urls, 'URL')}" + (f" in {count:,} groups" if count > 1 else ""), style="default")
    console.print(line)
    for site, group in groups[:GROUPS_SHOWN]:
        _print_group(console, site, group)
    if count > GROUPS_SHOWN:
        console.print(Text(f"    and {_many(count - GROUPS_SHOWN, 'more group')}; --json tells of them", style="dim"))


def _print_group(console: Console, site: str, group: Distrusted) -> None:
    about = f" → {group.about}" if group.about else ""
    text = Text(f"{site}{about}: {group.urls:,}, {group.why}")
    console.print(Padding(text, (0, 0, 0, 4)))
    for line in (line for example in group.examples for line in example.replace(" → ", "\n  → ").splitlines()):
        console.print(Padding(Text(line, style="dim", no_wrap=True, overflow="ellipsis"), (0, 0, 0, 6)))


def _left_out(summary: Summary) -> str:
    counts = summary.counts
    parts = {
        "sightings with a 4xx or 5xx": counts.failed,
        "rows that are no URL": summary.not_urls,
        "redirects to other sites": counts.leaving,
        "sketches of another size": counts.odd_sketches,
    }
    said = [f"{count:,} {name}" for name, count in parts.items() if count]
    if counts.changing:
        said.append(f"earlier contents of {_many(counts.changing, 'URL')} (the latest counts)")
    return ", ".join(said)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
