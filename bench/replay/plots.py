"""Pages found against fetches, as a drawing: one curve for each contender of each crawl."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.replay.__main__ import Replay

WIDTH, HEIGHT, MARGIN, COLUMNS = 300, 200, 40, 3
COLOURS = {"none": "#888", "periodic": "#c60", "command": "#a80", "maybedont": "#808", "learner": "#06c"}
_STYLE = "text{font:11px sans-serif}polyline{fill:none;stroke-width:1.5}rect{fill:none;stroke:#ccc}"


def drawing(results: Iterable[Replay]) -> str:
    """Return an SVG image with a panel for each crawl and order."""
    panels: dict[tuple[str, str], list[Replay]] = {}
    for each in results:
        panels.setdefault((each.site, each.order), []).append(each)
    rows = -(-len(panels) // COLUMNS)
    drawn = [_panel(place, name, some) for place, (name, some) in enumerate(panels.items())]
    size = f'width="{COLUMNS * (WIDTH + MARGIN) + MARGIN}" height="{rows * (HEIGHT + 2 * MARGIN) + MARGIN}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>'
    return "\n".join((head, *drawn, "</svg>\n"))


def _panel(place: int, name: tuple[str, str], some: Sequence[Replay]) -> str:
    left = MARGIN + place % COLUMNS * (WIDTH + MARGIN)
    top = MARGIN + place // COLUMNS * (HEIGHT + 2 * MARGIN)
    most, pages = max(each.urls for each in some), max(each.pages for each in some)
    texts = [
        f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{left}" y="{top - 6}">{escape(f"{name[0]}, {name[1]} order: {pages:,} pages")}</text>',
        f'<text x="{left}" y="{top + HEIGHT + 14}">0 to {most:,} fetches</text>',
    ]
    for number, each in enumerate(some):
        colour = COLOURS.get(each.contender, "#000")
        points = [(0, 0), *((each.fetched * at // 20, count) for at, count in enumerate(each.found, start=1))]
        path = " ".join(
            f"{left + WIDTH * x / most:.1f},{top + HEIGHT * (1 - y / pages):.1f}" for x, y in points
        )
        label = f"{each.contender}: {each.fetched:,} fetches"
        at = f'x="{left + WIDTH - 130}" y="{top + HEIGHT - 8 - 14 * number}"'
        texts += [
            f'<polyline points="{path}" stroke="{colour}"/>',
            f'<text {at} fill="{colour}">{escape(label)}</text>',
        ]
    return "\n".join(texts)
