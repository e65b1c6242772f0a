"""scrapy-redis: crawls that share a real Redis server, with and without our duplicate filter."""

from __future__ import annotations

import shutil
import subprocess
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pytest
import redis

from bench.crawl import SPIDER
from bench.spiders import Ended, run_spider
from tests.integrations.small_site import HOME, SmallSite, page
from tests.servers import free_port
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OURS = "undust.integrations.scrapy.redis.RedisDupeFilter"
THEIRS = "scrapy_redis.dupefilter.RFPDupeFilter"
SCHEDULER = "scrapy_redis.scheduler.Scheduler"
DROP_SID = "rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}"
ANSWERS = {
    "/": page("home", "/a?sid=1", "/a?sid=2", "/a", "/b?sid=3"),
    "/a?sid=1": page("a"),
    "/a?sid=2": page("a"),
    "/a": page("a"),
    "/b?sid=3": page("b"),
}
SAVED = "no effect: DUPEFILTER_CLASS is scrapy_redis.dupefilter.RFPDupeFilter"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Redis server of our own, on loopback; it keeps nothing."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed; on Debian: apt-get install redis-server")
    port, folder = free_port(), tmp_path_factory.mktemp("redis")
    words = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        with closing(redis.Redis(port=port)) as server:
            for _ in range(200):
                with suppress(redis.ConnectionError):
                    server.ping()
                    break
                time.sleep(0.05)
        yield port
        process.terminate()


@pytest.fixture
def server(port: int) -> Iterator[redis.Redis]:
    """A connection to that server, which holds nothing."""
    with closing(redis.Redis(port=port)) as server:
        server.flushall()
        yield server


def crawled(folder: Path, port: int, **settings: Any) -> Ended:  # noqa: ANN401 -- settings of Scrapy
    """Crawl the small site with `sid` dropped."""
    path = folder / "rules.json"
    RuleSet([Rule.parse(DROP_SID, site="small.test")]).save(path)
    given = {"UNDUST_RULES": path, "REDIS_URL": f"redis://127.0.0.1:{port}", **settings}
    ended = run_spider(SPIDER, SmallSite(ANSWERS), given, {"start": f"{HOME}/"})
    assert ended.code == 0, ended.log
    return ended


def paths(ended: Ended) -> list[str]:
    """What was asked for, without the host."""
    return sorted(url.removeprefix(HOME) for url in ended.urls)


def test_crawls_share_keys(server: redis.Redis, port: int, tmp_path: Path) -> None:
    """Of the URLs of a page one is fetched, and what one crawl has fetched another one does not fetch."""
    kept = {"SCHEDULER": SCHEDULER, "DUPEFILTER_CLASS": OURS, "SCHEDULER_PERSIST": 1}
    first = crawled(tmp_path, port, **kept)
    assert len(paths(first)) == 3
    assert {path.partition("?")[0] for path in paths(first)} == {"/", "/a", "/b"}
    assert SAVED not in first.log
    assert server.scard("links:dupefilter") == 2  # a start URL is not filtered
    # The first page of a crawl is never filtered; all that it leads to is known.
    assert paths(crawled(tmp_path, port, **kept)) == ["/"]


def test_their_filter_is_warned_of(server: redis.Redis, port: int, tmp_path: Path) -> None:
    """It hashes URLs itself, so every URL is fetched; the log says why, and what to set."""
    ended = crawled(tmp_path, port, SCHEDULER=SCHEDULER, DUPEFILTER_CLASS=THEIRS)
    assert len(paths(ended)) == 5
    assert SAVED in ended.log
    assert OURS in ended.log
    assert server.dbsize() == 0


def test_with_the_scheduler_of_scrapy(server: redis.Redis, port: int, tmp_path: Path) -> None:
    """The filter alone works too."""
    ended = crawled(tmp_path, port, DUPEFILTER_CLASS=OURS)
    assert len(paths(ended)) == 3
    assert server.dbsize() == 0


def test_a_filter_made_from_theirs_is_warned_of(port: int, tmp_path: Path) -> None:
    """It fingerprints as theirs does, unless it has a fingerprint of its own."""
    text = "from scrapy_redis.dupefilter import RFPDupeFilter\n\nclass Mine(RFPDupeFilter):\n    pass\n"
    spider = tmp_path / "mine.py"
    spider.write_text(SPIDER.read_text(encoding="utf-8") + "\n\n" + text, encoding="utf-8")
    path = tmp_path / "rules.json"
    RuleSet([Rule.parse(DROP_SID, site="small.test")]).save(path)
    settings = {
        "UNDUST_RULES": path,
        "REDIS_URL": f"redis://127.0.0.1:{port}",
        "DUPEFILTER_CLASS": "mine.Mine",
    }
    ended = run_spider(spider, SmallSite(ANSWERS), settings, {"start": f"{HOME}/"})
    assert "no effect: DUPEFILTER_CLASS is mine.Mine" in ended.log


def test_a_crawl_with_redis_learns_while_it_runs(server: redis.Redis, port: int, tmp_path: Path) -> None:
    """Requests wait in Redis, the learner decides about them, and what it hands back goes there again."""
    links = [f"/item?id={number}&sid={visit}{number}f{visit}" for number in range(25) for visit in "123"]
    answers = {"/": page("home", *links)}
    for link in links:
        number = int(link.partition("id=")[2].partition("&")[0])
        words = " ".join(f"word{number * word % 997}" for word in range(1, 60))
        answers[link] = page(f"Item {number}: {words}")
    settings = {
        "UNDUST_LEARN": True,
        "UNDUST_STATE": tmp_path / "state",
        "SCHEDULER": SCHEDULER,
        "DUPEFILTER_CLASS": OURS,
        "REDIS_URL": f"redis://127.0.0.1:{port}",
    }
    ended = run_spider(SPIDER, SmallSite(answers), settings, {"start": f"{HOME}/"})
    assert ended.code == 0, ended.log
    assert "'finish_reason': 'finished'" in ended.log
    assert {path.partition("&")[0] for path in paths(ended)} == {link.partition("&")[0] for link in answers}
    assert len(ended.urls) < len(answers)
    assert list(server.scan_iter("links:requests")) == []
