"""The function that engines map over sites: its row says everything, and a failure stays its own."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import undust
from undust.engines import SITE
from undust.errors import UndustError
from undust.jobs import one_site
from undust.jobs.combined import learn_combined
from undust.jobs.find_duplicates import table_with_site
from undust.jobs.one_site import LEARNED, LearningTask, learn_clusters, learn_rows
from undust.jobs.records import from_text, to_text
from undust.learning import Requirements
from undust.learning.edited import combined_rules
from undust.reading.observations import table_of

if TYPE_CHECKING:
    from undust.learning import SiteRules
    from undust.pages.clustering import SiteClusters

SITES = ("a.test", "b.test", "c.test", "d.test")


def crowd(pages: int = 12) -> pa.Table:
    """Four sites with a session id that changes nothing, and a few pages that are one each."""
    rows = [
        (f"http://{site}/p/{page}{form}", f"{site}{page}")
        for site in SITES
        for page in range(pages)
        for form in ("", "?sid=1", f"?sid={page + 2}")
    ]
    return table_of(pa.table({"url": [url for url, _ in rows], "digest": [digest for _, digest in rows]}))


def test_what_a_site_gave_survives_as_a_text() -> None:
    """Rules, refusals, what became of old rules, and what it says of all sites."""
    rules = undust.learn(crowd())
    before = {site: tuple(rule for rule in rules if rule.site == site) for site in (*SITES, "*")}
    task = LearningTask(Requirements(), before=before, today="2026-01-02")
    for site in undust.find_duplicates(crowd()):
        learned = learn_clusters(site, task)
        assert learned.rules.rules or learned.again
        assert learned.shown
        assert from_text(to_text(learned)) == learned
        told = replace(learned.rules, refused=())
        assert learn_clusters(site, replace(task, keeps_refused=False)).rules == told


def test_the_function_travels_and_gives_one_row() -> None:
    """Pickled with its task; what is no URL gives none."""
    function = pickle.loads(pickle.dumps(partial(learn_rows, task=LearningTask(Requirements()))))  # noqa: S301
    table = table_with_site(crowd())
    rows = function("a.test", table.filter(pa.compute.equal(table[SITE], "a.test")))
    assert rows.schema == LEARNED
    (row,) = rows.to_pylist()
    assert (row["site"], row["failure"], row["rows"]) == ("a.test", None, 36)
    assert from_text(row["learned"]).rules.urls == 36
    assert function("", table) == LEARNED.empty_table()


def test_a_site_that_fails_is_named_and_the_others_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rules are missing, those of the others are what they would be without it."""

    def broken(site: SiteClusters, *rest: object) -> SiteRules:
        if site.site == "b.test":
            message = "no\nluck"
            raise ZeroDivisionError(message)
        return combined_rules(site, *rest)  # type: ignore[arg-type]

    table = table_with_site(crowd())
    others = learn_combined(table.filter(pa.compute.not_equal(table[SITE], "b.test")))
    monkeypatch.setattr(one_site, "combined_rules", broken)
    outcome = learn_combined(crowd())
    failed = {"b.test": "learning from them failed: ZeroDivisionError: no luck"}
    assert outcome.failed == outcome.as_json()["failed"] == failed
    assert outcome.rules.dumps() == others.rules.dumps()
    assert len(outcome.sites) == len(SITES) - 1
    with pytest.raises(UndustError, match=r"b\.test: learning from them failed: ZeroDivisionError: no luck"):
        undust.learn(crowd())
