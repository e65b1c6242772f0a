"""Which values a tree keeps apart: the paper's decline, and what it leaves open."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from undust.urls.tree.salience import least_count, salient


def chosen(counts: list[int], least: float = 2, *, has_absent: bool = False) -> int:
    """How many of the values, the most frequent first, are salient."""
    found = salient(np.array(counts), least, has_absent=has_absent)
    assert found.tolist() == sorted(found.tolist(), reverse=True)
    return int(found.sum())


def test_the_largest_decline_parts_salient_from_trivial() -> None:
    """G16: 60, 40, 1, 1, 1 decline by 0.405, 3.689, 0 and 0: two values are salient."""
    counts = [60, 40, 1, 1, 1]
    declines = [math.log(one) - math.log(other) for one, other in pairwise(counts)]
    assert declines == pytest.approx([0.405, 3.689, 0, 0], abs=5e-4)
    assert chosen(counts) == 2


def test_what_the_paper_leaves_open() -> None:
    """One value, equal values, presence and absence, a quarter of the URLs, and too few of them."""
    assert chosen([7]) == 1
    assert chosen([5, 5, 5, 5]) == 0
    assert chosen([5, 5], has_absent=True) == 2
    assert chosen([5, 5]) == 0
    assert chosen([60, 30, 2, 1]) == 2
    assert chosen([1000, 400, 300, 1]) == 3
    assert chosen([4, 2, 1]) == 2
    assert chosen([90, 40, 1], least=50) == 1
    assert (least_count(100), least_count(70_000)) == (2, 70)
