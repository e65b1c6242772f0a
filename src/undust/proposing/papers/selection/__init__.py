"""Which of the proved candidates to deploy: few, without conflicts, one form for every URL.

Two strategies of Lei et al. (WWW 2010, section 5.3), for the candidates of any learner: `naive` resolves
each conflict where it is, `graph` looks for the forms to which most URLs can be brought.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from undust.errors import UndustError
from undust.proposing.papers.selection.chains import Chain, chains_of
from undust.proposing.papers.selection.graph import Edge, Graph, energies, select_by_energy
from undust.proposing.papers.selection.joining import joined
from undust.proposing.papers.selection.measuring import TrialUrls
from undust.proposing.papers.selection.naive import select_naively
from undust.proposing.papers.selection.sides import graph_of, mapping_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.judging.verdict import Candidate
    from undust.pages.clustering import SiteClusters

__all__ = [
    "STRATEGIES",
    "Chain",
    "Edge",
    "Graph",
    "Strategy",
    "TrialUrls",
    "deployable",
    "energies",
    "select",
    "select_edges",
]

Strategy = Literal["naive", "graph"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)


def select(
    candidates: Sequence[Candidate],
    site: SiteClusters,
    strategy: Strategy = "graph",
    max_fpr: float = 0.05,
    threads: int = 1,
) -> tuple[Candidate, ...]:
    """Return the candidates of one site to deploy, chains of them made one.

    Args:
        candidates: Of one learner or of several; those of one site.
        site: URLs with their pages, those the candidates were learned from or others.
        strategy: How conflicts are resolved.
        max_fpr: What a chain of rules may get wrong as a whole.
        threads: How many to use; the result is the same.

    """
    measured = TrialUrls(site, threads)
    graph = graph_of(candidates, measured)
    return deployable(candidates, graph, measured, strategy, max_fpr)


def deployable(  # noqa: PLR0913 -- the graph, the data, and how
    candidates: Sequence[Candidate],
    graph: Graph,
    measured: TrialUrls,
    strategy: Strategy = "graph",
    max_fpr: float = 0.05,
    *,
    residual: bool = False,
) -> tuple[Candidate, ...]:
    """Do the same for a graph that a learner made itself; candidate and edge have one number."""

    def composed(edges: Sequence[int]) -> Candidate:
        # The own form of a destination is a chain itself; nothing has to be made one with it.
        leading = [number for number in edges if not graph.edges[number].is_own] or edges[:1]
        members = [candidates[number] for number in leading]
        return joined(members, [mapping_rules(member) for member in members])

    def prove(edges: Sequence[int]) -> float:
        """Return the fpr of the rules one after the other or as one, whichever is worse."""
        rules = [rule for number in edges for rule in candidates[number].rules]
        return max(measured.fpr(rules), measured.fpr(composed(edges).rules))

    kept = select_edges(graph, strategy, residual=residual)
    chains = chains_of(graph, kept, prove, max_fpr)
    # Own forms come last: what leads elsewhere must not be caught by them on its way.
    chains.sort(key=lambda chain: (graph.edges[chain.edges[0]].is_own, chain.edges[0]))
    return tuple(replace(composed(chain.edges), fpr=chain.fpr) for chain in chains)


def select_edges(graph: Graph, strategy: Strategy = "graph", *, residual: bool = False) -> list[int]:
    """Return the edges that a strategy keeps, by number."""
    if strategy == "naive":
        return select_naively(graph)
    if strategy == "graph":
        return select_by_energy(graph, residual=residual)
    message = f"there is no selection '{strategy}'; there are {', '.join(STRATEGIES)}"
    raise UndustError(message)
