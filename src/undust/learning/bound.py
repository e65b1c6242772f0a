"""The bound that holds for all rules of a site together, on pages that no proposal was made from.

A rule is admitted on what is likely; for the set a person is promised that at most `max_fpr` of the pairs
of URLs that it sends to one form show two pages, with 95 % confidence. While there are false pairs and the
bound is not kept, the rule with most of them goes. Without a single false pair more evidence is all
that would help: then the bound is stated, and the rules stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from undust.learning.state import State
from undust.pages.clustering.near_copies import agreement
from undust.statistics import upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from undust.learning.site_pages import SitePages
    from undust.rules import Rule

    Ints = NDArray[np.int64]


class HeldPairs(NamedTuple):
    """Pairs of URLs of held-out pages that rules send to one form."""

    pairs: int
    false: int
    """Those of two pages that are not near copies, and do not change at every fetch."""

    @property
    def fpr_upper(self) -> float:
        """What the share of false pairs does not exceed, with 95 % confidence."""
        return upper_bound(self.false, self.pairs)


def held_pairs(state: State) -> HeldPairs:
    """Return the pairs of held-out pages that have one image now."""
    pages = state.pages
    rows = np.flatnonzero(pages.is_held[state.on])
    image, page, urls = state.at[rows], state.on[rows], state.urls_of_pair[rows]
    order = np.lexsort((page, -urls, image))
    image, page, urls = image[order], page[order], urls[order]
    starts = np.diff(image, prepend=-1) != 0
    group = np.cumsum(starts) - 1
    main = page[starts][group] if len(group) else page
    apart = np.where(_is_other(pages, page, main), urls, 0)
    total = np.bincount(group, urls, int(starts.sum()))
    wrong = np.bincount(group, apart, int(starts.sum()))
    pairs = int(_pairs(total).sum())
    return HeldPairs(pairs, pairs - int(_pairs(total - wrong).sum() + _pairs(apart).sum()))


def bounded(state: State, most: float, least_rules: int, may_go: Callable[[Rule], bool]) -> State:
    """Return the state without the rules that keep the set from its bound.

    Args:
        state: All rules at work.
        most: What the upper limit may be.
        least_rules: This many of the first rules stay whatever they do.
        may_go: Whether a rule was seen to send two pages to one form, so that it pays to try without it.

    """
    found = held_pairs(state)
    while found.false and found.fpr_upper > most:
        trials = [
            (held_pairs(without), place, without)
            for place in range(least_rules, len(state.rules))
            if may_go(state.rules[place])
            for without in [State(state.pages, [*state.rules[:place], *state.rules[place + 1 :]])]
        ]
        best = min(trials, key=lambda trial: (trial[0].false, -trial[0].pairs, trial[1]), default=None)
        if best is None or best[0].false >= found.false:
            break
        found, _, state = best
    return state


def _is_other(pages: SitePages, page: Ints, main: Ints) -> NDArray[np.bool_]:
    """Return whether pages are others than the main ones beside them, so that they would be lost."""
    other: NDArray[np.bool_] = (page != main) & ~pages.silent[page] & ~pages.silent[main]
    if pages.has_blocks:
        other[other] = pages.differ(page[other], main[other])
        return other
    ours, theirs = pages.sketch[page], pages.sketch[main]
    rows = np.flatnonzero(other & (ours >= 0) & (theirs >= 0))
    if len(rows):
        other[rows] = agreement(pages.site.sketches, ours[rows], theirs[rows]) < pages.needed
    return other


def _pairs(urls: NDArray[np.float64] | Ints) -> NDArray[np.float64] | Ints:
    return urls * (urls - 1) // 2
