"""Candidates as a graph, and the strategy of Lei et al. that looks at all of it (section 5.3).

A vertex is a pattern of URLs, an edge a candidate from one to another. URLs flow along the edges like
energy, and from a pattern to the more general ones above it; where they gather is a good canonical form.

The paper leaves open when the walk ends and what makes a vertex a destination (A15). Here:

* a vertex without a way out keeps its energy; the chain is lazy (half of the energy stays in each step),
  for otherwise two vertices could pass theirs to and fro for ever;
* rows are normalized to 1, which makes the division by the number of edges cancel out and the fpr of a
  single edge vanish; with `residual` the share that an edge gets wrong stays where it was instead;
* vertices are ranked by energy, then by the energy that went through them, then size, then fewer
  wildcards, then number; a vertex is a destination if no rule leads from it to one of higher rank, every
  other keeps one rule, to the highest it reaches. (All energy of a chain ends at its end; without a look
  at what went through, the vertices before it would tie, and the chain would break.)

Ranks rise along every rule that is kept, so what is kept is a forest: one form for each URL, no circle.
Patterns can share URLs, though, and a circle can close through those: a rule that would close one in
this way is passed over for the next best of its vertex.

A rule of a vertex to itself moves no energy. A destination keeps its own (A14: "remove the rules that
start from destinations" would remove the normal form of the destination itself).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    """Vertices with which each may share URLs, besides those above and below it and itself."""

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
    """Return the energy of each vertex in the end, and all that was there on the way."""
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
