"""What rules do to URLs whose pages are known, recounted pair by pair."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pages.clustering.sites import table
from undust.judging.candidates import Candidate
from undust.pages.clustering import find_in_site
from undust.proposing.papers.selection import TrialUrls, graph_of
from undust.rules import Rule, RuleSet

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
