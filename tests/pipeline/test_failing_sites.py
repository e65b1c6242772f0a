"""Ten thousand sites, of which some fail for reasons of their own."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from undust.engines import LocalEngine
from undust.learning import SiteRules
from undust.observations import table_of
from undust.pipeline import learn_combined, one_site

if TYPE_CHECKING:
    from undust.duplicates import SiteClusters


@pytest.mark.huge
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
