"""Ten thousand sites, of which some fail for reasons of their own."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from undust.engines import LocalEngine
from undust.jobs import one_site
from undust.jobs.combined import learn_combined
from undust.learning.edited import combined_rules
from undust.reading.observations import table_of
from undust.showing.learned import told

if TYPE_CHECKING:
    from undust.learning import SiteRules
    from undust.pages.clustering import SiteClusters

SITES, PAGES, COPIES = 10_000, 20, 2
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


@pytest.mark.huge
@pytest.mark.timeout(3600)
def test_one_site_in_a_hundred_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are learned as ever, and the failed are named, each with its reason."""
    chance = random.Random(8)
    names = [f"s{number}.test" for number in range(SITES)]
    failing = {name: chance.choice(FAILURES) for name in chance.sample(names, SITES // 100)}

    def learn_or_fail(site: SiteClusters, *rest: Any) -> SiteRules:  # noqa: ANN401 -- as they come
        if site.site in failing:
            raise failing[site.site](site.site)
        return combined_rules(site, *rest)

    monkeypatch.setattr(one_site, "combined_rules", learn_or_fail)
    with LocalEngine(threads=1) as engine:
        outcome = learn_combined(crawl_of(names), engine=engine)
    assert outcome.failed == {
        name: f"learning from them failed: {failure.__name__}: {name}"
        for name, failure in sorted(failing.items())
    }
    assert [site.site for site in outcome.sites] == sorted(set(names) - set(failing))
    assert {site.urls for site in outcome.sites} == {PAGES * COPIES}
    assert sum(site.left == PAGES for site in outcome.sites) > 0.9 * SITES
    few = [site.site for site in outcome.sites[:: SITES // 10]]
    alone = learn_combined(crawl_of(few)).rules
    assert [rule for rule in alone if rule.site != "*"] == [r for r in outcome.rules if r.site in few]
    shown = [line for line in told(outcome) if "gave nothing" in line]
    assert [line.split()[0] for line in shown[:-1]] == sorted(failing)[:10]
    assert shown[-1].startswith(f"{SITES // 100 - 10} more sites")
