"""Ten thousand sites, of which some fail for reasons of their own."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from undust.cli.outcomes import told
from undust.engines import LocalEngine
from undust.observations import table_of
from undust.pipeline import learn_combined, one_site

if TYPE_CHECKING:
    from undust.duplicates import SiteClusters
    from undust.learning import SiteRules

PAGES, COPIES = 6, 3
FAILURES = (OSError, MemoryError, ValueError, RecursionError, ArithmeticError, UnicodeError)


def crawl_of(names: list[str]) -> pa.Table:
    """A small crawl of each site: some pages, each under several session ids."""
    seen = [
        (f"http://{name}/item?id={page}&sid={page * COPIES + copy}", f"{name} {page}")
        for name in names
        for page in range(PAGES)
        for copy in range(COPIES)
    ]
    urls, digests = zip(*seen, strict=True)
    return table_of(pa.table({"url": urls, "digest": digests}))


@pytest.mark.parametrize(
    "sites",
    [200, pytest.param(10_000, marks=[pytest.mark.huge, pytest.mark.timeout(3600)])],
)
def test_one_site_in_a_hundred_fails(sites: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are learned as ever, and the failed are named, each with its reason."""
    chance = random.Random(8)
    names = [f"s{number}.test" for number in range(sites)]
    failing = {name: chance.choice(FAILURES) for name in chance.sample(names, sites // 100)}
    learn_site = one_site.learn_site

    def learn_or_fail(site: SiteClusters, *rest: object) -> SiteRules:
        if site.site in failing:
            raise failing[site.site](site.site)
        return learn_site(site, *rest)

    monkeypatch.setattr(one_site, "learn_site", learn_or_fail)
    with LocalEngine(threads=1) as engine:
        outcome = learn_combined(crawl_of(names), engine=engine)
    assert outcome.failed == {
        name: f"learning from them failed: {failure.__name__}: {name}"
        for name, failure in sorted(failing.items())
    }
    assert [site.site for site in outcome.sites] == sorted(set(names) - set(failing))
    assert all((site.urls, site.left) == (PAGES * COPIES, PAGES) for site in outcome.sites)
    shown = [line for line in told(outcome) if "gave nothing" in line]
    assert len(shown) == min(len(failing), 10 + 1)
