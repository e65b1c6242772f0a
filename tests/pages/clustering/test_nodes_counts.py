"""What was seen of a site and left out of it, counted exactly."""

from __future__ import annotations

from tests.pages.clustering.sites import sketch, table
from undust.pages.clustering import find_in_site
from undust.pages.clustering.nodes import SightingCounts

A = "http://a.test/"


def counts(*rows: dict[str, object]) -> SightingCounts:
    """The counts of a site."""
    return find_in_site(table(*rows), "a.test").counts


def test_nothing_seen_is_nothing() -> None:
    """Every count starts at none."""
    assert SightingCounts() == SightingCounts(sightings=0, failed=0, changing=0, leaving=0, odd_sketches=0)


def test_each_kind_is_counted_once() -> None:
    """A failure, a page that changed, a redirect to another site, a sketch of another size."""
    seen = [
        {"url": f"{A}page", "status": 200, "digest": "1", "sketch": sketch(1), "time": 1},
        {"url": f"{A}page", "status": 200, "digest": "2", "sketch": sketch(2), "time": 2},
        {"url": f"{A}other", "status": 200, "digest": "3", "sketch": sketch(3)},
        {"url": f"{A}gone", "status": 404},
        {"url": f"{A}broken", "status": 503},
        {"url": f"{A}away", "status": 302, "redirect": "http://elsewhere.test/"},
        {"url": f"{A}home", "status": 302, "redirect": f"{A}page"},
        {"url": f"{A}nowhere", "status": 302},
        {"url": f"{A}odd", "status": 200, "digest": "4", "sketch": sketch(4)[:5]},
    ]
    assert counts(*seen) == SightingCounts(sightings=9, failed=2, changing=1, leaving=1, odd_sketches=1)


def test_a_status_that_nobody_noted_is_fine() -> None:
    """Lists and many indexes have no status; what they name was there, also when only the size is known."""
    clusters = find_in_site(
        table({"url": f"{A}x", "digest": "1", "size": 300}, {"url": f"{A}y", "digest": "1", "size": 300}),
        "a.test",
    )
    assert clusters.cluster_count == 1
    assert clusters.counts == SightingCounts(sightings=2)
