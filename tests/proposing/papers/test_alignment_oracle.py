"""Alignment against its plain twin: scores, consensus, and all rules of random small sites."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

import undust
from tests.oracles import alignment as oracle
from tests.oracles import alignment_rules as rules_oracle
from tests.proposing.papers.labelled import labelled
from undust.proposing.papers.alignment import AlignmentOptions, propose_by_alignment
from undust.proposing.papers.alignment.groups import GAP, chosen, consensus

if TYPE_CHECKING:
    from undust.judging.verdict import Proposal
    from undust.pages.clustering import SiteClusters

SHARED = tuple(oracle.Settings.__dataclass_fields__)
words = st.sampled_from(["a", "b", "ab", "1", "2", "12", ".", "-", "/", "=", "%20"])
sequences = st.lists(words, min_size=1, max_size=9).map("".join)
choices = st.fixed_dictionaries(
    {
        "aligner": st.sampled_from(["plain", "plain", "anchored", "banded"]),
        "band": st.integers(1, 4),
        "scoring": st.sampled_from(["typed", "typed", "jaccard"]),
        "order": st.sampled_from(["score", "share"]),
        "gaps_count": st.booleans(),
        "triplets": st.booleans(),
        "whole_parts": st.booleans(),
        "word_runs": st.booleans(),
        "either_reading": st.just(value=False),
        "across_hosts": st.booleans(),
        "max_members": st.integers(1, 5),
        "max_forms": st.sampled_from([1, 2, 4, 8]),
        "halves": st.booleans(),
        "min_clusters": st.integers(1, 3),
        "constant_share": st.sampled_from([0.0, 0.5, 0.9]),
    }
)


def twin_of(options: dict[str, Any]) -> oracle.Settings:
    """The oracle's settings."""
    return oracle.Settings(**{name: value for name, value in options.items() if name in SHARED})


@settings(max_examples=60)
@given(texts=st.lists(sequences, min_size=2, max_size=5, unique=True), options=choices)
def test_consensus_and_score(texts: list[str], options: dict[str, Any]) -> None:
    """Columns and scores are those of the plain dynamic program."""
    found = consensus(texts, AlignmentOptions(**options))
    score, rows = oracle.align(texts, twin_of(options))
    assert str(found) == oracle.consensus(rows)
    assert found.score == score


@settings(max_examples=50)
@given(left=sequences, right=sequences, scoring=st.sampled_from(["typed", "jaccard"]), gaps=st.booleans())
def test_anchors_cost_no_score(left: str, right: str, scoring: str, *, gaps: bool) -> None:
    """Matching common beginnings and ends first finds an alignment as good as any."""
    plain, anchored = (
        consensus([left, right], AlignmentOptions(aligner=aligner, scoring=scoring, gaps_count=gaps))
        for aligner in ("plain", "anchored")
    )
    assert anchored.score == plain.score


@settings(max_examples=50)
@given(
    texts=st.lists(sequences, min_size=2, max_size=6, unique=True), options=choices, seed=st.integers(0, 9)
)
def test_every_sequence_can_be_read_back(texts: list[str], options: dict[str, Any], seed: int) -> None:
    """Each source is in its consensus, in order; elsewhere there is a gap. The order of texts is nothing."""
    found = consensus(texts, AlignmentOptions(**options))
    for text, places in zip(sorted(texts), found.places, strict=True):
        tokens = oracle.tokens(text, triplets=options["triplets"])
        assert len(places) == len(tokens)
        assert list(places) == sorted(set(places))
        assert all(token in found.spots[place].tokens for token, place in zip(tokens, places, strict=True))
        missing = set(range(len(found.spots))) - set(places)
        assert all(found.spots[place].has_gap for place in missing)
    for place, spot in enumerate(found.spots):
        assert spot.has_gap == any(place not in places for places in found.places)
        assert GAP not in spot.tokens
    shuffled = list(texts)
    random.Random(seed).shuffle(shuffled)
    assert consensus(shuffled, AlignmentOptions(**options)) == found


parts = st.sampled_from(["a", "b", "ab1", "7", "12", "a-b", "x.html", "index.html", "%20c", "a;s=1"])
values = st.sampled_from(["1", "2", "33", "ab", "a1b", "", "a/b", "x-y"])


@st.composite
def small_urls(draw: st.DrawFn) -> str:
    """A URL of few parts, so that much is equal by chance."""
    host = draw(st.sampled_from(["x.test", "x.test", "www.x.test", "m.x.test", "x.test:81"]))
    path = "/".join(draw(st.lists(parts, max_size=3)))
    pairs = [
        f"{name}={draw(values)}" for name in draw(st.lists(st.sampled_from(["p", "q", "sid"]), max_size=2))
    ]
    query = f"?{'&'.join(pairs)}" if pairs else ""
    return f"{draw(st.sampled_from(['http', 'http', 'https']))}://{host}/{path}{query}"


TEMPLATES = (
    "http://x.test/p{n}.html",
    "http://x.test/p{n}.html?sid={r}",
    "http://x.test/show.php?id={n}",
    "http://x.test/show.php?sid={r}&id={n}",
    "http://www.x.test/p{n}.html",
    "https://x.test/p{n}.html",
    "http://x.test/p{n}.html?page=1",
    "http://x.test/{w}-{r}/{n}",
    "http://x.test/{w}/{n}/index.html",
    "http://m{r}.x.test/{w}/{n}/",
    "http://x.test/news/{n}/-{n}.shtml",
    "http://x.test/print.pl?sid={n}/{n}",
    "http://x.test/{w}-b-{w}-p{n}.html",
    "http://x.test/{w}_{r}-{n}-c{r}a",
    "http://x.test/item-{n}-{w}-b-a",
)


@st.composite
def regular_sites(draw: st.DrawFn) -> dict[str, str]:
    """Pages in the same few forms: rules hold on them."""
    forms = draw(st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=4, unique=True))
    pages: dict[str, str] = {}
    for number in range(draw(st.integers(1, 6))):
        for form in forms:
            for _ in range(draw(st.integers(1, 2))):
                url = form.format(n=number + 5, r=draw(st.integers(0, 30)), w=draw(st.sampled_from("abc")))
                pages.setdefault(url, str(number))
    return pages


small_sites = st.dictionaries(small_urls(), st.sampled_from("0123"), min_size=2, max_size=14)


def renamed(text: str) -> str:
    """Rules with their captures named in the order of their appearance."""
    names: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return f"{{{names.setdefault(found[1], f'n{len(names)}')}{found[2]}"

    return re.sub(r"\{([A-Za-z_][A-Za-z0-9_]*)([:}])", name, text)


def samples_of(site: SiteClusters, options: AlignmentOptions) -> list[rules_oracle.Sample]:
    """The groups that are aligned, as texts."""
    nodes, group, clusters = chosen(site.cluster_of_node, options)
    urls = site.node_urls.to_pylist()
    samples: list[rules_oracle.Sample] = [(int(cluster), []) for cluster in clusters]
    for node, number in zip(nodes.tolist(), group.tolist(), strict=True):
        samples[number][1].append(urls[node])
    return [sample for sample in samples if len(sample[1]) > 1]


def figures(proposal: Proposal) -> dict[str, tuple[int, int]]:
    """The rules of a proposal with clusters and pairs."""
    return {
        renamed("\n".join(map(str, each.rules))): (each.pages, each.support) for each in proposal.candidates
    }


@settings(max_examples=60)
@given(
    pages=st.one_of(small_sites, regular_sites()),
    options=choices,
    sample=st.integers(2, 5),
    samples=st.integers(1, 3),
)
def test_equal_to_the_oracle(
    pages: dict[str, str], options: dict[str, Any], sample: int, samples: int
) -> None:
    """Every rule, the clusters and pairs behind it, and what was cut."""
    pages = {undust.normalize(url): page for url, page in pages.items()}
    site = labelled(pages)
    told = AlignmentOptions(**options, sample=sample, samples=samples)
    found = propose_by_alignment(site, told)
    expected, cut = rules_oracle.learn(samples_of(site, told), site.site, twin_of(options))
    event(f"rules: {min(3, len(expected))}")
    assert figures(found) == {renamed(text): numbers for text, numbers in expected.items()}
    assert {what: many for what, many in found.cut.items() if not what.startswith("URLs")} == dict(cut)


@settings(max_examples=30)
@given(pages=st.one_of(small_sites, regular_sites()), seed=st.integers(0, 3), sample=st.integers(2, 5))
def test_order_is_nothing(pages: dict[str, str], seed: int, sample: int) -> None:
    """Neither the order of URLs in a cluster nor that of clusters, nor their labels, changes anything."""
    options = AlignmentOptions(sample=sample, min_clusters=1)
    rows = list(pages.items())
    random.Random(seed).shuffle(rows)
    turned = {url: f"page {9 - int(page)}" for url, page in rows}
    assert propose_by_alignment(labelled(turned), options) == propose_by_alignment(labelled(pages), options)


def test_samples_of_a_large_cluster() -> None:
    """Samples share one URL with the next, so that no pair comes twice; the seed decides which."""
    urls = {f"http://x.test/{number}": "0" for number in range(40)} | {"http://x.test/a": "1"}
    site = labelled(urls)
    picked = [samples_of(site, AlignmentOptions(sample=5, samples=3, seed=seed)) for seed in (0, 0, 1)]
    assert picked[0] == picked[1] != picked[2]
    sizes = [len(sample) for _, sample in picked[0]]
    pairs = {(a, b) for _, sample in picked[0] for a in sample for b in sample if a < b}
    assert sizes == [5, 5, 5]
    assert len(pairs) == 3 * 10
    assert len({url for _, sample in picked[0] for url in sample}) == 13
    chain = samples_of(site, AlignmentOptions(sample=2, samples=1000))
    assert len(chain) == 39
    assert len({url for _, sample in chain for url in sample}) == 40
    assert [len(sample) for _, sample in samples_of(site, AlignmentOptions(sample=40))] == [40]
