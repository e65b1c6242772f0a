"""The pattern tree: rules as mappings between the nodes of a tree of all URLs.

Lei et al., *A Pattern Tree-based Approach to Learning URL Normalization Rules*, WWW 2010. The tree is grown
(`undust.urls.pattern_tree`), nodes that hold the same pages are found through the clusters and each pair of
them becomes a raw candidate (`operations.py`). Each candidate is planned (`plan.py`), run on the training
data, removed if too many of its pairs are false, and written as rules (`tree_rules.py`). Of these the graph
of all of them selects few to deploy (`undust.proposing.papers.selection`).

The tree and the overlaps are those of URLs in clusters of two and more, as published; the proof counts URLs
alone on their page as well, since a rule that swallows them is wrong (section 1.1 of the specification).
`singletons` lets them take part from the beginning.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from undust.errors import UndustError
from undust.judging.verdict import Candidate, Proposal
from undust.proposing.papers.selection import STRATEGIES, Edge, Graph, TrialUrls, deployable
from undust.proposing.papers.tree.operations import SHARE_BASES, Mapper, duplicate_nodes
from undust.proposing.papers.tree.plan import CannotSay, Planner
from undust.proposing.papers.tree.tree_rules import Moves, proof_of, rules_of
from undust.urls.pattern_tree import ANYTHING, PERHAPS, grow, least_count
from undust.urls.views import ABSENT, UrlColumns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.tree.operations import Common, Mapping
    from undust.proposing.papers.tree.tree_rules import TrainingCounts
    from undust.rules import Rule
    from undust.urls.pattern_tree import PatternTree, Salience

_PAIR = 2
ALL = "all"
TreeChoice = Literal["node", "site", "either"]
"""By which curve values are kept apart (`undust.urls.pattern_tree`), or the one whose rules are better."""
_PROVED_AT_ONCE = 8
"""Candidates whose images are held at a time: each may be as large as the site."""


@dataclass(frozen=True)
class TreeOptions:
    """As published, where the paper names a value."""

    min_overlap: float = 0.2
    """Share of the URLs of two nodes that must be in common clusters (`o_min`; published: 0.5)."""
    min_common: float = 0.5
    """More than this share of the values of two keys must be common (`sigma_min`)."""
    common: Common = "fewer"
    """Of which values: the `target`'s, or those of the key that has `fewer` ("rate of common values")."""
    max_disagreement: float = 0.5
    """A key on which more of the duplicates disagree does not matter; the paper names no value."""
    max_fpr: float = 0.05
    """Share of false pairs on the training data (`fpr_max`; A16: 0.05, not 0.05 %)."""
    min_pages: int = 29
    """Pages that show a candidate at least, the square root of those with duplicates where that is less.

    29 pages of which none contradicts show that fewer than one in ten will, with 95 % confidence.
    """
    noise: float = 0.0
    """Share of URLs with a wrong label; pairs that look false only for that reason do not count."""
    salience: TreeChoice = "either"
    """Whose frequencies make a value salient: the key's in the `node`, or the text's in the whole `site`."""
    least: int = 8
    """URLs that a salient value has at least; the square root of their number where that is less."""
    singletons: bool = False
    """Whether URLs alone on their page take part in the tree."""
    max_urls: int = 100_000
    """A larger site is learned from this many of its URLs, in whole clusters; 0 for all."""
    max_pairs: int = 0
    """Pairs of nodes that become candidates, those with most URLs first; 0 for all."""
    max_rules: int = 24
    """Rules of one candidate: a node of many shapes needs one for each."""
    selection: str = "graph"
    """Which candidates are proposed: those that `graph` or `naive` selects, or `all` that are qualified."""
    residual: bool = False
    """Whether the share that a rule gets wrong stays at its vertex in the walk of the graph."""

    def __post_init__(self) -> None:
        for name, known in (
            ("selection", (*STRATEGIES, ALL)),
            ("salience", get_args(TreeChoice)),
            ("common", SHARE_BASES),
        ):
            if (said := getattr(self, name)) not in known:
                message = f"there is no {name} '{said}'; there are {', '.join(known)}"
                raise UndustError(message)


class Raw(NamedTuple):
    """A mapping between two nodes and what came of it."""

    mapping: Mapping
    proof: TrainingCounts | None
    rules: tuple[Rule, ...]
    """Those of a qualified one; otherwise empty."""
    reason: str
    """Why it is not."""


def allowed_fpr(options: TreeOptions) -> float:
    """Return which share of false pairs a candidate may show.

    Of a correct rule, as many pairs look false as have a wrong label on one side or the other.
    """
    return 1 - (1 - options.max_fpr) * (1 - options.noise) ** 2


class Selected(NamedTuple):
    """What one tree of a site gives."""

    tree: PatternTree
    candidates: list[Candidate]
    cut: Counter[str]


def propose_by_tree(site: SiteClusters, options: TreeOptions) -> Proposal:
    """Return the candidates of a pattern tree, those that remove most first."""
    sample = sampled(site, options.max_urls)
    trial = TrialUrls(sample)
    found = [selected(sample, trial, replace(options, salience=curve)) for curve in curves_of(options)]
    tree, candidates, cut = better(found, trial, options)
    if sample is not site:
        proved = proved_on_all(candidates, TrialUrls(site), allowed_fpr(options))
        cut["too many false pairs beyond the sample"] = len(candidates) - len(proved)
        candidates = proved
    count = int((tree.leaf >= 0).sum())
    notes = [f"a tree of {len(tree):,} nodes, {tree.height} high, from {count:,} URLs"]
    if sample is not site:
        whole, part = (int((each.cluster_of_node >= 0).sum()) for each in (site, sample))
        notes.append(f"learned from a sample of {part:,} of {whole:,} URLs, proved on all of them")
    return Proposal(tuple(candidates), dict(sorted(cut.items())), tuple(notes))


def curves_of(options: TreeOptions) -> tuple[Salience, ...]:
    """Return by which curves trees are grown."""
    return ("site", "node") if options.salience == "either" else (options.salience,)


def selected(sample: SiteClusters, trial: TrialUrls, options: TreeOptions) -> Selected:
    """Return one tree and which of its candidates are proposed."""
    tree, found = raw_candidates(sample, options)
    cut: Counter[str] = Counter({"raw candidates": len(found)})
    cut.update(raw.reason for raw in found if not raw.rules)
    candidates, graph = qualified(tree, found)
    cut["qualified candidates"] = len(candidates)
    if options.selection in STRATEGIES:
        chosen = deployable(
            candidates, graph, trial, options.selection, allowed_fpr(options), residual=options.residual
        )
        cut["not selected"] = len(candidates) - len(chosen)
        candidates = [with_needed_rules(each, trial) for each in chosen]
    return Selected(tree, candidates, cut)


def with_needed_rules(candidate: Candidate, trial: TrialUrls) -> Candidate:
    """Return a candidate without the rules that bring no URL of the training data to another of its page.

    A mapping has a rule for each shape of its nodes. One that no duplicate has shown merges nothing that is
    known, and may merge what is not.
    """
    kept = list(candidate.rules)
    most = trial.merges(kept)[0] if len(kept) > 1 else 0
    for rule in reversed(candidate.rules):
        rest = [each for each in kept if each is not rule]
        if rest and trial.merges(rest)[0] >= most:
            kept = rest
    if len(kept) == len(candidate.rules):
        return candidate
    return replace(candidate, rules=tuple(kept), fpr=trial.fpr(kept))


def better(found: list[Selected], trial: TrialUrls, options: TreeOptions) -> Selected:
    """Return the tree whose rules bring most URLs to others of their page, the first of equal ones.

    Against a page that they bring to another page stand as many URLs as pairs against a false one.
    """

    def worth(each: Selected) -> float:
        right, wrong = trial.merges(rule for candidate in each.candidates for rule in candidate.rules)
        return right - wrong / allowed_fpr(options) if wrong else right

    return found[0] if len(found) == 1 else max(found, key=worth)


def sampled(site: SiteClusters, most: int) -> SiteClusters:
    """Return a site, or if it is too large a part of its clusters with about this many URLs."""
    sizes = np.bincount(site.cluster_of_node[site.cluster_of_node >= 0])
    if not most or sizes.sum() <= most:
        return site
    # Any order that has nothing to do with that of the URLs.
    mixed = np.arange(len(sizes), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    order = np.argsort(mixed ^ (mixed >> np.uint64(32)), kind="stable")
    chosen = np.zeros(len(sizes), np.bool_)
    chosen[order[np.cumsum(sizes[order]) <= most]] = True
    return site.keeps(chosen)


def proved_on_all(candidates: list[Candidate], measured: TrialUrls, max_fpr: float) -> list[Candidate]:
    """Return the candidates that hold on all URLs of a site, too, with their fpr there.

    In a sample the two pages that a rule would mix up are seldom both there: what is harmless among
    100,000 URLs can be wrong for three million.
    """
    found = []
    for start in range(0, len(candidates), _PROVED_AT_ONCE):
        some = candidates[start : start + _PROVED_AT_ONCE]
        images = measured.images([candidate.rules for candidate in some])
        for candidate, (rows, image) in zip(some, images, strict=True):
            fpr = measured.fpr_of(rows, image)
            if fpr <= max_fpr:
                found.append(replace(candidate, fpr=fpr))
    return found


def qualified(tree: PatternTree, found: list[Raw]) -> tuple[list[Candidate], Graph]:
    """Return the candidates that passed their proof, the best first, and the graph they make."""
    best: dict[str, tuple[Candidate, Mapping, TrainingCounts]] = {}
    for raw in found:
        if raw.proof is not None and raw.rules:
            proof = raw.proof
            candidate = Candidate(raw.rules, proof.urls, "urls", proof.pages, proof.fpr)
            best.setdefault(candidate.text, (candidate, raw.mapping, proof))
    ranked = [
        best[text] for text in sorted(best, key=lambda text: (-best[text][2].saves, best[text][2].fpr, text))
    ]
    nodes = sorted({node for _, mapping, _ in ranked for node in (mapping.source, mapping.target)})
    vertex = {node: number for number, node in enumerate(nodes)}
    graph = Graph(
        volumes=[tree.nodes[node].count for node in nodes],
        edges=[
            Edge(vertex[mapping.source], vertex[mapping.target], proof.fpr, proof.taken)
            for _, mapping, proof in ranked
        ],
        above=[tuple(vertex[each] for each in tree.ancestors(node) if each in vertex) for node in nodes],
        wildcards=[sum(value < 0 for value in tree.nodes[node].pattern.values()) for node in nodes],
        meets=meeting_patterns([tree.nodes[node].pattern for node in nodes]),
    )
    return [candidate for candidate, _, _ in ranked], graph


def meeting_patterns(patterns: list[dict[int, int]]) -> list[list[int]]:
    """Return for each pattern those that one URL could fit as well."""
    keys = sorted({key for pattern in patterns for key in pattern})
    values = np.array([[pattern.get(key, ABSENT) for key in keys] for pattern in patterns], np.int64)
    meets = np.ones((len(patterns), len(patterns)), np.bool_)
    for column in values.T:
        one, other = column[:, None], column[None, :]
        is_open = (one == PERHAPS) | (other == PERHAPS)
        is_open |= ((one == ANYTHING) & (other != ABSENT)) | ((other == ANYTHING) & (one != ABSENT))
        meets &= (one == other) | is_open
    return [np.flatnonzero(row).tolist() for row in meets]


def largest(tree: PatternTree, pairs: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return the pairs of nodes with most URLs, in their order; all of them if `most` is 0."""
    if not most or len(pairs) <= most:
        return pairs
    volume = [tree.nodes[one].count + tree.nodes[other].count for one, other in pairs]
    chosen = sorted(range(len(pairs)), key=lambda place: (-volume[place], place))[:most]
    return [pairs[place] for place in sorted(chosen)]


def repeating(columns: UrlColumns) -> NDArray[np.bool_]:
    """Return which URLs have a parameter twice: no pattern can express them, nor any node that holds one."""
    again = ["#" in name for name in columns.key_names]
    of_layout = np.array([any(again[key] for key in keys) for keys in columns.layouts], np.bool_)
    return of_layout[columns.layout]


def fewest_pages(wanted: int, pages: int) -> int:
    """Return how many pages must show a candidate of a site, by the number of its pages with duplicates."""
    return min(wanted, isqrt(pages))


def raw_candidates(site: SiteClusters, options: TreeOptions) -> tuple[PatternTree, list[Raw]]:
    """Return the (first) tree of a site and every mapping between its nodes, qualified or not."""
    columns = UrlColumns.of(site.node_urls, np.flatnonzero(site.cluster_of_node >= 0))
    # The URLs of a page are adjacent, so that what they have in common is counted in one pass.
    columns = columns.ordered(np.argsort(site.cluster_of_node[columns.rows], kind="stable"))
    cluster = site.cluster_of_node[columns.rows].astype(np.int64)
    is_shared = np.bincount(cluster, minlength=1)[cluster] >= _PAIR
    chosen = np.ones(len(columns), np.bool_) if options.singletons else is_shared
    chosen = chosen & ~repeating(columns)
    tree = grow(columns, chosen, curves_of(options)[0], min(options.least, least_count(int(chosen.sum()))))
    planner, moves = Planner(tree), Moves(columns)
    mapper = Mapper(tree, cluster, options.min_common, options.max_disagreement, options.common)

    fewest = fewest_pages(options.min_pages, len(np.unique(cluster[is_shared])))

    def tried(mapping: Mapping) -> Raw:
        proof = None
        try:
            plan = planner.plan(mapping)
            proof = proof_of(plan, moves, cluster)
            if proof.support_pairs == 0:
                return Raw(mapping, proof, (), "merges nothing")
            if proof.pages < fewest:
                return Raw(mapping, proof, (), "too few pages show it")
            if proof.fpr > allowed_fpr(options):
                return Raw(mapping, proof, (), "too many false pairs")
            rules = rules_of(plan, site.site, options.max_rules)
            return Raw(mapping, proof, rules, "")
        except CannotSay as reason:
            return Raw(mapping, proof, (), f"cannot be said: {reason}")

    pairs = largest(tree, duplicate_nodes(tree, cluster, options.min_overlap), options.max_pairs)
    return tree, [tried(mapper.mapping(source, target)) for source, target in pairs]
