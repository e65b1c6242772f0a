"""Which values a tree keeps apart: the paper's decline, and what it leaves open."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from undust.urls.pattern_tree import least_count, salient


def chosen(counts: list[int], least: float = 2, total: int | None = None) -> int:
    """How many of the values, the most frequent first, are salient."""
    found = salient(np.array(counts), least, total=sum(counts) if total is None else total)
    assert found.tolist() == sorted(found.tolist(), reverse=True)
    return int(found.sum())


def test_the_largest_decline_parts_salient_from_trivial() -> None:
    """G16: 60, 40, 1, 1, 1 decline by 0.405, 3.689, 0 and 0: two values are salient."""
    counts = [60, 40, 1, 1, 1]
    declines = [math.log(one) - math.log(other) for one, other in pairwise(counts)]
    assert declines == pytest.approx([0.405, 3.689, 0, 0], abs=5e-4)
    assert chosen(counts) == 2


def test_what_the_paper_leaves_open() -> None:
    """One value, a quarter of the URLs, and too few of them."""
    assert chosen([7]) == 1
    assert chosen([60, 30, 2, 1]) == 2
    assert chosen([1000, 400, 300, 1], least=30) == 3
    assert chosen([90, 40, 1], least=50) == 1
    assert chosen([9, 9, 9], total=1000, least=30) == 0


def test_about_equal_values_are_salient_together_or_not_at_all() -> None:
    """Five language folders are five forms, whether they have 60 pages each or nearly; ids are none."""
    assert chosen([60] * 5, least=17) == 5
    assert chosen([62, 61, 60, 59, 58], least=17) == 5
    assert chosen([8] * 50, least=20) == 0
    assert chosen([410, 390], least=28) == 2


def test_the_least_number_of_urls_does_not_vanish_on_small_sites() -> None:
    """The square root of their number; a thousandth where that is more."""
    assert (least_count(2), least_count(900), least_count(90_000)) == (2, 30, 300)
    assert least_count(4_000_000) == 4000
