"""Connected components: the core against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust import _core

graphs = st.integers(1, 60).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=2 * count),
    )
)


def found(edges: list[tuple[int, int]], count: int) -> list[int]:
    """What the core says."""
    left, right = (np.array([edge[end] for edge in edges], np.int64) for end in (0, 1))
    numbers: list[int] = pa.array(_core.components(left, right, count)).to_pylist()
    return numbers


@given(graphs)
def test_components_are_those_of_networkx(drawn: tuple[int, list[tuple[int, int]]]) -> None:
    """Each node gets the smallest node of its component, in any graph."""
    count, edges = drawn
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(count))
    expected = {node: min(part) for part in nx.connected_components(graph) for node in part}
    assert found(edges, count) == [expected[node] for node in range(count)]


@given(graphs, st.randoms(use_true_random=False))
def test_order_and_direction_do_not_matter(
    drawn: tuple[int, list[tuple[int, int]]], chance: st.DataObject
) -> None:
    """Edges may come in any order, either way round, and twice."""
    count, edges = drawn
    other = [(right, left) for left, right in edges] + edges[:3]
    chance.shuffle(other)  # type: ignore[attr-defined]
    assert found(other, count) == found(edges, count)


def test_a_large_random_graph() -> None:
    """A hundred thousand nodes, as many edges as make it interesting."""
    chance = np.random.default_rng(1)
    count = 100_000
    left, right = chance.integers(0, count, (2, count // 2))
    graph = nx.Graph(zip(left.tolist(), right.tolist(), strict=True))
    graph.add_nodes_from(range(count))
    expected = np.empty(count, np.int64)
    for part in nx.connected_components(graph):
        expected[list(part)] = min(part)
    assert np.array_equal(np.asarray(pa.array(_core.components(left, right, count))), expected)


@pytest.mark.parametrize(
    ("left", "right", "count"), [([0], [3], 3), ([-1], [0], 3), ([0, 1], [1], 3), ([], [], -1)]
)
def test_edges_that_lead_nowhere_are_refused(left: list[int], right: list[int], count: int) -> None:
    """A wrong number is an error, and no stray write."""
    with pytest.raises((IndexError, ValueError)):
        _core.components(np.array(left, np.int64), np.array(right, np.int64), count)
