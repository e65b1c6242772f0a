"""Exact intervals: against sums of the binomial distribution, and published tables."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undust.statistics import interval, upper_bound


def at_most(hits: int, trials: int, rate: float) -> float:
    """The chance of `hits` or fewer, by adding up the binomial distribution."""
    return math.fsum(math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(hits + 1))


@given(st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))))
def test_upper_bound_is_where_so_few_hits_become_unlikely(counted: tuple[int, int]) -> None:
    """At the bound, seeing so few hits or fewer has exactly the chance that was left over."""
    hits, trials = counted
    assert at_most(hits, trials, upper_bound(hits, trials)) == pytest.approx(0.05, rel=1e-6)


@given(st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_is_symmetric(counted: tuple[int, int]) -> None:
    """Counting misses instead of hits mirrors the interval."""
    hits, trials = counted
    low, high = interval(hits, trials)
    mirrored_low, mirrored_high = interval(trials - hits, trials)
    assert low <= hits / trials <= high
    assert low == pytest.approx(1 - mirrored_high, abs=1e-12)
    assert high == pytest.approx(1 - mirrored_low, abs=1e-12)


def test_rule_of_three() -> None:
    """Without a hit in n trials the bound is about 3 / n, for large n too."""
    for trials in (100, 10_000, 10_000_000):
        assert upper_bound(0, trials) == pytest.approx(3 / trials, rel=0.02)


def test_large_counts_are_close_to_the_rate() -> None:
    """A million in ten million is 0.1 to three digits."""
    low, high = interval(1_000_000, 10_000_000)
    assert 0.0998 < low < 0.1 < high < 0.1002


def test_nothing_known() -> None:
    """Without trials every rate is possible."""
    assert interval(0, 0) == (0.0, 1.0)
    assert upper_bound(0, 0) == 1.0
