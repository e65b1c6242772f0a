"""Which reading of a site's URLs is used: titles of any number of words as one unit, or token by token.

Where pages have titles beside their ids, only the first finds rules. Elsewhere it is wider than need be: it
proposes rules that fail where the plain one has right ones, and each candidate that fails counts against
others of its kind. So both are tried on the pages that they come from, with the published bound: no false
pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.proposing.papers.selection import TrialUrls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undust.judging.verdict import Candidate, Proposal
    from undust.pages.clustering import SiteClusters

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
