"""The final sample: pages of a site that neither proposal nor selection of its rules saw.

Of a large site some pages are set aside before anything is proposed, and the rules that are learned from the
others are checked on them. A smaller site needs all its pages: its rules are learned from all. What the same
learning loses on unseen pages is found by cross-fitting: the pages are cut into five parts, the rules are
learned again without a part, and checked on it; the smaller the site, the more parts are checked. Which pages
these are depends on their first URLs alone. Of many sites, a sample is checked: which ones depends on their
names alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.edits import Given
from undust.judging import KeyState, Site
from undust.judging.checked import CheckedPages, checked_pages
from undust.judging.site import WithoutUnstable
from undust.learning.rule_evidence import COUNTED, Record, SeenUrls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.learning.outcome import SiteRules
    from undust.learning.requirements import Requirements
    from undust.pages.clustering import SiteClusters
    from undust.rules import Rule

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
    Learn = Callable[[SiteClusters], SiteRules]

SETS_ASIDE = 20_000
"""URLs of a site from which on pages are set aside, which costs no time."""
ASIDE, ENOUGH = 0.2, 4_000
"""The share of the pages of a large site that are set aside, and the number beyond which no more are."""
PARTS = 5
"""Into which a smaller site is cut."""
CHECKED_PARTS = ((1_000, 2), (SETS_ASIDE, 1))
"""URLs of a site at most, and how many parts are then checked: learning again without one takes about four
fifths of the time."""
CHECKED_SITES, CHECKED_SHARE = 50, 0.02
"""Of at most this many sites each one is checked. Of more, about as many, or this share if that is more:
learning then takes at most 4 % longer for it. Large sites are always checked."""
FINAL_PURPOSE = "final"
"""Keeps these draws apart from all others."""


def is_checked_site(site: str, sites: int, seed: int = 0) -> bool:
    """Return whether the pages of a site are checked, by its name and the number of sites of the job.

    >>> is_checked_site("a.test", 50), sum(is_checked_site(f"{n}.test", 500) for n in range(500))
    (True, 57)
    """
    drawn = hashlib.blake2b(f"{FINAL_PURPOSE} {seed} {site}".encode(), digest_size=8).digest()
    return int.from_bytes(drawn) < max(CHECKED_SITES / max(1, sites), CHECKED_SHARE) * 2.0**64


@dataclass(frozen=True, eq=False)
class FinalSample:
    """Which pages of a site its rules are checked on."""

    site: SiteClusters
    requirements: Requirements
    part: Ints
    """Of each cluster the part it is in."""
    parts: int
    """How many parts are checked, each by rules that were learned without it."""
    is_large: bool

    @classmethod
    def of(cls, site: SiteClusters, requirements: Requirements) -> FinalSample:
        """Draw the pages."""
        urls = int((site.cluster_of_node >= 0).sum())
        drawn = site.drawn(requirements.seed, FINAL_PURPOSE)
        if urls > SETS_ASIDE:
            share = min(ASIDE, ENOUGH / len(drawn))
            return cls(site, requirements, np.where(drawn < share, 0, 1), 1, is_large=True)
        checked = next(parts for most, parts in CHECKED_PARTS if urls <= most)
        return cls(site, requirements, (drawn * PARTS).astype(np.int64), checked, is_large=False)

    @property
    def source(self) -> SiteClusters:
        """What the rules that are used are learned from."""
        return self._without(0) if self.is_large else self.site

    def _without(self, part: int) -> SiteClusters:
        """Return the site without the pages of a part; where it sends URLs to is known all the same."""
        return replace(self.site.keeps(self.part != part), edges=self.site.edges)

    def completed(self, learned: SiteRules) -> SiteRules:
        """Return what was learned of the source with the URLs and pages of the whole site."""
        if not self.is_large:
            return learned
        source, whole = self._judged(self.source), self._judged(self.site)
        unstable = source.urls.filter(pa.array(np.isin(source.page, learned.restless)))
        pages = np.unique(whole.page[np.asarray(pc.is_in(whole.urls, value_set=unstable), np.bool_)])
        urls = int((self.site.cluster_of_node >= 0).sum())
        return replace(learned, urls=urls, pages=self.site.cluster_count, restless=tuple(pages.tolist()))

    def checked(self, learned: SiteRules, learn: Learn, given: Sequence[Rule] = ()) -> CheckedPages:
        """Return what the rules do to pages that they were not learned from.

        Args:
            learned: What was learned, as it is used and `completed`.
            learn: Learns from other pages in the same way.
            given: Rules from before. If they may have been learned from these pages, no page is left to
                check them on.

        """
        if not any(rule.kind != "keep" for rule in learned.rules) or self._may_know(given):
            return CheckedPages()
        site = self._judged(self.site)
        unstable = np.isin(np.arange(site.count), learned.restless)
        site = replace(site, evidence=WithoutUnstable(site.evidence, unstable[site.page]))
        return checked_pages(self._trials(site, learned, learn), unstable)

    def _judged(self, some: SiteClusters) -> Site:
        asked = self.requirements
        return Site.of(some, seed=asked.seed, most_urls=asked.most_urls, most_bytes=asked.most_bytes)

    def _trials(self, site: Site, learned: SiteRules, learn: Learn) -> Iterator[tuple[KeyState, Bools]]:
        """Yield the site under rules, each time with the pages that these were not learned from."""
        node = np.asarray(pc.index_in(site.urls, value_set=self.site.node_urls.cast(site.urls.type)))
        part_of_page = np.full(site.count, -1, np.int64)
        part_of_page[site.page[::-1]] = self.part[self.site.cluster_of_node[node[::-1]]]
        for part in range(self.parts):
            rules = learned.rules if self.is_large else learn(self._without(part)).rules
            yield KeyState(site, tuple(Given(rule=rule) for rule in rules)), part_of_page == part

    def _may_know(self, given: Sequence[Rule]) -> bool:
        """Return whether rules from before may have been learned from URLs of this input."""
        records = [Record.from_json(rule.extra.get(COUNTED)) for rule in given]
        if not any(records):
            return False
        seen = SeenUrls.of(self.site)
        return any(record is not None and record.new_share(seen) < 1.0 for record in records)
