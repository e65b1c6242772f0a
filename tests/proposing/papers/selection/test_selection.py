"""Which candidates are deployed: one form for every URL, whatever the candidates."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undust
from tests.pages.clustering.sites import table
from undust.errors import UndustError
from undust.judging.verdict import Candidate
from undust.pages.clustering import find_in_site
from undust.proposing.papers.selection import (
    STRATEGIES,
    Edge,
    Graph,
    TrialUrls,
    energies,
    graph_of,
    left_side,
    right_side,
    select,
    select_edges,
)
from undust.proposing.papers.selection.graph import chains_of
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.selection import Strategy


THERE_AND_BACK = Graph([1, 1], [Edge(0, 1, fpr=0.0), Edge(1, 0, fpr=0.02)])
"""G18: A to B without an error, B to A with two in a hundred."""


def test_the_published_walk_ties() -> None:
    """G18: normalized rows forget the weight of a lone edge, so both vertices get half."""
    assert energies(THERE_AND_BACK).tolist() == pytest.approx([0.5, 0.5])


def test_the_residual_walk_prefers_the_better_rule() -> None:
    """G18: what a rule gets wrong stays behind: 0.495 and 0.505, and B is the destination."""
    assert energies(THERE_AND_BACK, residual=True).tolist() == pytest.approx([0.495, 0.505], abs=5e-4)
    assert select_edges(THERE_AND_BACK, residual=True) == [0]


def test_energy_gathers_where_most_can_be_brought() -> None:
    """Three patterns lead to a small one, which is the destination and keeps its own form."""
    graph = Graph([10, 10, 10, 5], [Edge(0, 3), Edge(1, 3), Edge(2, 3), Edge(3, 0, fpr=0.04), Edge(3, 3)])
    assert select_edges(graph, residual=True) == [0, 1, 2, 4]


def test_a_periodic_walk_ends() -> None:
    """Two vertices that only lead to each other would pass their energy to and fro for ever."""
    assert energies(Graph([3, 1], [Edge(0, 1), Edge(1, 0)])).tolist() == pytest.approx([0.5, 0.5])
    assert energies(Graph([1], [])).tolist() == [1.0]
    assert energies(Graph([3, 1], [])).tolist() == [0.75, 0.25]


def test_naive_resolves_each_conflict_where_it_is() -> None:
    """(a) the lower fpr of one source, (b) the rule of the ancestor, (c) the least support of a circle."""
    same_source = Graph([4, 4, 4], [Edge(0, 1, 0.03, 9), Edge(0, 2, 0.01, 5)])
    assert select_edges(same_source, "naive") == [1]
    covered = Graph([9, 4, 2], [Edge(0, 2, 0.03, 9), Edge(1, 2, 0.01, 4)], above=[(), (0,), ()])
    assert select_edges(covered, "naive") == [0]
    circle = Graph([5, 5, 5], [Edge(0, 1, 0.0, 7), Edge(1, 2, 0.0, 3), Edge(2, 0, 0.0, 5)])
    assert select_edges(circle, "naive") == [0, 2]


def test_an_unknown_strategy_is_named() -> None:
    """The message has the strategies there are."""
    with pytest.raises(UndustError, match="naive, graph"):
        select_edges(THERE_AND_BACK, "best")  # type: ignore[arg-type]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Patterns in a hierarchy, some that meet besides, and candidates between any of them."""
    count = draw(st.integers(1, 8))
    parents = [draw(st.none() | st.integers(0, vertex - 1)) if vertex else None for vertex in range(count)]
    above: list[tuple[int, ...]] = []
    for parent in parents:
        above.append(() if parent is None else (parent, *above[parent]))
    vertex = st.integers(0, count - 1)
    edge = st.builds(Edge, vertex, vertex, st.floats(0, 0.05), st.integers(1, 9))
    edges = [each for each in draw(st.lists(edge, max_size=20)) if not related(above, each)]
    meets = draw(st.lists(st.lists(vertex, max_size=1), min_size=count, max_size=count))
    volumes = draw(st.lists(st.integers(1, 50), min_size=count, max_size=count))
    return Graph(volumes, edges, above, [0] * count, meets)


def related(above: Sequence[Sequence[int]], edge: Edge) -> bool:
    """Whether an edge leads up or down the hierarchy, where no learner has candidates."""
    return edge.source in above[edge.target] or edge.target in above[edge.source]


@given(graphs(), st.sampled_from(STRATEGIES), st.booleans())
def test_what_is_kept_is_a_forest(graph: Graph, strategy: Strategy, residual: bool) -> None:  # noqa: FBT001
    """Never a circle, and never two rules from one source, on any graph."""
    kept = [graph.edges[number] for number in select_edges(graph, strategy, residual=residual)]
    assert len({edge.source for edge in kept}) == len(kept)
    ways = nx.DiGraph([(edge.source, edge.target) for edge in kept if not edge.is_own])
    assert nx.is_directed_acyclic_graph(ways)
    above = [(one, other) for one in kept for other in kept if other.source in graph.ancestors(one.source)]
    assert not [pair for pair in above if strategy == "naive" or pair[0].is_own == pair[1].is_own]


@given(graphs())
def test_no_circle_closes_through_urls_that_patterns_share(graph: Graph) -> None:
    """Even where a URL of one pattern is one of another, no rule sends it back to where it came from."""
    kept = [graph.edges[number] for number in select_edges(graph)]
    kept = [edge for edge in kept if not edge.is_own]
    follows = nx.DiGraph(
        (one, other)
        for one in range(len(kept))
        for other in range(len(kept))
        if kept[other].source in graph.neighbours[kept[one].target]
    )
    assert nx.is_directed_acyclic_graph(follows)


@given(graphs(), st.sampled_from(STRATEGIES), st.integers(0, 1 << 32))
def test_chains_keep_within_the_bound(graph: Graph, strategy: Strategy, seed: int) -> None:
    """Every chain that is deployed was measured as a whole, whatever the measurement says."""

    def prove(edges: Sequence[int]) -> float:
        return (hash((seed, *edges)) % 100) / 1000  # between 0 and twice the bound

    for chain in chains_of(graph, select_edges(graph, strategy), prove, max_fpr=0.05):
        assert chain.fpr <= 0.05
        if len(chain.edges) > 1:
            assert chain.fpr == prove(chain.edges)
        for one, other in zip(chain.edges, chain.edges[1:], strict=False):
            assert graph.edges[one].target == graph.edges[other].source


def candidate(*texts: str, fpr: float | None = None) -> Candidate:
    """A candidate of rules in their text form."""
    rules = tuple(Rule.parse(text, site="shop.test") for text in texts)
    return Candidate(rules, support=1, counted="pairs", fpr=fpr)


def shop() -> SiteClusters:
    """Items in four forms, and articles that look like them but are pages of their own."""
    forms = ("/item/{}", "/show?id={}", "/old/item-{}.html", "/x/{}")
    rows = [(f"http://shop.test{form.format(n)}", f"item {n}") for n in range(12) for form in forms]
    rows += [(f"http://shop.test/news/{n}", f"article {n}") for n in range(12)]
    table = pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})
    return undust.find_duplicates(table).sites[0]


OLD_TO_SHOW = "rewrite http://shop.test/old/item-{n}.html → http://shop.test/show?id={n}"
SHOW_TO_ITEM = "rewrite http://shop.test/show?id={v} → http://shop.test/item/{v}"
OLD_TO_X = "rewrite http://shop.test/old/item-{n}.html → http://shop.test/x/{n}"
X_TO_ITEM = "rewrite http://shop.test/x/{v} → http://shop.test/item/{v}"
ITEM_TO_SHOW = "rewrite http://shop.test/item/{x} → http://shop.test/show?id={x}"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_candidates_of_any_learner_can_be_selected(strategy: Strategy) -> None:
    """Rules there and back, and one on top of them: one form for all three, and no circle."""
    candidates = [candidate(OLD_TO_SHOW), candidate(SHOW_TO_ITEM), candidate(ITEM_TO_SHOW)]
    chosen = select(candidates, shop(), strategy)
    rules = RuleSet(rule for each in chosen for rule in each.rules)
    assert not [problem for problem in rules.check() if "cycle" in str(problem)]
    canonical = rules.compile()
    for number in range(12):
        forms = (f"/item/{number}", f"/show?id={number}", f"/old/item-{number}.html")
        assert len({canonical(f"http://shop.test{form}") for form in forms}) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_of_no_candidates_none_is_selected(strategy: Strategy) -> None:
    """A site where nothing was learned is no error."""
    assert select([], shop(), strategy) == ()


def test_chains_become_one_rule() -> None:
    """Old pages go straight to where the items are, in one step."""
    chosen = select([candidate(OLD_TO_X), candidate(X_TO_ITEM)], shop())
    straight = "rewrite http://shop.test/old/item-{n}.html → http://shop.test/item/{n}"
    assert [str(rule) for each in chosen for rule in each.rules] == [straight, X_TO_ITEM]


def test_a_chain_that_is_worse_than_its_rules_is_cut() -> None:
    """News sent to items one by one look harmless; together with the items' own way they do not."""
    wrong = "rewrite http://shop.test/news/{n} → http://shop.test/show?id={n}"
    chosen = select([candidate(wrong, fpr=0.0), candidate(SHOW_TO_ITEM)], shop())
    assert [str(each.rules[0]) for each in chosen] == [SHOW_TO_ITEM]


def test_sides_have_no_names() -> None:
    """What a rule leads to is what another takes, whatever the captures are called."""
    first = Rule.parse("rewrite http://{h}/{a}/{n:int}?{r**} → http://{h}/x/{n}?{r}", site="shop.test")
    second = Rule.parse(
        "rewrite http://{host}/x/{number:int}?{rest**} → http://{host}/y?{rest}", site="shop.test"
    )
    assert right_side(first) == left_side(second)


HOST = "http://a.test"
RULES = [
    Rule("a.test", "rewrite", "{s}://{h}/x/{n}?{q**}", "{s}://{h}/y/{n}?{q}"),
    Rule("a.test", "rewrite", "{s}://{h}/{a}/{n}?s={**}&{q**}", "{s}://{h}/{a}/{n}?{q}"),
    Rule("a.test", "rewrite", "{s}://{h}/y/{*}?{q**}", "{s}://{h}/z?{q}"),
]
paths = st.builds(
    "/{}/{}{}".format, st.sampled_from("xyz"), st.sampled_from("12"), st.sampled_from(["", "?s=1", "?s=2"])
)


@settings(max_examples=60)
@given(
    pages=st.dictionaries(paths, st.sampled_from("abc"), min_size=1, max_size=14),
    chosen=st.lists(st.sampled_from(RULES), min_size=1, max_size=3, unique=True),
)
def test_the_share_of_false_pairs_is_that_of_a_recount(pages: dict[str, str], chosen: list[Rule]) -> None:
    """Of all pairs of URLs with one key, made by a rule or there before, those of two pages."""
    rows = [{"url": HOST + path, "cluster": page, "status": 200} for path, page in pages.items()]
    site = find_in_site(table(*rows), "a.test")
    key = RuleSet(chosen).compile().key
    labels = {HOST + path: page for path, page in pages.items()}
    touched = {key(url) for url in labels if key(url) != url}
    pairs = [
        labels[one] != labels[other]
        for one, other in combinations(labels, 2)
        if key(one) == key(other) and key(one) in touched
    ]
    expected = sum(pairs) / len(pairs) if pairs else 0.0
    assert TrialUrls(site).fpr(chosen) == pytest.approx(expected)


def test_sides_know_which_is_above_and_how_large() -> None:
    """The side of all URLs lies above those of some, the larger first; volumes are URLs, not rules."""
    rows = [{"url": f"{HOST}/x/{n}?s={n}", "cluster": str(n), "status": 200} for n in range(4)]
    rows += [{"url": f"{HOST}/y/{n}?s={n}", "cluster": str(n), "status": 200} for n in range(2)]
    measured = TrialUrls(find_in_site(table(*rows), "a.test"))
    wide = Rule("a.test", "rewrite", "{s}://{h}/{a}/{n}?s={**}", "{s}://{h}/{a}/{n}")
    middle = Rule("a.test", "rewrite", "{s}://{h}/x/{n}?s={**}", "{s}://{h}/x/{n}")
    narrow = Rule("a.test", "rewrite", "{s}://{h}/x/{n}?s=3", "{s}://{h}/x/{n}")
    graph = graph_of(
        [Candidate((rule,), support=1, counted="pairs") for rule in (wide, middle, narrow)], measured
    )
    sources = [edge.source for edge in graph.edges]
    assert [graph.volumes[source] for source in sources] == [6, 4, 1]
    assert graph.above[sources[0]] == ()
    assert graph.above[sources[1]] == (sources[0],)
    assert graph.above[sources[2]] == (sources[0], sources[1])
