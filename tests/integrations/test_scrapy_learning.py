"""Scrapy crawls that learn while they run: endless ones end, and no page is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

import undust
from bench.crawl import SPIDER, crawled
from bench.sites import site
from bench.sites.endless import EndlessSite
from bench.sites.links import LinkedSite
from bench.spiders import run_spider
from tests.integrations.small_site import HOME, SmallSite, moved, page
from undust.errors import RefusedStart
from undust.integrations.scrapy import Addon

if TYPE_CHECKING:
    from pathlib import Path

    from bench.sites.answers import Answer


def stat(log: str, name: str) -> int:
    """A figure of the stats that Scrapy prints at the end."""
    line = next(line for line in log.splitlines() if f"'undust/{name}'" in line)
    return int(line.rpartition(": ")[2].strip(",}"))


def test_an_endless_crawl_ends(tmp_path: Path) -> None:
    """Every link of a shop has a new session id; the crawl ends by itself, with every page, soon."""
    endless = EndlessSite(site("shop", 200, seed=5)).with_name("visit")
    settings = {"UNDUST_LEARN": True, "UNDUST_STATE": tmp_path / "state", "CLOSESPIDER_PAGECOUNT": 2000}
    ended = run_spider(SPIDER, endless, settings, {"start": endless.start})
    assert ended.code == 0, ended.log
    assert "'finish_reason': 'finished'" in ended.log
    there = {
        name for name, urls in endless.urls_by_page.items() if endless.site.answer(urls[0]).status != 404
    }
    assert {endless.answer(url).page for url in ended.urls} >= there
    # The order in which pages arrive is not fixed: 2.8 to 5.9 fetches for a page were seen.
    # Without rules there is no end.
    assert len(ended.urls) <= 8 * len(there)
    assert stat(ended.log, "skipped") > len(there)
    assert stat(ended.log, "decided") > stat(ended.log, "explored") > 0
    assert len(undust.load(tmp_path / "state" / "rules.json")) > 0


def test_a_crawl_that_learns_goes_on_from_its_job_directory(tmp_path: Path) -> None:
    """Ended in the middle and started again with the same JOBDIR, it finds every page and repeats little."""
    endless = EndlessSite(site("shop", 120, seed=7)).with_name("sid")
    settings = {"UNDUST_LEARN": True, "UNDUST_STATE": tmp_path / "state", "JOBDIR": tmp_path / "job"}
    crawls = [
        run_spider(SPIDER, endless, settings | {"CLOSESPIDER_PAGECOUNT": limit}, {"start": endless.start})
        for limit in (60, 3000)
    ]
    assert [ended.code for ended in crawls] == [0, 0], crawls[0].log
    assert "'finish_reason': 'finished'" in crawls[1].log
    urls = [url for ended in crawls for url in ended.urls]
    there = {name for name, own in endless.urls_by_page.items() if endless.site.answer(own[0]).status != 404}
    assert {endless.answer(url).page for url in urls} >= there


def test_no_page_is_lost_on_a_site_with_redirects(tmp_path: Path) -> None:
    """A fifth of a forum's URLs redirect to others of the same page; all pages are found even so."""
    linked = LinkedSite(site("forum", 120, seed=3))
    there = {name for name, urls in linked.urls_by_page.items() if linked.site.answer(urls[0]).status != 404}
    found = crawled(linked, {"UNDUST_LEARN": True, "UNDUST_STATE": tmp_path / "state"})
    assert found.pages == there


def test_what_a_wrong_rule_skipped_is_fetched(tmp_path: Path) -> None:
    """A rule from before that is wrong is withdrawn, and its pages are fetched with their callbacks."""
    rule = undust.Rule.parse(
        "rewrite {s}://{h}/{p**}?{**:id}&{rest**} -> {s}://{h}/{p}?{rest}", site="small.test"
    )
    undust.RuleSet([rule]).save(tmp_path / "rules.json")
    links = [f"/item?id={number}" for number in range(40)]
    answers: dict[str, Answer] = {"/": page("home", *links), "/old": moved("/item?id=3")}
    for number, link in enumerate(links):
        words = " ".join(f"word{number * word % 97}" for word in range(1, 60))
        answers[link] = page(f"Item {number}: {words}", "/old")
    settings = {"UNDUST_LEARN": True, "UNDUST_RULES": tmp_path / "rules.json"}
    ended = run_spider(SPIDER, SmallSite(answers), settings, {"start": f"{HOME}/"})
    assert ended.code == 0, ended.log
    assert {url.removeprefix(HOME) for url in ended.urls} == {"/", "/old", *links}
    assert stat(ended.log, "withdrawn") > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"UNDUST_STATE": "state"}, "UNDUST_LEARN is not"),
        ({"UNDUST_LEARN": "sometimes"}, "set it to True, False or 'background'"),
        ({"UNDUST_LEARN": True, "UNDUST_REWRITE": True}, "UNDUST_REWRITE is set beside UNDUST_LEARN"),
    ],
)
def test_settings_that_contradict_are_refused(settings: dict[str, object], message: str) -> None:
    """A crawl that could not go well is not started."""
    with pytest.raises(RefusedStart, match=message):
        Addon(None).update_settings(Settings(settings))  # type: ignore[arg-type]  # never asked
