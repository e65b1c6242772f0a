"""Pages that neither proposal nor selection saw, and how many of them final rules lose.

A bound from the pages that a rule was chosen on is too low: what is chosen looks better than it is. So it is
counted on other pages, in pages and not in pairs of URLs (one page alone may make many false pairs), and
pages that are lost together count as one mistake.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from undust.judging.effect import lost_under
from undust.judging.unstable import SEEN, ChangingPages, MergedUrls
from undust.statistics import upper_bound_beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from undust.judging.site import PairEvidence
    from undust.judging.state import KeyState

    Bools = NDArray[np.bool_]

_ROUNDING = 1e-9
NOT_CHECKED = "not checked on pages that nothing was learned from"
LOST_ALIKE = 0.01
"""How much pages of one site agree in being lost, where no lost page shows it: the largest intraclass
correlation on five splits of the sites of `bench.calibration` (0.002 to 0.010)."""


@dataclass(frozen=True)
class CheckedPages:
    """Pages that nothing was learned from, and what the rules do to them.

    >>> print(CheckedPages(1240, 1, 1))
    at most 0.38 % of pages lost (95 % confidence, 1,240 pages checked)
    >>> print(CheckedPages(1240, 8, 8, seen=2000, changing=12, expected=7.4, variance=4.5))
    at most 0.7 % of pages lost (95 % confidence, 1,240 pages checked); 0.6 % of the pages change between \
fetches
    >>> print(CheckedPages())
    not checked on pages that nothing was learned from
    """

    pages: int = 0
    lost: int = 0
    """Of those: merged into a different page, near copies forgiven."""
    groups: int = 0
    """Groups of merged URLs that lose them; pages of one group are lost together, by one mistake."""
    unstable: int = 0
    """Pages beside these that could not be checked, because they change between fetches."""
    sites: int = 0
    """Where a sample of the sites was checked: how many, …"""
    unchecked: int = 0
    """… and how many others have rules."""
    spread: float = 1.0
    """The number of pages that say as much of the other sites as one page drawn from all sites."""
    modelled: float | None = None
    """Where no page was checked: what is lost at most, from what is known of rules like these."""
    seen: int = 0
    """Pages of the site, checked or not, that show whether they change between fetches …"""
    changing: int = 0
    """… and how many of these do."""
    expected: float = 0.0
    """Groups that are expected to seem lost because their page changes, where that cannot be seen …"""
    variance: float = 0.0
    """… and the variance of that number."""

    def __add__(self, other: CheckedPages) -> CheckedPages:
        """Return the counts of both."""
        return CheckedPages(
            self.pages + other.pages,
            self.lost + other.lost,
            self.groups + other.groups,
            self.unstable + other.unstable,
            self.sites + other.sites,
            self.unchecked + other.unchecked,
            seen=self.seen + other.seen,
            changing=self.changing + other.changing,
            expected=self.expected + other.expected,
            variance=self.variance + other.variance,
        )

    @property
    def upper(self) -> float:
        """What the share of lost pages does not exceed, with 95 % confidence; 1 if nothing is known.

        Where one group loses several pages there are as many fewer independent observations, and fewer again
        where the pages of a sample of the sites stand for those of all. Some of the groups seem lost because
        their page changes between fetches: how many is not known but by a distribution.
        """
        if not self.pages:
            return 1.0 if self.modelled is None else self.modelled
        together = self.lost / max(1, self.groups)
        size = max(1.0, together, self.spread)
        lost = math.ceil(self.lost / size - _ROUNDING)
        share = together / self.pages
        return upper_bound_beside(
            lost, max(lost, int(self.pages / size)), share * self.expected, share**2 * self.variance
        )

    def as_json(self) -> dict[str, Any]:
        """Return the counts, the bound (null if nothing is known) and the sentence, for machines."""
        counts = asdict(self)
        for name in ("modelled", "variance", *(() if self.unchecked else ("sites", "unchecked", "spread"))):
            del counts[name]
        is_known = self.pages or self.modelled is not None
        return {**counts, "upper": round(self.upper, 6) if is_known else None, "says": str(self)}

    def __str__(self) -> str:
        """Return the sentence that people read."""
        most = f"at most {_percent(self.upper)} of pages lost"
        if not self.pages:
            if self.modelled is None:
                return NOT_CHECKED
            return f"{most}, from what is known of such rules (no page of this site was checked)"
        many = "page" if self.pages == 1 else "pages"
        where = f" of {self.sites:,} of {self.sites + self.unchecked:,} sites" if self.unchecked else ""
        sure = f"{most} (95 % confidence, {self.pages:,} {many}{where} checked)"
        if not self.changing or self.seen < SEEN:
            return sure
        return f"{sure}; {_percent(self.changing / self.seen)} of the pages change between fetches"


def checked_of_sites(some: Iterable[CheckedPages]) -> CheckedPages:
    """Return what was checked of all sites together.

    Where only some of the sites were checked, pages of one site are not independent: if one is lost, others
    are likelier lost. How many fewer observations they are is counted from the sites (the design effect of a
    sample of clusters, Kish 1965), and is at least what is known of other sites.
    """
    found = list(some)
    total = sum(found, CheckedPages())
    drawn = [each for each in found if each.pages]
    if not total.unchecked or not drawn:
        return total
    return replace(total, sites=len(drawn), spread=round(_design_effect(drawn, total), 3))


def _design_effect(drawn: list[CheckedPages], total: CheckedPages) -> float:
    rate = total.lost / total.pages
    usual = 1.0 + LOST_ALIKE * (sum(each.pages**2 for each in drawn) / total.pages - 1.0)
    if not 0.0 < rate < 1.0 or len(drawn) == 1:
        return max(1.0, usual)
    squares = sum((each.lost - rate * each.pages) ** 2 for each in drawn)
    between = squares * len(drawn) / (len(drawn) - 1)
    return max(1.0, usual, between / (total.pages * rate * (1.0 - rate)))


def _percent(share: float) -> str:
    """Return a share in per cent, with two digits that matter.

    >>> _percent(0.00381), _percent(0.0999), _percent(0.4712), _percent(1.0)
    ('0.38 %', '10 %', '47 %', '100 %')
    """
    return f"{float(f'{100 * share:.2g}'):g} %"


def checked_pages(
    trials: Iterable[tuple[KeyState, Bools]], unstable: Bools, separates: PairEvidence | None = None
) -> CheckedPages:
    """Return what rules do to pages that they were not learned from.

    A page may be lost under any page of the site, also one that the rules were learned from. Pages of which
    nothing is known, and pages that change between fetches, cannot be checked.

    Args:
        trials: The whole site under some rules, each with the pages that these were not learned from.
        unstable: Of each page whether it is known to change between fetches; more are found here.
        separates: What is known of pairs of URLs, also of unstable pages, if it is known from one digest or
            sketch a fetch: pages that change are then expected among those that seem lost.

    """
    pages = lost = left_out = 0
    groups: set[int] = set()
    change = ChangingPages()
    for state, aside in trials:
        site = state.site
        speaks = np.zeros(site.count, np.bool_)
        speaks[site.page[~site.evidence.silent(np.arange(len(site.page)))]] = True
        under, gone = lost_under(state)
        merged = MergedUrls(state, under)
        changes = unstable.copy()
        changes[gone[np.isin(under, merged.unexplained())]] = True
        own = aside & speaks & ~changes
        is_own = own[gone]
        pages += int(own.sum())
        lost += len(np.unique(gone[is_own]))
        left_out += int((aside & changes).sum())
        groups.update(np.unique(state.page_of_key[under[is_own]]).tolist())
        if separates is not None:
            change += merged.changing(separates, own)
    return CheckedPages(
        pages,
        lost,
        len(groups),
        left_out,
        seen=change.seen,
        changing=change.changing,
        expected=round(change.expected, 6),
        variance=round(change.deviation**2, 6),
    )
