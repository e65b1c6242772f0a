"""Scrapy crawls that learn while they run: endless ones end, and no page is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

import undust
from bench.crawl import SPIDER, crawled
from bench.sites import site
from bench.sites.endless import EndlessSite
from bench.sites.links import LinkedSite
from bench.sites.server import LOOPBACK, serving
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


class FailingOnce(SmallSite):
    """A site on which every URL but the first gives an error when it is asked for the first time."""

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return the page, or an error."""
        answer = super().answer(url, version)
        is_ready = version > 0 or url == f"{HOME}/"
        return answer if is_ready else answer._replace(status=503, body=b"<p>busy")


def items_with_sessions(items: int, *versions: str) -> dict[str, Answer]:
    """Return a home page and items, each linked with several session ids."""
    links = {f"/item?id={n}&sid={v}{n * 7919 % 9973:04x}": n for n in range(items) for v in versions}
    texts = [" ".join(f"word{n * word % 997}" for word in range(1, 60)) for n in range(items)]
    found = {"/": page("home", *links)}
    return found | {link: page(f"Item {n}: {texts[n]}") for link, n in links.items()}


def paths_of(urls: list[str]) -> set[str]:
    """Return what was asked for, without the host."""
    return {url.removeprefix(HOME) for url in urls}


def item_of(path: str) -> str:
    """Return a URL of the small site without its session id."""
    return path.partition("&sid")[0]


def test_pages_that_fail_once_are_tried_again(tmp_path: Path) -> None:
    """What Scrapy tries again after an error is not taken for something that was fetched."""
    answers = items_with_sessions(12, "a")
    settings = {"UNDUST_LEARN": True, "UNDUST_STATE": tmp_path / "state"}
    ended = run_spider(SPIDER, FailingOnce(answers), settings, {"start": f"{HOME}/"})
    assert ended.code == 0, ended.log
    found = [request.url for request in ended.requests if request.status == 200]
    assert paths_of(found) == set(answers)


def test_a_crawl_learns_from_the_cache(tmp_path: Path) -> None:
    """What HTTPCACHE has is decided and learned from like what the site sends; nothing is fetched again."""
    answers = items_with_sessions(30, "a", "b", "c")
    cached = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": tmp_path / "cache"}
    first = run_spider(SPIDER, SmallSite(answers), cached | {"ADDONS": {}}, {"start": f"{HOME}/"})
    assert paths_of(first.urls) == set(answers), first.log
    learning = {"UNDUST_LEARN": True, "UNDUST_STATE": tmp_path / "state"}
    second = run_spider(SPIDER, SmallSite(answers), cached | learning, {"start": f"{HOME}/"})
    assert second.code == 0, second.log
    assert second.urls == []
    assert stat(second.log, "pages") == 31
    assert stat(second.log, "skipped") > 10


TWO_SPIDERS = """
import sys
import time
from scrapy.crawler import CrawlerProcess
sys.path.insert(0, sys.argv[1])
from crawl_spider import LinkSpider

process = CrawlerProcess({
    "ADDONS": {"undust.integrations.scrapy.Addon": 500},
    "UNDUST_LEARN": True, "UNDUST_STATE": sys.argv[2], "TELNETCONSOLE_ENABLED": False,
})
for start in sys.argv[3:]:
    process.crawl(LinkSpider, start=start)
process.start()
"""


def test_spiders_of_one_process_share_a_state(tmp_path: Path) -> None:
    """Two spiders with one state learn from each other and lose no page, and the state is closed once."""
    answers = items_with_sessions(30, "a", "b", "c")
    links = [link for link in answers if "sid" in link]
    answers["/"] = page("home", *(link for link in links if "sid=a" in link))
    answers["/other"] = page("the other entrance", *(link for link in links if "sid=a" not in link))
    words = [sys.executable, "-c", TWO_SPIDERS, str(SPIDER.parent), str(tmp_path / "state")]
    with serving(SmallSite(answers)) as server:
        proxy = {"http_proxy": f"http://{LOOPBACK}:{server.port}", "no_proxy": ""}
        ended = subprocess.run(
            [*words, f"{HOME}/", f"{HOME}/other"],
            env=os.environ | proxy,
            capture_output=True,
            text=True,
            check=False,
        )
        urls = [request.url for request in server.requests if not request.url.endswith("/robots.txt")]
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("'finish_reason': 'finished'") == 2
    assert len(urls) == len(set(urls))
    assert {item_of(path) for path in paths_of(urls)} == {item_of(path) for path in answers}
    assert len(urls) < len(answers)
    assert len(undust.load(tmp_path / "state" / "rules.json")) > 0
    undust.CrawlLearner(tmp_path / "state").close()


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


class SlowOnce(SmallSite):
    """A site on which one form of a page takes two seconds and gives an error."""

    def answer(self, url: str, version: int = 0) -> Answer:
        """Return the page."""
        if "%69" in url:
            time.sleep(2)
        return super().answer(url, version)


WAITING_SPIDERS = """
import sys
import time
import scrapy
from scrapy.crawler import CrawlerProcess

class First(scrapy.Spider):
    name = "first"
    start_urls = ["http://small.test/"]
    def parse(self, response):
        yield response.follow("/%69tem?id=1", callback=self.parse_first)
        yield response.follow("/item?id=2", callback=self.parse_first)
    def parse_first(self, response):
        print("first has", response.url)

class Second(scrapy.Spider):
    name = "second"
    start_urls = ["http://small.test/second"]
    custom_settings = {"DOWNLOAD_DELAY": 0.3}
    def parse(self, response):
        yield response.follow("/item?id=1", callback=self.parse_second)
        yield response.follow("/item?id=2", callback=self.parse_second)
    def parse_second(self, response):
        print("second has", response.url)

process = CrawlerProcess({
    "ADDONS": {"undust.integrations.scrapy.Addon": 500},
    "UNDUST_LEARN": True, "UNDUST_STATE": sys.argv[1], "TELNETCONSOLE_ENABLED": False,
})
process.crawl(First)
process.crawl(Second)
process.start()
"""


def test_a_spider_waits_for_what_others_fetch(tmp_path: Path) -> None:
    """What it skipped for a request of another spider comes back to it if that fails; nothing comes twice."""
    answers = {path: page(path) for path in ("/", "/second", "/item?id=1", "/item?id=2")}
    with serving(SlowOnce(answers)) as server:
        proxy = {"http_proxy": f"http://{LOOPBACK}:{server.port}", "no_proxy": ""}
        ended = subprocess.run(
            [sys.executable, "-c", WAITING_SPIDERS, str(tmp_path / "state")],
            env=os.environ | proxy,
            capture_output=True,
            text=True,
            check=False,
        )
        urls = [request.url for request in server.requests if not request.url.endswith("/robots.txt")]
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("'finish_reason': 'finished'") == 2
    assert "second has http://small.test/item?id=1" in ended.stdout
    assert len(urls) == len(set(urls))
    assert {path for path in paths_of(urls) if "%69" not in path} == set(answers)
