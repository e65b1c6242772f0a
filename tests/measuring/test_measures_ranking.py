"""Qualified rate and precision@k, by hand."""

from __future__ import annotations

import pytest

from undust.measuring.measures import Ranking, interleaved


def test_rates_of_a_ranking() -> None:
    """Three of five are valid, two of the first three, and a k beyond the end takes all."""
    ranking = Ranking((True, False, True, False, True))
    assert ranking.qualified_rate == 0.6
    assert ranking.precision_at(3) == pytest.approx(2 / 3)
    assert ranking.precision_at(1) == 1.0
    assert ranking.precision_at(100) == 0.6
    low, high = ranking.interval_at(3)
    assert low < 2 / 3 < high
    assert ranking.interval[0] < 0.6 < ranking.interval[1]


def test_nothing_proposed() -> None:
    """No candidate, no rate, and nothing known about it."""
    assert (Ranking().qualified_rate, Ranking().precision_at(10)) == (0.0, 0.0)
    assert Ranking().interval == (0.0, 1.0)


def test_published_rates() -> None:
    """The counts that Lei et al. print give the shares they print."""
    for raw, qualified, printed in ((52_577, 19_754, 37.6), (36_149, 13_813, 38.2), (14_912, 6_373, 42.7)):
        ranking = Ranking((True,) * qualified + (False,) * (raw - qualified))
        assert 100 * ranking.qualified_rate == pytest.approx(printed, abs=0.06)


def test_one_direction_is_enough() -> None:
    """A rule and its reverse are one, at the place of the first, valid if either is."""
    told = [("a", "b", False), ("c", "d", False), ("b", "a", True), ("e", "f", True)]
    assert Ranking.either_way(told) == Ranking((True, False, True))


def test_sites_take_turns() -> None:
    """The best of each site come before the second best of any."""
    assert interleaved([Ranking((True, True)), Ranking((False,))]) == Ranking((True, False, True))
    assert Ranking((True,)) + Ranking((False,)) == Ranking((True, False))
