"""Real crawls: clusters against the labels that were made for judging, never for learning."""

from __future__ import annotations

import gzip
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import pytest

import undust

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from undust.pages.clustering import SiteClusters

NEAR = 29
"""Of 32 minima: pages this much alike are forgiven, as they are when rules are judged."""
LEAST_FOUND = {
    "backdrop": 0.99, "cgit": 0.99, "docs": 0.99, "dokuwiki": 0.99, "opencart": 0.6, "smf": 0.99, "trac": 0.5,
}  # fmt: skip
"""Share of the labelled pairs; one label of opencart and one of trac are pages that say "nothing found"."""
LIES = {
    "cgit": "soft-404 or empty result",
    "opencart": "soft-404 or empty result",
    "smf": "canonical contradicts content",
    "trac": "soft-404 or empty result",
}


def labels_of(path: Path) -> dict[str, str]:
    """The page that each URL shows."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        next(lines)
        return dict(line.rstrip("\n").split("\t") for line in lines)


def pairs(counts: list[int]) -> int:
    """Pairs within groups."""
    return sum(count * (count - 1) // 2 for count in counts)


@pytest.mark.parametrize("name", sorted(LEAST_FOUND))
def test_clusters_of_a_real_crawl(name: str, needs_data: Callable[[str], Path]) -> None:
    """All but one in a thousand joined pairs are one page or near copies; most labelled pairs are joined."""
    labels = labels_of(needs_data(f"crawls/{name}.labels.tsv.gz"))
    (site,) = undust.find_duplicates(undust.read(needs_data(f"crawls/{name}.jsonl.gz")))
    together: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for url, cluster, node in zip(
        site.urls.to_pylist(), site.cluster.tolist(), site.node.tolist(), strict=True
    ):
        if url in labels:
            together[cluster][labels[url]].append(node)
    joined = pairs([sum(map(len, pages.values())) for pages in together.values()])
    right = pairs([len(nodes) for pages in together.values() for nodes in pages.values()])
    wrong = sum(
        len(pages[left]) * len(pages[right])
        for pages in together.values()
        for left, right in combinations(pages, 2)
        if not is_near(site, pages[left], pages[right])
    )
    counts: dict[str, int] = defaultdict(int)
    for page in labels.values():
        counts[page] += 1
    assert wrong <= 0.001 * joined
    assert right >= LEAST_FOUND[name] * pairs(list(counts.values()))
    if name in LIES:
        assert LIES[name] in {group.kind for group in site.found}


def is_near(site: SiteClusters, left: list[int], right: list[int]) -> bool:
    """Whether two pages are near copies, by the first sketch of each."""
    first, second = (site.sketch_row[nodes] for nodes in (left, right))
    first, second = first[first >= 0], second[second >= 0]
    if not len(first) or not len(second):
        return False
    return bool((site.sketches[first[0]] == site.sketches[second[0]]).sum() >= NEAR)
