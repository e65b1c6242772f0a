"""The straightforward strategy of Lei et al. (section 5.3): three conflicts, each resolved where it is.

(a) Several rules leave one vertex: the one with the lowest fpr stays. (b) The source of one is above the
source of another: the one above stays. (c) Rules make a circle: the one with the least support goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from undust.proposing.papers.selection.graph import Graph


def select_naively(graph: Graph) -> list[int]:
    """Return the edges to deploy, by number: at most one from each vertex, and no circle."""
    kept: dict[int, int] = {}

    def merit(number: int) -> tuple[float, int, int]:
        edge = graph.edges[number]
        return edge.fpr, -edge.support, number

    for number in sorted(range(len(graph.edges)), key=merit):
        kept.setdefault(graph.edges[number].source, number)
    for vertex in list(kept):
        if any(above in kept for above in graph.ancestors(vertex)):
            kept.pop(vertex)
    _cut_circles(graph, kept)
    return sorted(kept.values())


def _cut_circles(graph: Graph, kept: dict[int, int]) -> None:
    """Every vertex has one way out, so each circle is found by walking on from any vertex."""
    for start in sorted(kept):
        way: list[int] = []
        vertex = start
        while vertex in kept and vertex not in way:
            way.append(vertex)
            vertex = graph.edges[kept[vertex]].target
        circle = way[way.index(vertex) :] if vertex in way else []
        if len(circle) > 1:
            weakest = min(circle, key=lambda each: (graph.edges[kept[each]].support, kept[each]))
            kept.pop(weakest)
