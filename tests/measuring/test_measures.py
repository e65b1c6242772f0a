"""The measures: by hand, against a ten-line oracle, and as published."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.measuring.counts import is_near, measure
from undust.measuring.measures import Contingency, Measures

ROWS = st.lists(st.tuples(st.sampled_from("pqrstu"), st.sampled_from("ABCDEFG")), min_size=1, max_size=40)


def lei_example() -> tuple[list[str], list[str], list[str]]:
    """Return page, full image and half image of the 16 URLs of Lei et al., figure 4."""
    months = {10: ("01", "23"), 21: ("23", "01"), 35: ("02", "13"), 48: ("13", "02")}
    pages, full, half = [], [], []
    sessions = itertools.count()
    for page, (plain, displayed) in months.items():
        identifier = f"http://www.ex.com/*/{page}/display?sid=*"
        for _ in plain:
            pages.append(str(page))
            full.append(identifier)
            half.append(identifier)
        for month in displayed:
            pages.append(str(page))
            full.append(identifier)
            half.append(f"http://www.ex.com/archive{month}/{page}/display?sid={next(sessions)}")
    return pages, full, half


def test_pattern_tree_example_with_self_normalization() -> None:
    """All 16 URLs go to four identifiers: 0.75, 1, 24 pairs, none false."""
    pages, full, _ = lei_example()
    found = measure(pages, full)
    assert (found.urls, found.canonical_urls, found.clusters) == (16, 4, 4)
    assert found.compression_rate == 0.75
    assert found.dup_reduction_rate == 1.0
    assert (found.support_pairs, found.false_positive_pairs, found.fpr) == (24, 0, 0.0)
    assert (found.duplicate_clusters, found.collapsed_clusters) == (4, 4)


def test_pattern_tree_example_without_self_normalization() -> None:
    """URLs that are in the target already stay apart: 12 URLs, 0.25 and 0.111."""
    pages, _, half = lei_example()
    found = measure(pages, half)
    assert found.canonical_urls == 12
    assert found.compression_rate == 0.25
    assert found.dup_reduction_rate == pytest.approx(1 / 9)


@pytest.mark.parametrize(
    ("table", "rates"),
    [
        (Contingency(1679, 0, 235, 3343), (100.0, 93.43, 87.72, 95.53)),
        (Contingency(1206, 473, 235, 3343), (71.83, 93.43, 83.69, 86.53)),
        (Contingency(168, 1511, 0, 3578), (10.01, 100.0, 100.0, 71.26)),
    ],
    ids=["body text", "body text and page size", "standard normalization"],
)
def test_published_contingency_tables(table: Contingency, rates: tuple[float, ...]) -> None:
    """The tables of Soon and Lee give the rates they print."""
    found = (table.sensitivity, table.specificity, table.precision, table.accuracy)
    assert [100 * rate for rate in found] == pytest.approx(rates, abs=0.005)


def test_published_contingency_from_urls() -> None:
    """5,257 URLs of 3,578 pages, 1,914 of them removed and 235 wrongly: the table of Soon and Lee."""
    pages = [f"page {i}" for i in range(3578)] + [f"page {i}" for i in range(1679)]
    images = [f"page {max(i, 235)}" for i in range(3578)] + [f"page {max(i, 235)}" for i in range(1679)]
    assert measure(pages, images).contingency == Contingency(1679, 0, 235, 3343)


@given(ROWS)
def test_counts_equal_a_plain_count(rows: list[tuple[str, str]]) -> None:
    """Pairs, losses and joined pages, counted the long way."""
    found = measure([page for page, _ in rows], [image for _, image in rows])
    merged = [(a, b) for a, b in itertools.combinations(rows, 2) if a[1] == b[1]]
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for page, image in rows:
        groups[image][page] += 1
    graph = nx.Graph((("page", page), ("image", image)) for page, image in rows)
    pages = Counter(page for page, _ in rows)
    assert found == Measures(
        urls=len(rows),
        canonical_urls=len(groups),
        clusters=len(pages),
        joined_clusters=nx.number_connected_components(graph),
        sketches=len(pages),
        support_pairs=len(merged),
        false_positive_pairs=sum(a[0] != b[0] for a, b in merged),
        merged_urls=sum(group.total() for group in groups.values() if group.total() > 1),
        misplaced_urls=sum(group.total() - max(group.values()) for group in groups.values()),
        lost_pages=sum(len(group) - 1 for group in groups.values()),
        lost_unlike=sum(len(group) - 1 for group in groups.values()),
        duplicate_clusters=sum(count > 1 for count in pages.values()),
        collapsed_clusters=sum(
            count > 1 and sum(page in group for group in groups.values()) == 1
            for page, count in pages.items()
        ),
    )


@given(ROWS)
def test_contingency_counts_every_url_once(rows: list[tuple[str, str]]) -> None:
    """The four cells are counts, and add up to the URLs."""
    table = measure([page for page, _ in rows], [image for _, image in rows]).contingency
    cells = (table.true_positives, table.false_negatives, table.false_positives, table.true_negatives)
    assert min(cells) >= 0
    assert sum(cells) == len(rows)


@given(ROWS, ROWS)
def test_sites_add_up(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> None:
    """The counts of two sites are the sum of their counts."""
    apart = [measure([p for p, _ in rows], [i for _, i in rows]) for rows in (left, right)]
    both = [(f"L{p}", f"L{i}") for p, i in left] + [(f"R{p}", f"R{i}") for p, i in right]
    assert measure([p for p, _ in both], [i for _, i in both]) == apart[0] + apart[1]


def test_near_copies_are_forgiven_in_lost_but_not_in_lost_content() -> None:
    """A page merged into one that agrees in 29 of 32 minima is no loss to a crawler."""
    main, near, far = list(range(32)), list(range(29)) + [99] * 3, list(range(28)) + [99] * 4
    assert is_near(main, near)
    assert not is_near(main, far)
    assert not is_near(main, None)
    found = measure(["a", "a", "b", "c"], ["x"] * 4, {"a": main, "b": near, "c": far})
    assert (found.lost_pages, found.lost_unlike) == (2, 1)
    assert found.removed == 2.0  # one URL of `a`, and the near copy, of the one that had to go
    assert found.lost == pytest.approx(1 / 3)


def test_pages_without_a_sketch_are_each_their_own() -> None:
    """That one page has a sketch says nothing about those that have none."""
    pages, images = ["a", "a", "b", "b", "c", "d"], ["a1", "a2", "b", "b", "c", "d"]
    assert measure(pages, images, {"a": list(range(32))}) == measure(pages, images)


def test_where_there_is_nothing_to_reduce_nothing_is_reduced() -> None:
    """A site without duplicates is no success of any rule."""
    found = measure(["a", "b"], ["a", "b"])
    assert (found.removable, found.dup_reduction_rate, found.compression_rate) == (0, 0.0, 0.0)


RATES = [
    *("compression_rate", "duplicate_rate", "dup_reduction_rate", "coverage", "fpr", "url_fpr"),
    *("lost_content_rate", "removed", "lost", "cluster_reduction"),
]


@given(ROWS)
def test_every_rate_lies_in_its_interval(rows: list[tuple[str, str]]) -> None:
    """An interval holds the rate it was made for, and every rate has one."""
    found = measure([page for page, _ in rows], [image for _, image in rows])
    table = found.contingency
    rates = {name: getattr(found, name) for name in RATES} | {"reduction_ratio": found.compression_rate}
    rates |= {name: getattr(table, name) for name in ("sensitivity", "specificity", "precision", "accuracy")}
    intervals = found.intervals()
    assert intervals.keys() == rates.keys()
    for name, (low, high) in intervals.items():
        assert low <= high <= 1, name
        assert low >= 0 or name == "dup_reduction_rate"  # false merges can leave more duplicates than before
        assert low - 1e-9 <= min(1, rates[name]) <= high + 1e-9, name
