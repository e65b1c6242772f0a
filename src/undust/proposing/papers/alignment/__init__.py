"""Rules by multiple sequence alignment: DUSTER.

K. Rodrigues, M. Cristo, E. S. de Moura, A. da Silva: Removing DUST Using Multiple Alignment of Sequences,
TKDE 27(8), 2015; read here through the digest of J. G. Langhi and S. Jadhav, IJIRCCE 5(1), 2017. The URLs
of a cluster, or samples of it, are aligned token by token (`groups`); what the columns say is a skeleton,
and equal skeletons of many clusters are one rule (`pooling`), written in our language (`wording`). The
second phase of the paper, a validation set with `fpr_max` and `min_supp`, is the proof that all candidates
get.

Support is counted in pairs of URLs that were aligned (A25). What the paper leaves open is in `options`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.judging.verdict import Proposal
from undust.proposing.papers.alignment.aligned_rules import ALIGNMENT_NAME, CannotSayError, candidate_of
from undust.proposing.papers.alignment.groups import align, groups_of, joined, joined_columns
from undust.proposing.papers.alignment.options import AlignmentOptions
from undust.proposing.papers.alignment.pooling import TOO_MANY_FORMS, SkeletonForms, pools
from undust.proposing.papers.alignment.readings import better_reading

if TYPE_CHECKING:
    from undust.judging.verdict import Candidate
    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.alignment.groups import TokenGroups

__all__ = ["ALIGNMENT_NAME", "AlignmentOptions", "propose_by_alignment"]


def propose_by_alignment(site: SiteClusters, options: AlignmentOptions) -> Proposal:
    """Return the rules that several clusters agree on, those with most clusters first."""
    proposal = _read(site, options)
    if not (options.word_runs and options.either_reading):
        return proposal
    return better_reading(site, proposal, _read(site, replace(options, word_runs=False)))


def _read(site: SiteClusters, options: AlignmentOptions) -> Proposal:
    """Return the rules of one reading of the URLs."""
    groups, forms, refused = _forms(groups_of(site, options), options)
    found, rare = pools(forms, groups, options)
    cut: Counter[str] = Counter()
    cut["URLs of large clusters that were not aligned"] = groups.left_out
    cut["URLs that are too long to align"] = groups.too_long
    cut["samples with too many optional parts"] = refused
    cut["rules seen in too few clusters"] = rare
    best: dict[str, Candidate] = {}
    for pool in found:
        try:
            candidate = candidate_of(pool, site.site)
        except CannotSayError as reason:
            cut[str(reason)] += 1
            continue
        other = best.setdefault(candidate.text, candidate)
        if _merit(candidate) < _merit(other):
            best[candidate.text] = candidate
    notes = (f"{int(groups.groups[-1]):,} URLs aligned in {len(groups):,} samples",)
    ordered = sorted(best.values(), key=_merit)
    return Proposal(tuple(ordered), {what: many for what, many in sorted(cut.items()) if many}, notes)


def _forms(groups: TokenGroups, options: AlignmentOptions) -> tuple[TokenGroups, SkeletonForms, int]:
    """Return the groups that say something, what they say, and how many samples were refused."""
    kept, aligned, refused = [], [], 0
    while True:
        columns = align(groups, options)
        is_refused = SkeletonForms.of(groups, columns, options).skeleton_of == TOO_MANY_FORMS
        refused += int(is_refused.sum())
        kept.append(groups.only(~is_refused))
        aligned.append(columns.only(~is_refused, groups))
        groups = groups.only(is_refused).halves()
        if not options.halves or not len(groups):
            every = joined(kept)
            return every, SkeletonForms.of(every, joined_columns(aligned), options), refused


def _merit(candidate: Candidate) -> tuple[int, int, int, str]:
    return -candidate.pages, -candidate.support, len(candidate.rules), candidate.text
