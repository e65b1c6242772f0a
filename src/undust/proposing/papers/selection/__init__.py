"""Which of the proved candidates to deploy: few, without conflicts, one form for every URL.

Two strategies of Lei et al. (WWW 2010, section 5.3), for the candidates of any learner: `naive` resolves each
conflict where it is, `graph` looks for the forms to which most URLs can be brought.

`graph_of` makes a graph of the candidates of any learner. The pattern tree knows its nodes. Of other rules
the vertices are the sides themselves, without the names of captures:
`http://{h}/{x}/dp/{id}` and `http://{a}/{b}/dp/{c}` are one. How large a vertex is, and which is above
which, depends on the URLs: a side is above another if it has all its URLs and more.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UndustError
from undust.proposing.papers.selection.graph import (
    Chain,
    Edge,
    Graph,
    chains_of,
    energies,
    select_by_energy,
    select_naively,
)
from undust.rules import RuleSet
from undust.rules.reasoning.algebra import compose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.judging.verdict import Candidate
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

    Ints = NDArray[np.int64]


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


_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)?(\**)(:[^{}]*)?\}")


def graph_of(candidates: Sequence[Candidate], measured: TrialUrls) -> Graph:
    """Return the graph of candidates, edge by edge in their order."""
    numbers: dict[str, int] = {}
    rows: dict[int, set[int]] = {}
    edges = []
    done = measured.images([candidate.rules for candidate in candidates])
    for candidate, (touched, images) in zip(candidates, done, strict=True):
        mapped = mapping_rules(candidate)
        source = numbers.setdefault("\n".join(left_side(rule) for rule in mapped), len(numbers))
        target = numbers.setdefault("\n".join(right_side(rule) for rule in mapped), len(numbers))
        rows.setdefault(source, set()).update(touched.tolist())
        rows.setdefault(target, set()).update(images[images < len(measured.urls)].tolist())
        fpr = measured.fpr_of(touched, images) if candidate.fpr is None else candidate.fpr
        edges.append(Edge(source, target, fpr, len(touched)))
    sides = list(numbers)
    volumes = [len(rows[vertex]) for vertex in range(len(sides))]
    return Graph(volumes, edges, _above(rows, volumes), [side.count("{") for side in sides])


def _above(rows: dict[int, set[int]], volumes: list[int]) -> list[tuple[int, ...]]:
    """Return for each vertex those that have all its URLs and more, the largest first."""
    holders: dict[int, list[int]] = {min(own): [] for own in rows.values() if own}
    for vertex in sorted(rows, key=lambda each: (-volumes[each], each)):
        for row in rows[vertex] & holders.keys():
            holders[row].append(vertex)
    return [
        tuple(
            other
            for other in (holders[min(own)] if own else ())
            if volumes[other] > len(own) and own <= rows[other]
        )
        for own in (rows[vertex] for vertex in range(len(volumes)))
    ]


def mapping_rules(candidate: Candidate) -> tuple[Rule, ...]:
    """Return the rules of a candidate that lead somewhere; all of them if none does."""
    leading = tuple(rule for rule in candidate.rules if left_side(rule) != right_side(rule))
    return leading or candidate.rules


def left_side(rule: Rule) -> str:
    """Return what a rule takes, without names."""
    return _NAME.sub(lambda found: f"{{{found[2][:2] or '*'}{found[3] or ''}}}", rule.source)


def right_side(rule: Rule) -> str:
    """Return what a rule leads to, as the side of a rule that would take it."""
    captures = {found[1]: found for found in _NAME.finditer(rule.source) if found[1]}

    def written(found: re.Match[str]) -> str:
        origin = captures.get(found[1])
        stars = origin[2][:2] if origin else ""
        detail = (origin[3] or "") if origin else ""
        return f"{{{stars or '*'}{detail}}}"

    return _NAME.sub(written, rule.target or rule.source)


class TrialUrls:
    """The URLs of one site, ready to try rules on."""

    def __init__(self, site: SiteClusters, threads: int = 1) -> None:
        nodes = np.flatnonzero(site.cluster_of_node >= 0)
        self.urls = site.node_urls.take(pa.array(nodes))
        self.cluster = site.cluster_of_node[nodes]
        self.threads = threads

    def images(self, sets: Sequence[Iterable[Rule]]) -> list[tuple[Ints, Ints]]:
        """Return for each set of rules the rows it changes and the row each becomes.

        Images that are not URLs of the site have numbers beyond the rows.
        """
        if not sets:
            return []
        own = [{rule.id: rule for rule in rules} for rules in sets]
        touched = self._touched({name: rule for each in own for name, rule in each.items()})
        keys, rows = [], []
        for each in own:
            rows.append(np.unique(np.concatenate([touched[name] for name in each])))
            urls = self.urls.take(pa.array(rows[-1]))
            keys.append(RuleSet(each.values()).compile().batch(urls, keys=True, threads=self.threads))
        codes = self._codes(pa.concat_arrays(keys))
        ends = np.cumsum([len(each) for each in rows])[:-1]
        return list(zip(rows, np.split(codes, ends), strict=True))

    def _touched(self, rules: Mapping[str, Rule]) -> dict[str, Ints]:
        """Return the rows that each rule, alone, changes."""
        compiled = RuleSet(rules.values()).compile()
        rows, numbers = (each.to_numpy() for each in compiled.touched(self.urls, threads=self.threads))
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(1, len(rules)))
        return dict(zip(rules, np.split(rows[order].astype(np.int64), ends), strict=True))

    def _codes(self, keys: pa.Array) -> Ints:
        found = pc.index_in(keys, value_set=self.urls)
        codes: Ints = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        new = keys.filter(pc.is_null(found)).dictionary_encode().indices
        codes[codes < 0] = len(self.urls) + new.to_numpy(zero_copy_only=False)
        return codes

    def fpr(self, rules: Iterable[Rule]) -> float:
        """Return the share of false pairs among those with one key; 0 without such pairs."""
        return self.fpr_of(*self.images([rules])[0])

    def fpr_of(self, rows: Ints, image: Ints) -> float:
        """Return the same for rows and what becomes of them."""
        # URLs that were there already are their own image.
        there = np.setdiff1d(image[image < len(self.urls)], rows)
        rows, image = np.concatenate([rows, there]), np.concatenate([image, there])
        sizes = np.unique(image, return_counts=True)[1]
        width = int(self.cluster.max(initial=0)) + 1
        same = np.unique(image * width + self.cluster[rows], return_counts=True)[1]
        pairs = int((sizes * (sizes - 1) // 2).sum())
        return 1 - int((same * (same - 1) // 2).sum()) / pairs if pairs else 0.0

    def merges(self, rules: Iterable[Rule]) -> tuple[int, int]:
        """Return how many URLs the rules bring to others of their page, and how many pages to others."""
        compiled = RuleSet({rule.id: rule for rule in rules}.values()).compile()
        keys = compiled.batch(self.urls, keys=True, threads=self.threads).dictionary_encode().indices
        image = keys.to_numpy(zero_copy_only=False).astype(np.int64)
        width = int(self.cluster.max(initial=0)) + 1
        pages = len(np.unique(image * width + self.cluster))
        return len(image) - pages, pages - len(np.unique(image))


def joined(chain: Sequence[Candidate], mapped: Sequence[Sequence[Rule]]) -> Candidate:
    """Return one candidate for a chain of them; `mapped` are the rules of each that lead on.

    The own forms of the candidates in between are removed with them. A rule that cannot be composed stays as
    it is: the next one takes over where it leads, only a step later.
    """
    first, last = chain[0], chain[-1]
    if len(chain) == 1:
        return first
    rules: list[Rule] = list(mapped[0])
    for nexts in mapped[1:]:
        rules = [_continued(rule, nexts) for rule in rules]
    own = [rule for rule in last.rules if rule not in mapped[-1]]
    learned_by = first.rules[0].learned_by
    named = [replace(rule, learned_by=learned_by) for rule in rules]
    return replace(first, rules=tuple(dict.fromkeys((*named, *own))), fpr=None)


def _continued(rule: Rule, nexts: Sequence[Rule]) -> Rule:
    for other in nexts:
        found = compose(rule, other)
        if len(found) == 1 and found[0].source == rule.source:
            return found[0]
    return rule
