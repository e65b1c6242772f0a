"""How many pages rules lose, bounded on pages that nothing of them was learned from.

A bound from the pages that a rule was chosen on is too low: what is chosen looks better than it is. So some
pages are set aside, before anything is proposed, and only looked at when the rules are final.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.measuring.counts import lost_by_image
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.measuring.judged import Labelled
    from undust.rules import RuleSet


@dataclass(frozen=True)
class CheckedPages:
    """Pages that were set aside, and what final rules do to them.

    >>> print(CheckedPages(1240, 1, 1))
    at most 0.38% of pages lost (95% confidence, 1,240 pages checked)
    """

    pages: int = 0
    lost: int = 0
    """Of those: merged into a different page, near copies forgiven."""
    groups: int = 0
    """Groups of merged URLs that lose them; pages of one group are lost together, by one mistake."""

    def __add__(self, other: CheckedPages) -> CheckedPages:
        return CheckedPages(self.pages + other.pages, self.lost + other.lost, self.groups + other.groups)

    @property
    def upper(self) -> float:
        """What the share of lost pages does not exceed, with 95 % confidence.

        Where one group loses several pages there are as many fewer independent observations.
        """
        size = max(1.0, self.lost / max(1, self.groups))
        return upper_bound(self.groups, max(self.groups, int(self.pages / size)))

    def __str__(self) -> str:
        return f"at most {self.upper:.2%} of pages lost (95% confidence, {self.pages:,} pages checked)"


def checked_pages(rules: RuleSet, known: Iterable[Labelled], aside: Iterable[Labelled]) -> CheckedPages:
    """Return what rules do to pages that were set aside.

    Args:
        rules: The set as it is deployed.
        known: All URLs whose page is known, by site; a page may be lost under any of them.
        aside: Those of the pages that were set aside.

    """
    pages = {site.site: frozenset(site.pages) for site in aside}
    total = CheckedPages()
    canonical = rules.compile()
    for site in known:
        own = pages.get(site.site, frozenset())
        if not own:
            continue
        images = canonical.batch(site.urls, keys=True)
        lost = [own.intersection(some) for some in lost_by_image(site.known, images)]
        total += CheckedPages(len(own), len(frozenset().union(*lost)), sum(map(bool, lost)))
    return total
