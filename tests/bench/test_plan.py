"""What a crawl costs on a cluster follows from what runs cost, as it is said."""

from __future__ import annotations

from typing import Any

import pytest

from bench.plan import CRAWLS, RULE_BYTES, costs, exponents, plan


def run(urls: int, sites: int, seconds: float) -> dict[str, Any]:
    """The figures of a run with one stage."""
    return {
        "urls": urls,
        "sites": sites,
        "stages": {"learning": seconds, "across sites": 0.0, "writing": 0.0},
    }


def test_the_price_of_a_url_and_of_a_site_are_told_apart() -> None:
    """Two runs are exact, more are fitted, and nothing costs less than nothing."""
    sizes = [(1_000_000, 100), (2_000_000, 9_000), (500_000, 50)]
    runs = [run(urls, sites, 40e-6 * urls + 5e-3 * sites) for urls, sites in sizes]
    for some in (runs[:2], runs):
        assert tuple(costs(some)["learning"]) == pytest.approx((40, 5))
    assert tuple(costs([run(1000, 1000, 4), run(9000, 500, 1)])["learning"]) == pytest.approx((0, 3.6))


def test_growth_is_told_from_the_smallest_to_the_largest_run() -> None:
    """Whatever their order; a stage that took no time has none."""
    runs = [run(urls, 1, urls**1.5) for urls in (10_000, 100, 1000)]
    assert exponents(runs) == {"learning": pytest.approx(1.5)}
    assert exponents([run(10, 1, 0.0), run(100, 1, 1.0)]) == {}


def test_the_driver_holds_sums_and_packed_rules() -> None:
    """Its memory grows with the sites that have rules, by little; what is known of them is on its disk."""
    found = costs([run(1_000_000, 100, 40), run(2_000_000, 9_000, 90)])
    few, many = (
        plan(CRAWLS[-1], found, hours=6, price=0.04, site_bytes=4000, ruled=share) for share in (0.0, 0.1)
    )
    assert few["driver_gb"] < 1
    assert many["driver_gb"] - few["driver_gb"] == pytest.approx(0.1 * CRAWLS[-1].sites * RULE_BYTES / 1e9)
    assert (few["driver_disk_gb"], many["driver_disk_gb"]) == (0, pytest.approx(160))
