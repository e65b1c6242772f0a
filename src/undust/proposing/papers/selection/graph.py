"""Candidates as a graph, and the two strategies of Lei et al. (section 5.3) that choose among them.

A vertex is a pattern of URLs, an edge a candidate from one to another. URLs flow along the edges like energy,
and from a pattern to the more general ones above it; where they gather is a good canonical form.

The paper leaves open when the walk ends and what makes a vertex a destination (A15). Here:

* a vertex without a way out keeps its energy; the chain is lazy (half of the energy stays in each step),
  since two vertices could otherwise pass theirs back and forth for ever;
* rows are normalized to 1, which makes the division by the number of edges cancel out and the fpr of a
  single edge vanish; with `residual` the share that an edge gets wrong stays where it was instead;
* vertices are ranked by energy, then by the energy that went through them, then size, then fewer
  wildcards, then number; a vertex is a destination if no rule leads from it to one of higher rank, every
  other keeps one rule, to the highest it reaches. (All energy of a chain ends at its end; without a look
  at what went through, the vertices before it would tie, and the chain would break.)

Ranks rise along every rule that is kept, so what is kept is a forest: one form for each URL, no circle.
Patterns can share URLs, though, and a circle can close through those: a rule that would close one in this way
is passed over for the next best of its vertex.

A rule of a vertex to itself moves no energy. A destination keeps its own (A14: "remove the rules that start
from destinations" would remove the normal form of the destination itself).

The other strategy is the straightforward one: three conflicts, each resolved where it is. (a) Several rules
leave one vertex: the one with the lowest fpr stays. (b) The source of one is above the source of another: the
one above stays. (c) Rules make a circle: the one with the least support goes.

Rules in a row become one: every source goes straight to its destination. Each rule of a chain may be good
enough and the chain not: errors add up. So a chain is measured as a whole, from the destination backwards,
and cut before the rule that makes it too bad.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


TOLERANCE = 1e-10
MOST_STEPS = 1000


@dataclass(frozen=True)
class Edge:
    """A candidate between two vertices, by their numbers."""

    source: int
    target: int
    fpr: float = 0.0
    support: int = 0
    """URLs it can normalize."""

    @property
    def is_own(self) -> bool:
        """Whether it brings the URLs of a pattern to the normal form of that pattern."""
        return self.source == self.target


@dataclass(frozen=True)
class Graph:
    """Patterns and the candidates between them."""

    volumes: Sequence[int]
    """URLs of each vertex."""
    edges: Sequence[Edge]
    above: Sequence[Sequence[int]] = ()
    """The more general vertices above each; for none of them, nothing."""
    wildcards: Sequence[int] = ()
    """In the pattern of each vertex."""
    meets: Sequence[Sequence[int]] = ()
    """Vertices with which each may share URLs, without itself and those above and below it."""

    def ancestors(self, vertex: int) -> Sequence[int]:
        """Return the more general vertices."""
        return self.above[vertex] if self.above else ()

    @cached_property
    def neighbours(self) -> list[set[int]]:
        """The vertices that may share URLs with each, itself included."""
        found = [{vertex} for vertex in range(len(self.volumes))]
        for vertex in range(len(found)):
            for other in (*self.ancestors(vertex), *(self.meets[vertex] if self.meets else ())):
                found[vertex].add(other)
                found[other].add(vertex)
        return found


def energies(graph: Graph, *, residual: bool = False) -> Floats:
    """Return how many URLs gather at each vertex, as shares of all.

    >>> there, back = Edge(0, 1, fpr=0.0), Edge(1, 0, fpr=0.02)
    >>> energies(Graph([1, 1], [there, back])).round(3).tolist()
    [0.5, 0.5]
    >>> energies(Graph([1, 1], [there, back]), residual=True).round(3).tolist()
    [0.495, 0.505]
    """
    return walk(graph, residual=residual)[0]


def walk(graph: Graph, *, residual: bool = False) -> tuple[Floats, Floats]:
    """Return the energy of each vertex in the end, and the sum over all steps."""
    count = len(graph.volumes)
    weights: dict[tuple[int, int], float] = {}
    for edge in graph.edges:
        if not edge.is_own:
            way = edge.source, edge.target
            weights[way] = max(weights.get(way, 0.0), 1 - edge.fpr)
    for vertex in range(count):
        for above in graph.ancestors(vertex):
            weights[vertex, above] = 1.0
    energy: Floats = np.asarray(graph.volumes, np.float64)
    if not weights or not energy.sum():
        energy = np.asarray(energy / max(float(energy.sum()), 1.0))
        return energy, energy
    ends = np.array(list(weights), np.int64)
    weight = np.fromiter(weights.values(), np.float64, len(weights))
    out = np.bincount(ends[:, 0], weight, count)
    ways = np.bincount(ends[:, 0], minlength=count)
    whole = np.where(residual, ways, out)[ends[:, 0]]
    share = np.divide(weight, whole, out=np.zeros_like(weight), where=whole > 0)
    stays = 1 - np.bincount(ends[:, 0], share, count)
    energy = energy / energy.sum()
    passed = energy
    for _ in range(MOST_STEPS):
        flow = np.bincount(ends[:, 1], energy[ends[:, 0]] * share, count)
        after = (energy + energy * stays + flow) / 2
        if np.abs(after - energy).max() < TOLERANCE:
            break
        energy = after
        passed = passed + energy
    return np.asarray(energy), np.asarray(passed)


def ranks(graph: Graph, *, residual: bool = False) -> list[int]:
    """Return the place of each vertex, the highest the best destination."""
    # Rounded, since the last digits of a limit depend on the order of sums.
    energy, passed = (each.round(8) for each in walk(graph, residual=residual))
    wildcards = graph.wildcards or [0] * len(graph.volumes)

    def key(vertex: int) -> tuple[float, float, int, int, int]:
        there, gone = float(energy[vertex]), float(passed[vertex])
        return there, gone, graph.volumes[vertex], -wildcards[vertex], -vertex

    order = sorted(range(len(graph.volumes)), key=key)
    rank = [0] * len(order)
    for place, vertex in enumerate(order):
        rank[vertex] = place
    return rank


def select_by_energy(graph: Graph, *, residual: bool = False) -> list[int]:
    """Return the edges to deploy, by number: at most one from each vertex, and no circle."""
    rank = ranks(graph, residual=residual)
    kept: dict[int, int] = {}

    def merit(number: int) -> tuple[int, float, int, int]:
        edge = graph.edges[number]
        return -rank[edge.target], edge.fpr, -edge.support, number

    for number in sorted(range(len(graph.edges)), key=merit):
        edge = graph.edges[number]
        is_upwards = rank[edge.target] > rank[edge.source] and edge.source not in kept
        if is_upwards and not closes_circle(graph, kept, edge):
            kept[edge.source] = number
    # An own form is for those that go nowhere, and comes after all others.
    for number in sorted(range(len(graph.edges)), key=lambda each: merit(each)[1:]):
        if graph.edges[number].is_own:
            kept.setdefault(graph.edges[number].source, number)
    return sorted(number for number in kept.values() if not is_shadowed(graph, kept, number))


def closes_circle(graph: Graph, kept: Mapping[int, int], edge: Edge) -> bool:
    """Whether a URL that an edge takes could come back to where it started, along the edges kept."""
    home = graph.neighbours[edge.source]
    seen: set[int] = set()
    waiting = [edge.target]
    while waiting:
        vertex = waiting.pop()
        if vertex in home:
            return True
        for source in graph.neighbours[vertex]:
            if source in kept and source not in seen and not graph.edges[kept[source]].is_own:
                seen.add(source)
                waiting.append(graph.edges[kept[source]].target)
    return False


def is_shadowed(graph: Graph, kept: Mapping[int, int], number: int) -> bool:
    """Whether a rule above does the work: of the same sort, own form or a way to another vertex."""
    edge = graph.edges[number]
    above = (kept[vertex] for vertex in graph.ancestors(edge.source) if vertex in kept)
    return any(graph.edges[other].is_own == edge.is_own for other in above)


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


@dataclass(frozen=True)
class Chain:
    """The path of one source to its destination, as numbers of edges, and its fpr as a whole."""

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
