"""A job larger than its memory, seen from outside; and ten thousand sites of which some fail."""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from bench.scale import measured, problems
from bench.scale_rows import batches, site_name
from undust.engines import LocalEngine
from undust.learning import SiteRules
from undust.observations import table_of
from undust.pipeline import learn_combined, one_site

if TYPE_CHECKING:
    from pathlib import Path

    from undust.duplicates import SiteClusters


@pytest.mark.slow
def test_two_hundred_thousand_rows_in_little_memory(tmp_path: Path) -> None:
    """Half of them of one site, which does not fit: it finishes, within its memory, and leaves nothing."""
    asked = argparse.Namespace(minima=32, threads=2, memory="384MB", resume=False)
    figures = measured(200_000, "local", asked, tmp_path)
    assert list(problems([figures])) == []
    assert figures["disk_bytes"] > 10 << 20  # it did not fit
    assert (figures["sites"], figures["failed"]) == (200, 0)
    (giant,) = figures["sampled"]
    assert giant == site_name(0)
    assert figures["sampled"][giant]["urls"] > 70_000
    assert figures["rules"] > 200


@pytest.mark.slow
def test_of_ten_thousand_sites_one_in_a_hundred_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others complete, and the failed are named."""
    names = [f"s{number}.test" for number in range(10_000)]
    failing = set(random.Random(8).sample(names, 100))
    table = table_of(pa.table({"url": [f"http://{name}/{page}" for name in names for page in (1, 2)]}))

    def learn_or_fail(site: SiteClusters, *_: object) -> SiteRules:
        if site.site in failing:
            raise OSError(site.site)
        return SiteRules(site.site, (), 0, {}, urls=2, left=2, pages=2, lost=0)

    monkeypatch.setattr(one_site, "learn_site", learn_or_fail)
    monkeypatch.setattr(one_site, "shown_by", lambda *_: [])
    with LocalEngine(threads=1) as engine:
        outcome = learn_combined(table, engine=engine)
    assert set(outcome.failed) == set(outcome.as_json()["failed"]) == failing
    assert [site.site for site in outcome.sites] == sorted(set(names) - failing)


def test_the_rows_are_as_they_are_said_to_be() -> None:
    """Half of them of the giant, several URLs for a page, and always the same."""
    table = pa.Table.from_batches(batches(20_000))
    assert table.equals(pa.Table.from_batches(batches(20_000)))
    urls = table["url"].to_pylist()
    giant = sum("site0.test/" in url for url in urls)
    assert 0.48 < giant / len(urls) < 0.52
    pages = len(set(table["digest"].to_pylist()))
    assert 1.2 < len(set(urls)) / pages < 4
