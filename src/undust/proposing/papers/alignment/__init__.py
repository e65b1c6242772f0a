"""Rules by multiple sequence alignment: DUSTER.

K. Rodrigues, M. Cristo, E. S. de Moura, A. da Silva: Removing DUST Using Multiple Alignment of Sequences,
TKDE 27(8), 2015; read here through the digest of J. G. Langhi and S. Jadhav, IJIRCCE 5(1), 2017. The URLs of
a cluster, or samples of it, are aligned token by token (`groups`); the columns make a skeleton, and
equal skeletons of many clusters are one rule (`pooling`), written in our language. The second phase of the
paper, a validation set with `fpr_max` and `min_supp`, is the proof that all candidates get.

Support is counted in pairs of URLs that were aligned (A25). What the paper leaves open is an option.

URLs are read in two ways: titles of any number of words as one unit, or token by token. Where pages have
titles next to their ids, only the first finds rules. Elsewhere it is wider than need be: it proposes rules
that fail where the plain one has right ones, and each candidate that fails counts against others of its kind.
So both are tried on the pages that they come from, with the published bound: no false pair.

Rules in our language: the paper's rule is a regular expression with groups that may be missing, and what it
writes need not be a URL. Here each form is a rule of its own, which leads to the shortest that was seen.

* What is the same in a cluster is captured, and is a literal if it is the same in several clusters.
* What varies is removed, and the text that most clusters have in the written form takes its place; the
  smallest of several. If there is no such text, a mask hides it. If the form decides the
  text, each rule has its own literal, so that several places of a URL change at once.
* What is optional is not written, as published; but where all URLs have something, the shortest is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from undust.errors import RuleError
from undust.judging.verdict import Candidate, Proposal
from undust.proposing.papers.alignment.groups import (
    AlignmentOptions,
    align,
    groups_of,
    joined,
    joined_columns,
)
from undust.proposing.papers.alignment.pooling import (
    HOST,
    OPTIONAL,
    SAME_UNIT,
    TOO_MANY_FORMS,
    SkeletonForms,
    pools,
)
from undust.proposing.papers.selection import TrialUrls
from undust.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.alignment.groups import TokenGroups
    from undust.proposing.papers.alignment.pooling import Pool


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
    """Return the groups with a skeleton, their forms, and how many samples were refused."""
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


_TRIED_AT_ONCE = 8
"""Candidates whose images are held at a time: each may be as large as the site."""


def better_reading(site: SiteClusters, one: Proposal, other: Proposal) -> Proposal:
    """Return the proposal whose own candidates bring more URLs of the site to others of their page.

    Only candidates without a false pair count. Of equal ones, the one of which fewer candidates fail, and
    then the first.
    """
    own, others = _beside(one, other), _beside(other, one)
    if not (own or others):
        return one
    trial = TrialUrls(site)
    return one if _worth(own, trial) >= _worth(others, trial) else other


def _beside(one: Proposal, other: Proposal) -> list[Candidate]:
    """Return the candidates that only the first has."""
    known = {candidate.text for candidate in other.candidates}
    return [candidate for candidate in one.candidates if candidate.text not in known]


def _worth(candidates: Sequence[Candidate], trial: TrialUrls) -> tuple[int, int]:
    right = list(_without_false_pairs(candidates, trial))
    saved = trial.merges(rule for candidate in right for rule in candidate.rules)[0] if right else 0
    return saved, len(right) - len(candidates)


def _without_false_pairs(candidates: Sequence[Candidate], trial: TrialUrls) -> Iterator[Candidate]:
    for start in range(0, len(candidates), _TRIED_AT_ONCE):
        some = candidates[start : start + _TRIED_AT_ONCE]
        images = trial.images([candidate.rules for candidate in some])
        for candidate, (rows, image) in zip(some, images, strict=True):
            if not trial.fpr_of(rows, image):
                yield candidate


ALIGNMENT_NAME = "alignment"


class CannotSayError(Exception):
    """Why a pool is not a candidate."""


def candidate_of(pool: Pool, site: str) -> Candidate:
    """Return a pool as rules that are proved together; raise `CannotSayError` if no rule can express it."""
    words = _Words(pool)
    try:
        rules = [
            Rule(site, "rewrite", left, right, learned_by=ALIGNMENT_NAME) for left, right in words.sides()
        ]
    except RuleError:
        message = "rules that the language cannot say"
        raise CannotSayError(message) from None
    if not rules:
        message = "rules that change nothing"
        raise CannotSayError(message)
    return Candidate(tuple(rules), pool.pairs, "pairs", pool.clusters)


class _Words:
    def __init__(self, pool: Pool) -> None:
        self.skeleton, self.seen, self.forms = pool.skeleton, pool.seen, pool.forms
        self.is_alone = pool.clusters == 1
        self.names = _names(pool)
        self.varying = [
            unit
            for unit, kind in enumerate(self.skeleton.units)
            if kind not in (SAME_UNIT, HOST, OPTIONAL) and self.seen[unit].by_form is None
        ]
        self.masked = [unit for unit in self.varying if self.seen[unit].constant is None]

    def sides(self) -> list[tuple[str, str]]:
        """Return left and right sides: from each form to the one that is written, then the mask."""
        target = self._written()
        own = [0] if len(self.masked) < len(self.varying) else []
        found = [(self._matched(place), target) for place in [*range(1, len(self.forms)), *own]]
        if self.masked:
            found.append((self._matched_for_mask(), self._written(":any")))
        return [(left, right) for left, right in dict.fromkeys(found) if left != right]

    def _written(self, mark: str = "") -> str:
        def written(unit: int) -> str:
            kind, seen = self.skeleton.units[unit], self.seen[unit]
            if kind in (SAME_UNIT, HOST):
                before, after = seen.around
                return self._one(unit) or f"{before}{{{self.names[unit]}}}{after}"
            if seen.by_form is not None and kind != OPTIONAL:
                return seen.by_form[0]
            if unit in self.masked:
                return f"{{{self.names[unit]}{mark}}}"
            if seen.constant is None:
                message = "rules without a text known to work"
                raise CannotSayError(message)
            return seen.constant

        return self.skeleton.text(self.forms[0], written)

    def _matched_for_mask(self) -> str:
        def matched(unit: int) -> str:
            is_constant = unit in self.varying and unit not in self.masked
            return (self.seen[unit].constant or "") if is_constant else self._match(unit, 0)

        return self.skeleton.text(self.forms[0], matched)

    def _matched(self, place: int) -> str:
        return self.skeleton.text(self.forms[place], lambda unit: self._match(unit, place))

    def _match(self, unit: int, place: int) -> str:
        kind, seen = self.skeleton.units[unit], self.seen[unit]
        if seen.by_form is not None and kind not in (SAME_UNIT, HOST, OPTIONAL):
            return seen.by_form[place]
        if (text := self._one(unit)) is not None:
            return text
        is_kept = kind in (SAME_UNIT, HOST) or unit in self.masked
        name = self.names[unit] if is_kept else "*"
        # A scheme takes no class, and any host of the site may have a rule that many have.
        if unit == self.skeleton.items[0] or (kind == HOST and seen.texts is None):
            return f"{{{name}}}"
        if kind == SAME_UNIT and any(seen.around):
            return f"{seen.around[0]}{{{name}:{seen.kind}}}{seen.around[1]}"
        wanted = "|".join(seen.texts) if seen.texts is not None and kind != SAME_UNIT else seen.kind
        return f"{{{name}:{wanted}}}" if wanted else f"{{{name}}}"

    def _one(self, unit: int) -> str | None:
        """Return the text of a unit that has only one; what one cluster has may be anything elsewhere."""
        texts = self.seen[unit].texts
        is_literal = not (self.is_alone and self.skeleton.units[unit] == SAME_UNIT)
        return texts[0] if texts is not None and len(texts) == 1 and is_literal else None


def _names(pool: Pool) -> dict[int, str]:
    """Return names for units: that of the parameter they are the value of, or `p` and a number."""
    names: dict[int, str] = {}
    marked = pool.skeleton.text(pool.forms[0], lambda unit: f"\0{unit}\0")
    for unit, kind in enumerate(pool.skeleton.units):
        parameter = re.search(rf"[?&]([A-Za-z_][A-Za-z0-9_]*)=\0{unit}\0", marked)
        name = "h" if kind == HOST else parameter[1] if parameter else f"p{unit + 1}"
        names[unit] = name if name not in names.values() else f"{name}_{unit + 1}"
    return names
