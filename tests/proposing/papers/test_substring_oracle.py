"""The substring learner equals the figures of the paper, rule for rule and count for count."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import substring as oracle
from tests.proposing.papers.labelled import proposed, rules_of, site_of_rows
from undust.proposing.papers.substring import SubstringOptions, cues_of, likely_pairs
from undust.proposing.papers.substring.replacements import TokenPieces
from undust.urls.views import TokenView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.pages.clustering import SiteClusters

Row = dict[str, Any]

WITH_PAGES = 50
"""Pairs whose pages the oracle counts: it goes through all URLs for each."""


def rows_of(seed: int, count: int, kind: str) -> list[Row]:
    """Observations of a site whose URLs meet often, each with some evidence, or none."""
    chance = random.Random(seed)
    words = ["a", "b", "index", "html", "story", "x1", "%20", "www", "-", "_"]
    found: dict[str, Row] = {}
    for _ in range(count):
        host = chance.choice(["", "www.", "m."])
        path = "".join(chance.choice([*words, "/", "."]) for _ in range(chance.randint(0, 6)))
        names = chance.sample(["id", "sid", "a%20"], chance.randint(0, 2))
        query = "&".join(f"{name}{chance.choice(['=1', '=2', '=b.c', '=', ''])}" for name in names)
        url = f"http://{host}s.test/{path}" + (f"?{query}" if query else "")
        found[url] = {"url": url, "status": 200} | evidence(chance, kind)
    return list(found.values())


def evidence(chance: random.Random, kind: str) -> Row:
    """What is known of a page: one of few contents, so that many agree."""
    content = chance.randrange(4)
    minima = [content * 100 + i for i in range(8)]
    if chance.random() < 0.3:
        minima[: chance.randint(1, 6)] = [chance.randrange(10**6) for _ in range(chance.randint(1, 1))]
        minima = (minima + [7] * 8)[:8]
    known: dict[str, Row] = {
        "label": {"cluster": f"page {content}"},
        "digest": {"digest": f"digest {content}"},
        "sketch": {"digest": f"digest {minima}", "sketch": minima},
        "size": {"size": chance.randrange(10, 14)},
        "nothing": {},
    }
    return known[chance.choice(list(known)) if kind == "mixed" else kind]


def records_of(site: SiteClusters, nodes: Sequence[int], options: SubstringOptions) -> list[oracle.Record]:
    """What the oracle is told, straight from the columns of the site."""
    records = []
    for node in nodes:
        speaker = int(site.speakers[node])
        known = bool(site.known[speaker])
        sizes = (int(site.size_min[speaker]), int(site.size_max[speaker]))
        has_sizes = sizes[1] >= 0 and not site.distrusted[speaker]
        by_content, by_size = options.evidence in {"auto", "content"}, options.evidence in {"auto", "size"}
        label, row, digest = (int(column[speaker]) for column in (site.label, site.sketch_row, site.digest))
        records.append(
            oracle.Record(
                url=site.node_urls[node].as_py(),
                page=int(site.cluster_of_node[node]) if by_content else None,
                label=str(label) if by_content and label >= 0 else None,
                sketch=tuple(site.sketches[row].tolist()) if by_content and known and row >= 0 else None,
                digest=str(digest)
                if by_content and known and digest >= 0 and not site.is_changing[speaker]
                else None,
                sizes=sizes if by_size and has_sizes else None,
            )
        )
    return records


def agrees(site: SiteClusters, options: SubstringOptions) -> int:
    """Compare all three phases with the oracle; return how many pairs there were."""
    nodes = np.flatnonzero(site.cluster_of_node >= 0)
    records = records_of(site, nodes.tolist(), options)
    always = options.evidence == "none"
    likely = (lambda *_: True) if always else partial(oracle.likely_similar, delta=options.delta)
    low, high = oracle.supports(
        records,
        longest=options.max_length,
        largest=(options.max_bucket, options.max_bucket_compared),
        likely=likely,
        style=options.tokens,
    )
    expected = oracle.ranked(low, options.min_support)
    kept = oracle.eliminate(
        expected,
        high,
        relative=options.relative_deficiency,
        absolute=options.absolute_deficiency,
        window=options.window,
    )
    view = TokenView.of(site.node_urls.take(pa.array(nodes)), options.tokens)
    cues = cues_of(site, nodes, options.evidence, options.delta)
    found = likely_pairs(view, cues, options)
    sides = (TokenPieces(view).written(places).texts for places in (found.longer, found.shorter))
    told = list(zip(*sides, found.support.tolist(), found.compared.tolist(), strict=True))
    assert told == [
        (oracle.text_of(pair[0]), oracle.text_of(pair[1]), low[pair], high[pair]) for pair in expected
    ]
    left = [pair[:2] for pair, gone in zip(told, found.is_redundant.tolist(), strict=True) if not gone]
    assert left == [(oracle.text_of(alpha), oracle.text_of(beta)) for alpha, beta in kept]
    pages = found.pages(np.arange(len(found)), cues).tolist()
    assert pages[:WITH_PAGES] == oracle.pages_of(records, expected[:WITH_PAGES], options.tokens)
    if not always:
        names = oracle.parameters(
            records, likely=likely, least=options.min_support, compared=options.compared_values
        )
        proposal = _only_parameters(site, options)
        assert [each.pages for each in proposal.candidates[::2]] == [name[4] for name in names]
        rules = [rule for rule in rules_of(proposal) if rule.startswith("rewrite")]
        assert rules == [
            f"rewrite {{s}}://{{h}}/{{p**}}?{name}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{query}"
            for name, value, _, is_last, _ in names
            for query in ("{rest}", f"{{rest}}&{name}={value}" if is_last else f"{name}={value}&{{rest}}")
        ]
    return len(told)


def _only_parameters(site: SiteClusters, options: SubstringOptions) -> Any:  # noqa: ANN401
    return proposed(
        site,
        "substring",
        substitutions=False,
        evidence=options.evidence,
        delta=options.delta,
        min_support=options.min_support,
        compared_values=options.compared_values,
        tokens=options.tokens,
    )


OPTIONS = st.builds(
    SubstringOptions,
    max_length=st.integers(0, 40),
    max_bucket=st.integers(0, 9),
    max_bucket_compared=st.integers(0, 14),
    min_support=st.integers(1, 4),
    relative_deficiency=st.sampled_from([0.0, 0.05, 0.3]),
    absolute_deficiency=st.sampled_from([0.0, 1.0, 2.0]),
    window=st.sampled_from([0, 1, 10, 1100]),
    evidence=st.sampled_from(["auto", "content", "size", "none"]),
    delta=st.sampled_from([0.0, 0.1, 0.5]),
    tokens=st.sampled_from(["triplets", "words"]),
    compared_values=st.sampled_from([2, 3, 64]),
    memory_mb=st.sampled_from([1, 64]),
    threads=st.sampled_from([1, 2]),
)
KINDS = ("mixed", "label", "digest", "sketch", "size", "nothing")


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from(KINDS), OPTIONS)
def test_small_lists(seed: int, count: int, kind: str, options: SubstringOptions) -> None:
    """Any list, any evidence, any parameters."""
    agrees(site_of_rows(rows_of(seed, count, kind)), options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "kind", "options"),
    [
        (1, "mixed", SubstringOptions(max_length=12, memory_mb=1, threads=2)),
        (2, "sketch", SubstringOptions(max_length=8, max_bucket=9, max_bucket_compared=14, delta=0.5)),
        (3, "size", SubstringOptions(max_length=35, tokens="words")),
    ],
)
def test_lists_of_two_thousand(seed: int, kind: str, options: SubstringOptions) -> None:
    """The same at the size that the oracle can finish."""
    chance = random.Random(seed)
    rows = rows_of(seed, 3000, kind)
    assert agrees(site_of_rows(chance.sample(rows, min(2000, len(rows)))), options) > 100


@pytest.mark.huge
@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(60, 3000), st.sampled_from(KINDS), OPTIONS)
def test_large_lists(seed: int, count: int, kind: str, options: SubstringOptions) -> None:
    """Any parameters at that size too."""
    rows = rows_of(seed, count, kind)
    agrees(site_of_rows(random.Random(seed).sample(rows, min(2000, len(rows)))), options)


@pytest.mark.parametrize("kind", ["mixed", "nothing"])
def test_order_threads_and_memory_change_nothing(kind: str) -> None:
    """Row order, threads, passes and files are not seen in what is proposed, but for the note on passes."""
    rows = rows_of(5, 1500, kind)
    first = proposed(site_of_rows(rows), "substring")
    assert len(first.candidates) > 50
    random.Random(7).shuffle(rows)
    site = site_of_rows(rows)
    for options in ({"threads": 2}, {"memory_mb": 1}, {"memory_mb": 1, "threads": 2}):
        again = proposed(site, "substring", **options)
        assert again.candidates == first.candidates
        assert again.cut == first.cut


def test_what_does_not_fit_is_counted_on_disk() -> None:
    """With a megabyte there are many passes and files, and the same pairs."""
    rows = rows_of(6, 2500, "nothing")
    site = site_of_rows(rows)
    nodes = np.flatnonzero(site.cluster_of_node >= 0)
    view = TokenView.of(site.node_urls.take(pa.array(nodes)))
    cues = cues_of(site, nodes, "none", 0.0)
    roomy = likely_pairs(view, cues, SubstringOptions(memory_mb=512))
    tight = likely_pairs(view, cues, SubstringOptions(memory_mb=1, threads=2))
    assert roomy.spilled_bytes == 0
    assert roomy.passes == 1
    assert tight.spilled_bytes > 0
    assert tight.passes > 2  # more than one for each thread
    for column in ("longer", "shorter"):
        texts = [TokenPieces(view).written(getattr(pairs, column)).texts for pairs in (roomy, tight)]
        assert texts[0] == texts[1]
    assert (roomy.support == tight.support).all()
    assert (roomy.compared == tight.compared).all()
