"""Rules that were learned from a sample of a site, held against all of it.

What a rule adds is measured in the company it works in: the rules before it, then it as well. A rule fails
if, on all pages, more are lost than chance and the sample's own uncertainty explain.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from undust.learning import SitePages, State
from undust.rules import program_of
from undust.statistics import interval, upper_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.learning import Requirements, SiteRules
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

_ALL = sys.maxsize
FAILED = "failed on all of the site"


class SiteState(NamedTuple):
    """The form of URLs under the first rules of a set: under no rule, under one, and so on up to all."""

    urls: int
    left: tuple[int, ...]
    """URLs that remain distinct."""
    lost: tuple[int, ...]
    """Pages that lie under another."""

    def added(self, place: int) -> tuple[int, int]:
        """Return the URLs saved and the pages lost by the rule at a place."""
        saved = self.left[place] - self.left[place + 1]
        return max(saved, 0), max(self.lost[place + 1] - self.lost[place], 0)


def joined(one: SiteState, other: SiteState) -> SiteState:
    """Return the standing of two parts of a site that share no image, as one."""
    return SiteState(
        one.urls + other.urls,
        tuple(a + b for a, b in zip(one.left, other.left, strict=True)),
        tuple(a + b for a, b in zip(one.lost, other.lost, strict=True)),
    )


def of_some(whole: SiteState, places: Sequence[int]) -> SiteState:
    """Return a standing with some of its rules only, each of which adds what it added among all."""
    left, lost = [whole.left[0]], [whole.lost[0]]
    for place in places:
        left.append(left[-1] + whole.left[place + 1] - whole.left[place])
        lost.append(lost[-1] + whole.lost[place + 1] - whole.lost[place])
    return SiteState(whole.urls, tuple(left), tuple(lost))


def site_state_of(
    site: SiteClusters, rules: Sequence[Rule], requirements: Requirements, *, is_all: bool = True
) -> SiteState:
    """Return how all URLs of a site stand, or those of the sample that rules are learned from."""
    pages = SitePages(
        site,
        replace(requirements, most_urls=len(site.node_urls), most_bytes=_ALL) if is_all else requirements,
    )
    state = State(pages)
    left, lost = [len(state.images)], [state.lost()]
    # A rule of the first ones is used on the same URLs as among all of them: it comes before the others.
    rows, uses = (np.asarray(pa.array(column), np.int64) for column in program_of(rules).used(pages.urls))
    for number, rule in enumerate(rules):
        state.accept(rule, state.image[rows[uses == number]])
        left.append(len(state.images))
        lost.append(state.lost())
    return SiteState(len(pages.urls), tuple(left), tuple(lost))


def failing(
    rules: Sequence[Rule], sample: SiteState, whole: SiteState, requirements: Requirements
) -> frozenset[str]:
    """Return the ids of the rules that held on the sample and do not hold on all."""
    ids = set()
    for place, rule in enumerate(rules):
        saved, lost = whole.added(place)
        seen, spoiled = sample.added(place)
        allowed = max(requirements.max_fpr, upper_bound(spoiled, spoiled + seen) if spoiled else 0.0)
        if lost and interval(lost, lost + saved)[0] > allowed:
            ids.add(rule.id)
    return frozenset(ids)


def without(rules: SiteRules, ids: frozenset[str]) -> SiteRules:
    """Return what was learned of a site less some rules, which are counted as rejected."""
    if not ids:
        return rules
    rejected = dict(rules.rejected)
    rejected[FAILED] = rejected.get(FAILED, 0) + len(ids)
    kept = tuple(rule for rule in rules.rules if rule.id not in ids)
    return replace(rules, rules=kept, rejected=dict(sorted(rejected.items())))


def held_against_all(site: SiteClusters, rules: SiteRules, requirements: Requirements) -> SiteRules:
    """Return the rules of a sampled site that hold on all of it, and the figures of all of it."""
    whole = site_state_of(site, rules.rules, requirements)
    sample = site_state_of(site, rules.rules, requirements, is_all=False)
    while ids := failing(rules.rules, sample, whole, requirements):
        rules = without(rules, ids)
        whole = site_state_of(site, rules.rules, requirements)
        sample = site_state_of(site, rules.rules, requirements, is_all=False)
    return replace(rules, urls=whole.urls, left=whole.left[-1], lost=whole.lost[-1], pages=site.cluster_count)
