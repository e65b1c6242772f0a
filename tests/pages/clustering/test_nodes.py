"""Sightings merged: what a node knows after several of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.clustering.sites import shuffled, sketch, table
from undust.pages.clustering.nodes import Nodes, nodes_of

A = "http://a.test/x"


def one(*rows: dict[str, Any]) -> tuple[Nodes, int]:
    """The nodes of some sightings, and the place of `A`."""
    nodes = nodes_of(table(*rows), "a.test")
    return nodes, nodes.urls.to_pylist().index(A)


def at(hour: int) -> datetime:
    """A time."""
    return datetime(2026, 11, 15, hour, tzinfo=UTC)


def test_urls_equal_in_normal_form_are_one_node() -> None:
    """Every URL as seen is kept, and leads to its node."""
    nodes = nodes_of(table({"url": "HTTP://A.test:80/x"}, {"url": A}, {"url": A + "#top"}), "a.test")
    assert nodes.urls.to_pylist() == [A]
    assert nodes.seen_urls.to_pylist() == ["HTTP://A.test:80/x", A, A + "#top"]
    assert nodes.seen_nodes.tolist() == [0, 0, 0]


def test_sizes_become_a_range() -> None:
    """The smallest and the largest of all sightings; parts and unchanged pages do not count."""
    rows: list[dict[str, Any]] = [{"url": A, "size": size, "status": 200} for size in (20, 10, 15)]
    others: list[dict[str, Any]] = [
        {"url": A, "size": 3, "status": 206},
        {"url": A, "size": 0, "status": 304},
        {"url": A},
    ]
    nodes, place = one(*rows, *others)
    assert (nodes.size_min[place], nodes.size_max[place]) == (10, 20)


@pytest.mark.parametrize("status", [400, 404, 410, 500, 503])
def test_errors_are_dropped_and_counted(status: int) -> None:
    """A URL that only failed is no node; one that failed once is."""
    nodes, place = one(
        {"url": A, "status": status, "digest": "error"},
        {"url": A, "status": 200, "digest": "page"},
        {"url": "http://a.test/gone", "status": status, "digest": "error"},
    )
    assert nodes.urls.to_pylist() == [A]
    assert nodes.digest[place] == 0
    assert (nodes.counts.sightings, nodes.counts.failed) == (3, 2)


def test_the_latest_content_counts() -> None:
    """Digest and sketch come from one sighting, the last that has any; canonical and label likewise."""
    nodes, place = one(
        {"url": A, "time": at(1), "digest": "z", "sketch": sketch("old"), "canonical": "http://a.test/old"},
        {"url": A, "time": at(3), "digest": "b", "sketch": sketch("new"), "cluster": "L"},
        {"url": A, "time": at(2), "digest": "y", "sketch": sketch("older"), "canonical": "http://a.test/y"},
        {"url": A, "time": at(4), "size": 9},
        {"url": "http://a.test/z", "digest": "a"},
    )
    assert nodes.digest[place] == 1
    assert nodes.sketches[nodes.sketch_row[place]].tolist() == sketch("new")
    assert nodes.texts([nodes.canonical[place]]) == ["http://a.test/y"]
    assert nodes.label[place] == 0
    assert nodes.is_changing[place]
    assert nodes.counts.changing == 1


def test_a_redirect_and_what_came_before() -> None:
    """Whether a node redirects is decided by its last sighting."""
    page = {"url": A, "status": 200, "digest": "d", "time": at(1)}
    redirect = {"url": A, "status": 301, "redirect": "http://a.test/y", "time": at(2)}
    nodes, place = one(page, redirect)
    assert nodes.redirects[place]
    assert nodes.texts([nodes.redirect[place]]) == ["http://a.test/y"]
    assert not nodes.has_content.any()
    nodes, place = one(page | {"time": at(3)}, redirect)
    assert not nodes.redirects[place]
    assert nodes.redirect[place] == -1
    assert nodes.has_content[place]


def test_redirects_elsewhere_and_to_itself() -> None:
    """To another site: counted, no evidence. To itself, as pages do that reload: no redirect."""
    nodes, place = one({"url": A, "status": 302, "redirect": "https://other.test/"})
    assert (nodes.redirect[place], nodes.redirects[place], nodes.counts.leaving) == (-1, True, 1)
    nodes, place = one({"url": A, "status": 200, "redirect": A + "#now", "digest": "d"})
    assert (nodes.redirects[place], nodes.has_content[place], nodes.counts.leaving) == (False, True, 0)


def test_targets_that_were_not_seen_are_no_observed_nodes() -> None:
    """A canonical on the same site gets a node, one on another site does not."""
    nodes, _ = one(
        {"url": A, "canonical": "http://a.test/c"}, {"url": A + "2", "canonical": "http://b.test/"}
    )
    seen = dict(zip(nodes.urls.to_pylist(), nodes.observed.tolist(), strict=True))
    assert seen == {"http://a.test/c": False, A: True, A + "2": True}


def test_sketches_of_another_size_and_of_nothing() -> None:
    """The usual size wins, others are counted; the sketch of an empty text is none."""
    nodes, place = one(
        {"url": A, "sketch": [1, 2, 3, 4], "digest": "d"},
        *({"url": f"http://a.test/{i}", "sketch": sketch(i)} for i in range(3)),
        {"url": "http://a.test/empty", "sketch": [0xFFFFFFFF] * 32},
    )
    assert nodes.sketch_row[place] == -1
    assert nodes.sketches.shape == (3, 32)
    assert nodes.counts.odd_sketches == 1


def test_missing_columns_and_no_rows() -> None:
    """A list of URLs is enough, and so is an empty one."""
    nodes = nodes_of(table({"url": A}).select(["url"]), "a.test")
    assert len(nodes) == 1
    assert len(nodes_of(table(), "a.test")) == 0


rows_of_few_urls = st.lists(
    st.fixed_dictionaries(
        {"url": st.sampled_from([A, "http://A.test/x", "http://a.test/y"])},
        optional={
            "status": st.sampled_from([200, 301, 304, 404]),
            "size": st.integers(0, 5),
            "digest": st.sampled_from(["d", "e"]),
            "sketch": st.sampled_from([[1, 2], [2, 1], [3, 3, 3]]),
            "canonical": st.sampled_from([A, "http://a.test/c", "no url"]),
            "redirect": st.sampled_from([A, "http://a.test/r", "http://b.test/"]),
            "time": st.sampled_from([at(1), at(2)]),
            "cluster": st.sampled_from(["k", "l"]),
        },
    ),
    max_size=8,
)


@given(rows_of_few_urls, st.integers(0, 9))
def test_row_order_cannot_be_seen(rows: list[dict[str, Any]], seed: int) -> None:
    """Whatever the sightings, and however many at one time, their order changes nothing."""
    seen = table(*rows)
    left, right = nodes_of(seen, "a.test"), nodes_of(shuffled(seen, seed), "a.test")
    assert left.urls.equals(right.urls)
    assert left.seen_urls.equals(right.seen_urls)
    assert left.counts == right.counts
    for name, value in vars(left).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, vars(right)[name]), name


LONG = "&".join(f"name{number}={number}" for number in range(40))
odd_urls = st.sampled_from(
    (
        "http://a.test/b?{}",
        "HTTP://A.test/b?{}",
        "http://a.test/b?{}#top",
        "http://a.test/c?{}",
        "not a URL {}",
    )
)


@given(st.lists(st.builds(lambda form, end: form.format(LONG) + end, odd_urls, st.sampled_from("123"))))
def test_long_urls_are_numbered_as_short_ones_are(urls: list[str]) -> None:
    """They are sorted instead of held in a dictionary, and brought to normal form a few at a time."""
    rows = table(*({"url": url, "digest": url[-1]} for url in (A, *urls)))
    found = []
    for long_text, size in ((200, 16_384), (1 << 20, 16_384), (0, 2)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("undust.pages.clustering.nodes._LONG_TEXT", long_text)
            patch.setattr("undust.pages.clustering.nodes._SLICE", size)
            nodes = nodes_of(rows, "a.test")
        found.append(
            (
                nodes.urls.to_pylist(),
                nodes.seen_urls.to_pylist(),
                nodes.seen_nodes.tolist(),
                nodes.digest.tolist(),
            )
        )
    assert found[0] == found[1] == found[2]
