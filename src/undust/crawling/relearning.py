"""Rows of one site to its rules: the only place where a crawl meets the learner of whole inputs.

Another function of this form can take its place: `CrawlLearner(learn=function)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undust.learning import Requirements, learn_site
from undust.pages.clustering import find_in_site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from undust.rules import Rule

IN_A_CRAWL = Requirements(min_support=4, blind_support=5, narrowed_support=6)
"""What a rule must show in a crawl: less than for good, because every rule is tested by later fetches."""
MOST_LEARNED = 8_000
"""Observations of one site that are learned from at a time."""
FIRST_ROWS = 24
"""Observations of a site before rules are learned for the first time …"""
GROWTH = 1.5
"""… and by which factor they have grown at each later time; only if URLs of one page are left that no rule
makes one."""


class ObservedSite(NamedTuple):
    """What is known of one site when its rules are learned."""

    site: str
    rows: pa.Table
    """Observations in the columns of `undust.read`; the latest of each URL."""
    given: Sequence[Rule] = ()
    """Rules to start from: those that a person gave, and those that the crawl has proved."""
    unwanted: Sequence[Rule] = ()
    """Rules that are not to be learned again."""


if TYPE_CHECKING:
    Learn = Callable[[ObservedSite], Sequence[Rule]]


def learn_in_a_crawl(evidence: ObservedSite) -> Sequence[Rule]:
    """Return the rules of a site as it looks now; a pure function."""
    clusters = find_in_site(evidence.rows, evidence.site)
    return learn_site(clusters, IN_A_CRAWL, evidence.given, evidence.unwanted).rules


def next_learning(rows: int) -> int:
    """Return at how many observations of a site its rules are learned again, after they were at `rows`.

    >>> next_learning(0), next_learning(24), next_learning(1000)
    (24, 36, 1500)
    """
    return max(FIRST_ROWS, int(rows * GROWTH))
