"""What the tally of a site counts for, and the sums over sites."""

from __future__ import annotations

import random

import pytest

from tests.learning.test_across import shown
from undust.learning import Requirements
from undust.learning.generic import HeldShapes, SiteVote, shape_of, vote_of

CARE = Requirements(min_support=5)


@pytest.mark.parametrize(
    ("pages", "lost", "vote"),
    [
        (20, 0, SiteVote(holds=5, fails=0, proves=1, opposes=0)),
        (3, 0, SiteVote(holds=3, fails=0, proves=0, opposes=0)),
        (0, 2, SiteVote(holds=0, fails=2, proves=0, opposes=1)),
        (0, 40, SiteVote(holds=0, fails=5, proves=0, opposes=1)),
        (39, 1, SiteVote(holds=5, fails=0, proves=0, opposes=1)),
    ],
)
def test_a_site_counts_by_its_pages(pages: int, lost: int, vote: SiteVote) -> None:
    """Up to the number that a proof needs; a little doubt opposes and does not count as a failure."""
    assert vote_of(shown("a.test", pages=pages, lost=lost), CARE) == vote


def test_the_sums_do_not_depend_on_the_order() -> None:
    """Nor do the tallies of a shape, which come by site."""
    said = [shown(f"s{n}.test", pages=n % 9, lost=n % 4 // 3) for n in range(1, 60)]
    mixed = random.Random(2).sample(said, len(said))
    one, other = HeldShapes(said, CARE), HeldShapes(mixed, CARE)
    (sums,) = one.proved(1)
    assert list(other.proved(1)) == [sums]
    assert sums.proved == sum(vote_of(each, CARE).proves for each in said)
    assert sums.saves == sum(each.saved for each in said if not vote_of(each, CARE).opposes)
    assert list(one.proved(len(said))) == []
    assert one.families() == {"lone parameter": {(sums.holds, sums.fails): 1}}
    assert list(other.tallies([shape_of(said[0])])) == sorted(said)
