"""The pattern tree of Lei et al., *A Pattern Tree-based Approach to Learning URL Normalization Rules*,
WWW 2010: rules as mappings between the nodes of a tree of all URLs.

The tree is grown (`undust.tree`), nodes that hold the same pages are found through the clusters
(`pairs.py`), each pair becomes a raw candidate (`operations.py`), each candidate is run on the training
data and dropped if too many of its pairs are false (`images.py`), and written down (`plan.py`,
`writing.py`). Which of them to deploy is not decided here: see `undust.selection`.

The tree and the overlaps are those of URLs in clusters of two and more, as published; the proof counts
URLs alone on their page as well, since a rule that swallows them is wrong (section 1.1 of the
specification). `singletons` lets them take part from the beginning.
"""  # noqa: D205 -- a title of two lines

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.candidates import Candidate, Proposal
from undust.learners.tree.images import Moves, images_of, proof_of
from undust.learners.tree.operations import Mapper
from undust.learners.tree.pairs import duplicate_nodes
from undust.learners.tree.plan import CannotSay, Planner
from undust.learners.tree.writing import rules_of
from undust.tree import UrlColumns, grow

if TYPE_CHECKING:
    from undust.duplicates import SiteClusters
    from undust.learners.tree.images import Proof
    from undust.learners.tree.operations import Mapping
    from undust.rules import Rule
    from undust.tree import PatternTree

PAIR = 2


@dataclass(frozen=True)
class TreeOptions:
    """As published, where the paper names a value."""

    min_overlap: float = 0.5
    """Share of the URLs of two nodes that must lie in common clusters (`o_min`)."""
    min_common: float = 0.5
    """More than this share of a target key's values must be in the source key (`sigma_min`)."""
    max_disagreement: float = 0.5
    """A key on which more of the duplicates disagree does not matter; the paper names no value."""
    max_fpr: float = 0.05
    """Share of false pairs on the training data (`fpr_max`; A16: 0.05, not 0.05 %)."""
    singletons: bool = False
    """Whether URLs alone on their page take part in the tree."""
    max_rules: int = 24
    """Rules of one candidate: a node of many shapes needs one for each."""


class Raw(NamedTuple):
    """A mapping between two nodes and what came of it."""

    mapping: Mapping
    proof: Proof | None
    rules: tuple[Rule, ...]
    """Those of a qualified one; otherwise there are none."""
    reason: str
    """Why it is not."""


def propose_by_tree(site: SiteClusters, options: TreeOptions) -> Proposal:
    """Return the qualified candidates of a pattern tree, those that save most first."""
    tree, found = raw_candidates(site, options)
    cut: Counter[str] = Counter({"raw candidates": len(found)})
    qualified: dict[str, tuple[int, Candidate]] = {}
    for raw in found:
        if raw.proof is None or not raw.rules:
            cut[raw.reason] += 1
        else:
            candidate = Candidate(raw.rules, raw.proof.urls, "urls", raw.proof.pages, raw.proof.fpr)
            qualified.setdefault(candidate.text, (raw.proof.saves, candidate))
    ranked = sorted(qualified.values(), key=lambda each: (-each[0], each[1].fpr or 0.0, each[1].text))
    count = int((tree.leaf >= 0).sum())
    notes = (f"a tree of {len(tree):,} nodes, {tree.height} high, from {count:,} URLs",)
    return Proposal(tuple(candidate for _, candidate in ranked), dict(sorted(cut.items())), notes)


def raw_candidates(site: SiteClusters, options: TreeOptions) -> tuple[PatternTree, list[Raw]]:
    """Return the tree of a site and every mapping between its nodes, qualified or not."""
    columns = UrlColumns.of(site.node_urls, np.flatnonzero(site.cluster_of_node >= 0))
    cluster = site.cluster_of_node[columns.rows]
    is_shared = np.bincount(cluster, minlength=1)[cluster] >= PAIR
    tree = grow(columns, None if options.singletons else is_shared)
    planner, moves = Planner(tree), Moves(columns)
    mapper = Mapper(tree, cluster, options.min_common, options.max_disagreement)

    def tried(mapping: Mapping) -> Raw:
        proof = None
        try:
            plan = planner.plan(mapping)
            proof = proof_of(images_of(plan, moves), cluster)
            if proof.support_pairs == 0:
                return Raw(mapping, proof, (), "merges nothing")
            if proof.fpr > options.max_fpr:
                return Raw(mapping, proof, (), "too many false pairs")
            return Raw(mapping, proof, rules_of(plan, site.site, options.max_rules), "")
        except CannotSay as reason:
            return Raw(mapping, proof, (), f"cannot be said: {reason}")

    pairs = duplicate_nodes(tree, cluster, options.min_overlap)
    return tree, [tried(mapper.mapping(source, target)) for source, target in pairs]
