"""How alike two sightings of one page are on a site, what changes between them, and real examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from undust.pages.self_similarity import (
    FETCHED_TWICE,
    NUMBERS_FEATURE,
    ORDER_FEATURE,
    TITLE_FEATURE,
    TWO_PAGES,
    WORDS_FEATURE,
    PairSample,
    block_changes,
    samples,
)

if TYPE_CHECKING:
    from undust.showing.report.material import Material

FETCH_EXAMPLES = 3


def fetches(material: Material) -> dict[str, Any] | None:
    """Return how pages differ from themselves; None where the input does not have the blocks of pages."""
    clusters = material.clusters
    if not clusters.evidence_of_pairs.has_blocks:
        return None
    left, right = clusters.pairs_in_clusters()
    together = left[left > right], right[left > right]
    found = list(samples(clusters.evidence_of_pairs, together, clusters.cluster_of_node))
    same = [sample for sample in found if sample.kind != TWO_PAGES]
    return {
        "fetched_twice": next((len(sample) for sample in same if sample.kind == FETCHED_TWICE), 0),
        "rows": [_row(sample) for sample in found],
        "examples": _examples(material, same),
    }


def _row(sample: PairSample) -> dict[str, Any]:
    return {
        "kind": sample.kind,
        "pairs": len(sample),
        "words": sample.median_words,
        "equal": sample.equal,
        "numbers": sample.differing(NUMBERS_FEATURE),
        "blocks": sample.differing(WORDS_FEATURE),
        "order": sample.differing(ORDER_FEATURE),
        "title": sample.differing(TITLE_FEATURE),
    }


def _examples(material: Material, same: list[PairSample]) -> list[dict[str, Any]]:
    """Return pairs that changed, of the surest witness that has any: the median ones by shared words."""
    for sample in same:
        changed = np.flatnonzero((sample.features[:, : TITLE_FEATURE + 1] < 1).any(axis=1))
        if len(changed):
            order = changed[np.argsort(sample.features[changed, WORDS_FEATURE], kind="stable")]
            places = np.linspace(0, len(order) - 1, min(len(order), FETCH_EXAMPLES)).astype(np.int64)
            return [_example(material, sample, int(at)) for at in order[places]]
    return []


def _example(material: Material, sample: PairSample, at: int) -> dict[str, Any]:
    evidence, texts = material.clusters.evidence_of_pairs, material.texts
    left, right = int(sample.left[at]), int(sample.right[at])
    changes = block_changes(evidence, left, right)
    rows = (left,) if sample.kind == FETCHED_TWICE else (left, right)
    return {
        "kind": sample.kind,
        "urls": [texts.url(str(material.clusters.node_urls[row])) for row in rows],
        "words": float(sample.features[at, WORDS_FEATURE]),
        "shared": changes.shared,
        "numbers": changes.numbers,
        "gone": changes.only_left,
        "new": changes.only_right,
    }
