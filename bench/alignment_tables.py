"""The table of DUSTER on generated sites, beside rewrite rules and the pattern tree, and what options do.

As in the paper: known duplicates in three parts. Candidates are learned from one, valid are those that show
no false pair on another (`fpr_max` = 0, or more in the sweep), and clusters of the third are reduced, or
not. Candidates of the others are counted before their own filters, as in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import undust
from bench.sites import KINDS, site
from undust.judging.verdict import VerdictLimits
from undust.learning.single_methods import Job, MethodOutcome, learn_sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from undust.pages.clustering import SiteClusters
    from undust.rules import RuleSet

THIRD = 1 / 3
SWEEP = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5)
SEED = 5
METHODS: Mapping[str, Mapping[str, object]] = {
    "rewrite": {"rewrite.fanout": 10},
    "tree": {"tree.selection": "all", "tree.min_pages": 1},
    "alignment": {},
    "alignment, no word runs": {"alignment.word_runs": False},
    "alignment, pairs": {"alignment.sample": 2, "alignment.samples": 20, "alignment.word_runs": False},
    "alignment, whole clusters": {"alignment.sample": 1_000},
}
PUBLISHED = {
    "rewrite": (31_565, 1_985, 0.0629, 0.2630),
    "tree": (6_974, 1_575, 0.2258, None),
    "alignment": (786, 577, 0.8548, 0.6314),
}
"""Candidates, valid, rate, reduced in WBR10 at fpr_max = 0, as printed (577 / 786 is 73.4 %: A26)."""


FILTERED = {
    "rewrite": ("rules with too many false pairs", "rules that a more general one covers"),
    "tree": ("merges nothing", "too many false pairs", "cannot be said"),
}
"""What the others leave out by their own filters; the paper counts candidates before any."""


def raw_candidates(learned: MethodOutcome) -> int:
    """Return how many candidates there were before the method's own filters."""
    cut = sum(
        many
        for proposals in learned.proposals.values()
        for method, proposal in proposals.items()
        for reason, many in proposal.cut.items()
        if reason.startswith(FILTERED.get(method, ("-",)))
    )
    return learned.candidates + cut


class Parts:
    """The sites of a bench, each in three parts that share no cluster."""

    def __init__(self, kinds: Iterable[str], urls: int) -> None:
        self.known: list[SiteClusters] = []
        self.test: list[SiteClusters] = []
        for kind in kinds:
            truth = site(kind, urls, SEED).truth()
            rows = pa.table({"url": truth["url"], "cluster": truth["page"].cast(pa.string())})
            for found in undust.find_duplicates(rows).sites:
                known, test = found.split(THIRD, SEED, "test")
                self.known.append(known)
                self.test.append(test)

    def learned(self, method: str, options: Mapping[str, object]) -> tuple[MethodOutcome, float]:
        """Return what a method learns and how its candidates fare on the second part, and its seconds."""
        started = process_time()
        job = Job((method,), options, VerdictLimits(max_fpr=0.0), held_out=0.5, seed=SEED, alone=True)
        return learn_sites(self.known, job), process_time() - started

    def measured(self, learned: MethodOutcome, max_fpr: float) -> dict[str, Any]:
        """Return candidates, valid ones, their rate, and what becomes of clusters of the third part."""
        under = learned.under(replace(VerdictLimits(), max_fpr=max_fpr))
        candidates, valid = raw_candidates(learned), len(under.accepted)
        rates = {"candidates": candidates, "valid": valid, "rate": valid / max(1, candidates)}
        return rates | self.effect(under.rules)

    def effect(self, rules: RuleSet) -> dict[str, float]:
        """Return the share of clusters with fewer URLs than before, and of those with but one; pages lost."""
        canonicalizer = rules.compile()
        sums = np.zeros(5, np.int64)
        for found in self.test:
            nodes = np.flatnonzero(found.cluster_of_node >= 0)
            cluster = found.cluster_of_node[nodes]
            keys = canonicalizer.batch(found.node_urls.take(pa.array(nodes)), keys=True).dictionary_encode()
            image = keys.indices.to_numpy()
            pairs = np.unique(np.stack((cluster, image)), axis=1).astype(np.int64)
            before, after = np.bincount(cluster), np.bincount(pairs[0])
            several = before > 1
            shared = np.bincount(pairs[1])[pairs[1]] > 1
            lost = int(shared.sum()) - len(np.unique(pairs[1][shared]))
            sums += [
                several.sum(),
                (after < before).sum(),
                (several & (after == 1)).sum(),
                lost,
                (before > 0).sum(),
            ]
        duplicated, reduced, single, lost_pages, every = sums.tolist()
        return {"reduced": reduced / duplicated, "to one": single / duplicated, "lost": lost_pages / every}


def table(urls: int, kinds: Iterable[str] = KINDS) -> dict[str, Any]:
    """Return the published table's figures for all methods, at fpr_max = 0 and swept."""
    parts = Parts(kinds, urls)
    rows: dict[str, Any] = {}
    for method, options in METHODS.items():
        learned, seconds = parts.learned(method.split(",")[0], options)
        swept = {max_fpr: parts.measured(learned, max_fpr) for max_fpr in SWEEP}
        rows[method] = {**swept[0.0], "seconds": seconds, "published": PUBLISHED.get(method), "sweep": swept}
    return rows


DECISIONS: Mapping[str, Mapping[str, object]] = {
    "as it is": {},
    "scoring=jaccard": {"scoring": "jaccard"},
    "order=share": {"order": "share"},
    "gaps_count=yes": {"gaps_count": True},
    "triplets=no": {"triplets": False},
    "whole_parts=no": {"whole_parts": False},
    "across_hosts=yes": {"across_hosts": True},
    "max_members=2": {"max_members": 2},
    "max_members=20": {"max_members": 20},
    "max_forms=2": {"max_forms": 2},
    "max_forms=64": {"max_forms": 64},
    "halves=no": {"halves": False},
    "min_clusters=1": {"min_clusters": 1},
    "min_clusters=5": {"min_clusters": 5},
    "constant_share=0.9": {"constant_share": 0.9},
    "aligner=anchored": {"aligner": "anchored"},
    "aligner=banded": {"aligner": "banded"},
    "pairs: sample=2 samples=5": {"sample": 2, "samples": 5},
    "sample=4 samples=5": {"sample": 4, "samples": 5},
    "samples=1": {"samples": 1},
    "samples=10": {"samples": 10},
    "whole clusters: sample=1000": {"sample": 1000},
    "… and halves=no": {"sample": 1000, "halves": False},
}
"""What was left open, each decided the other way."""


def decisions(urls: int, kinds: Iterable[str] = KINDS) -> dict[str, Any]:
    """Return what each decision would change, at fpr_max = 0."""
    parts = Parts(kinds, urls)
    rows: dict[str, Any] = {}
    for name, options in DECISIONS.items():
        said = {f"alignment.{option}": value for option, value in options.items()}
        learned, seconds = parts.learned("alignment", said)
        rows[name] = {**parts.measured(learned, 0.0), "seconds": seconds}
    return rows
