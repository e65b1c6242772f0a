"""What is known of values, against counting pair by pair."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.pages.clustering.shapes import Membership, Shapes, differences, share_without
from undust.urls import Url

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

urls = st.lists(
    st.builds(
        "http://{}a.test{}{}".format,
        st.sampled_from(["", "www."]),
        st.sampled_from(["/", "/p/1", "/p/2", "/q/1", "/q/2", "/p"]),
        st.sampled_from(["", "?x=1", "?x=2", "?x=1&y=1", "?y=1&x=1", "?y=2&x=1", "?x=2;y=1"]),
    ),
    min_size=1,
    max_size=14,
    unique=True,
)


@cache
def parts(url: str) -> tuple[tuple[str, ...], dict[str, str | None]]:
    """A URL's skeleton and its values by key, taken apart plainly."""
    parsed = Url.parse(url)
    assert parsed is not None
    segments = () if parsed.path == "/" else parsed.segments
    values: dict[str, str | None] = {f"path_{i}": segment for i, segment in enumerate(segments)}
    values |= {f"?{name}": value for name, value in parsed.pairs("&;")}
    return (parsed.host, *sorted(values)), values


def compared(page: Sequence[int], contexts: Iterable[list[int]], members: set[int]) -> tuple[float, float]:
    """Share and weight: contexts one by one, pairs one by one, pairs within the group left out."""
    weight = differing = 0.0
    for inside in contexts:
        pairs = [(a, b) for a, b in combinations(inside, 2) if not {a, b} <= members]
        if pairs:
            others = len(inside) - max(1, len(members & set(inside)))
            weight += others
            differing += others * sum(page[a] != page[b] for a, b in pairs) / len(pairs)
    return (differing / weight if weight else 0.0), weight


def contexts_of(
    rows: list[str], page: list[int], key: str, skeleton: tuple[str, ...] | None = None
) -> dict[Hashable, list[int]]:
    """The URLs that differ in a key alone, of one skeleton or of all."""
    contexts: dict[Hashable, list[int]] = defaultdict(list)
    for row, url in enumerate(rows):
        own, values = parts(url)
        if page[row] >= 0 and key in values and skeleton in {own, None}:
            others = tuple(sorted((name, str(value)) for name, value in values.items() if name != key))
            contexts[own, others].append(row)
    return contexts


@given(urls, st.data())
def test_opinions_are_those_of_all_pairs(rows: list[str], data: st.DataObject) -> None:
    """For every group and every part of its URLs: values held, share of differing pairs, URLs compared."""
    page = data.draw(st.lists(st.integers(-1, 3), min_size=len(rows), max_size=len(rows)))
    numbers = sorted({number for number in page if number >= 0})
    groups = {at: {i for i, number in enumerate(page) if number == own} for at, own in enumerate(numbers)}
    pairs = [(group, node) for group, nodes in groups.items() for node in sorted(nodes)]
    shapes = Shapes.of(pa.array(rows))
    given_groups = Membership(
        np.array([group for group, _ in pairs], np.int64),
        np.array([node for _, node in pairs], np.int64),
        len(groups),
    )
    found = differences(shapes, np.array(page, np.int64), given_groups)
    expected = {
        (group, skeleton, key)
        for group, nodes in groups.items()
        for skeleton, values in (parts(rows[node]) for node in nodes)
        for key in values
    }
    assert len(found.group) == len(expected)
    by_number = {int(shapes.skeleton[row]): parts(url)[0] for row, url in enumerate(rows)}
    for at in range(len(found.group)):
        group, scope = int(found.group[at]), int(found.scope[at])
        skeleton = by_number[int(shapes.skeleton_of_scope[scope])]
        key = shapes.name(int(shapes.key_of_scope[scope]))
        assert (group, skeleton, key) in expected
        inside = [parts(rows[node]) for node in groups[group]]
        assert found.values[at] == len({values[key] for own, values in inside if own == skeleton})
        assert found.key_values[at] == len({values[key] for _, values in inside if key in values})
        in_skeleton = [row for row, url in enumerate(rows) if parts(url)[0] == skeleton]
        held = [
            len({values[name] for own, values in inside if own == skeleton})
            for name in parts(rows[in_skeleton[0]])[1]
            if len({parts(rows[row])[1][name] for row in in_skeleton}) > 1
        ]
        assert found.least_values[at] == min(held, default=np.iinfo(np.int64).max)
        alone, named, whole = (
            compared(page, contexts, groups[group])
            for contexts in (
                contexts_of(rows, page, key, skeleton).values(),
                contexts_of(rows, page, key).values() if key.startswith("?") else (),
                [[row for row in in_skeleton if page[row] >= 0]],
            )
        )
        assert (found.alone.share[at], found.alone.weight[at]) == pytest.approx(alone)
        assert (found.whole.share[at], found.whole.weight[at]) == pytest.approx(whole)
        assert found.named.weight[at] == pytest.approx(named[1])
        assert not named[1] or found.named.share[at] == pytest.approx(named[0])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans())))
def test_the_share_without_a_group_is_that_of_all_pairs(seen: list[tuple[int, int, bool]]) -> None:
    """Context by context, for a group of whatever size: none, one or many in each."""
    page = [0 if is_member else shown for _, shown, is_member in seen]
    contexts: dict[Hashable, list[int]] = defaultdict(list)
    for row, (context, _, _) in enumerate(seen):
        contexts[context].append(row)
    members = {row for row, (_, _, is_member) in enumerate(seen) if is_member}
    found = share_without(
        np.array([context for context, _, _ in seen], np.int64),
        np.array(page, np.int64),
        np.array([is_member for _, _, is_member in seen], np.bool_),
    )
    assert found == pytest.approx(compared(page, contexts.values(), members))
