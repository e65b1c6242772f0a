"""Rules in a row as one: every source goes straight to its destination, proved anew.

Each rule of a chain may be good enough and the chain not: errors add up. So a chain is measured as a
whole, from the destination backwards, and cut before the rule that makes it too bad.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from undust.proposing.papers.selection.graph import Graph


@dataclass(frozen=True)
class Chain:
    """The way of one source to its destination, as numbers of edges, and its fpr as a whole."""

    edges: tuple[int, ...]
    fpr: float


def chains_of(
    graph: Graph, kept: Iterable[int], prove: Callable[[Sequence[int]], float], max_fpr: float
) -> list[Chain]:
    """Return the chains of a forest that keep within the bound, those nearest to a destination first.

    `prove` returns the fpr of edges one after the other; chains of one edge have that of the edge.
    """
    ways = {graph.edges[number].source: number for number in kept}
    done: dict[int, Chain] = {}
    for source in _outwards(graph, ways):
        number = ways[source]
        edge = graph.edges[number]
        rest = done.get(edge.target) if not edge.is_own else None
        edges = (number, *(rest.edges if rest else ()))
        fpr = edge.fpr if len(edges) == 1 else prove(edges)
        if fpr <= max_fpr:
            done[source] = Chain(edges, fpr)
    return list(done.values())


def _outwards(graph: Graph, ways: dict[int, int]) -> list[int]:
    """Return the sources by their distance from a destination."""
    distance: dict[int, int] = {}

    def measured(source: int) -> int:
        way = []
        while source in ways and source not in distance and source not in way:
            way.append(source)
            source = graph.edges[ways[source]].target
        for place, vertex in enumerate(reversed(way), 1):
            distance[vertex] = distance.get(source, 0) + place
        return distance.get(source, 0)

    for source in sorted(ways):
        measured(source)
    return sorted(ways, key=lambda source: (distance[source], source))
