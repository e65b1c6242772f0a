"""A summary as a person reads it: what was found, why, what was not trusted, what was left out."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from undust.duplicates.evidence import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.duplicates.distrust import Distrusted
    from undust.duplicates.summary import Summary

GROUPS_TOLD = 3
"""Of each kind; the others are counted."""


def told(summary: Summary, width: int = 100) -> str:
    """Return the summary as lines of at most `width` characters."""
    parts = [_headline(summary), _evidence(summary), _distrusted(summary, width), _left_out(summary)]
    return "\n\n".join("\n".join(_wrapped(part, width)) for part in parts if part)


def _headline(summary: Summary) -> list[str]:
    share = summary.duplicates / summary.urls if summary.urls else 0.0
    line = f"{_many(summary.urls, 'URL')} of {_many(summary.sites, 'site')}"
    line += f" in {_many(summary.clusters, 'cluster')}"
    if summary.duplicates:
        line += (
            f": {summary.duplicates:,} to spare ({share:.0%}), up to {summary.largest:,} URLs in one cluster"
        )
    return [line]


def _evidence(summary: Summary) -> list[str]:
    rows = [(kind, f"{summary.evidence[kind]:,}", KINDS[kind]) for kind in KINDS if summary.evidence[kind]]
    if not rows:
        return []
    width = max(4, *(len(count) for _, count, _ in rows))
    lines = [f"{'evidence':<10} {'URLs':>{width}}"]
    return lines + [f"{kind:<10} {count:>{width}}  {meaning}" for kind, count, meaning in rows]


def _distrusted(summary: Summary, width: int) -> list[str]:
    lines = []
    for kind, urls in sorted(summary.distrusted_urls.items(), key=lambda item: (-item[1], item[0])):
        groups = [(site, group) for site, group in summary.distrusted if group.kind == kind]
        count = summary.distrusted_groups[kind]
        lines.append(f"  {kind}: {_many(urls, 'URL')}" + (f" in {count:,} groups" if count > 1 else ""))
        for site, group in groups[:GROUPS_TOLD]:
            lines += _group(site, group, width)
        if count > GROUPS_TOLD:
            lines.append(f"    … and {_many(count - GROUPS_TOLD, 'more group')}")
    return ["not trusted, and not used", *lines] if lines else []


def _group(site: str, group: Distrusted, width: int) -> Iterator[str]:
    yield f"    {site}: {_many(group.urls, 'URL')}, {group.why}"
    if group.about:
        yield _cut(f"      → {group.about}", width)
    for example in group.examples:
        first, *rest = example.split(" → ")
        yield _cut(f"      {first}", width)
        yield from (_cut(f"        → {target}", width) for target in rest)


def _left_out(summary: Summary) -> list[str]:
    counts = summary.counts
    parts = {
        "sightings with a 4xx or 5xx": counts.failed,
        "rows that are no URL": summary.not_urls,
        "redirects to other sites": counts.leaving,
        "sketches of another size": counts.odd_sketches,
        "URLs' earlier contents (the latest counts)": counts.changing,
    }
    lines = [f"  {count:,} {name}" for name, count in parts.items() if count]
    return ["left out", *lines] if lines else []


def _wrapped(lines: list[str], width: int) -> Iterator[str]:
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        yield from textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
            drop_whitespace=True, replace_whitespace=False,
        )  # fmt: skip


def _cut(line: str, width: int) -> str:
    # Strangers made these URLs; a terminal must not obey them.
    safe = "".join(char if char.isprintable() else "�" for char in line)
    return safe if len(safe) <= width else f"{safe[: width - 1]}…"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
