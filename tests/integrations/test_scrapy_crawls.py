"""Real Scrapy crawls on loopback: what rules save, what they must not lose, and what a crawl teaches."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

import undust
from bench.crawl import SPIDER, crawled, learned, predicted
from bench.sites import site
from bench.sites.links import LinkedSite
from bench.spiders import Ended, run_spider
from tests.integrations.small_site import HOME, SmallSite, moved, page
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bench.sites.answers import Answer


def rules_in(folder: Path, *texts: str) -> Path:
    """Write rules for the small site."""
    path = folder / "rules.json"
    RuleSet([Rule.parse(text, site="small.test") for text in texts]).save(path)
    return path


DROP_SID = "rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}"


@pytest.fixture
def crawl_small(tmp_path: Path) -> Any:  # noqa: ANN401 -- a function, described below
    """Give a function that crawls a small site from its home on, with `sid` dropped and other settings."""

    def crawl(answers: Mapping[str, Answer], rules: tuple[str, ...] = (DROP_SID,), **settings: Any) -> Ended:  # noqa: ANN401
        given = {"UNDUST_RULES": rules_in(tmp_path, *rules)} | settings
        ended = run_spider(SPIDER, SmallSite(answers), given, {"start": f"{HOME}/"})
        assert ended.code == 0, ended.log
        return ended

    return crawl


def paths(ended: Ended) -> list[str]:
    """What was asked for, without the host, sorted."""
    return sorted(url.removeprefix(HOME) for url in ended.urls)


def test_a_crawl_teaches_the_next(tmp_path: Path) -> None:
    """Rules learned from what crawl 1 wrote down save crawl 2 the predicted share, and lose no page.

    They may save a little more: links that stand on skipped duplicates only are never met.
    """
    linked = LinkedSite(site("shop", 200, seed=5))
    observations = tmp_path / "seen.jsonl.gz"
    first = crawled(linked, {"UNDUST_OBSERVATIONS": observations})
    rules = learned(observations, tmp_path / "rules.json")
    second = crawled(linked, {"UNDUST_RULES": tmp_path / "rules.json"})
    assert first.pages
    assert second.pages == first.pages
    share = predicted(rules, linked, first.urls)
    assert share > 20
    fetches = len(second.urls) - second.detours(rules)
    assert share - 2 <= 100 * (1 - fetches / len(first.urls)) <= share + 8
    assert len(undust.read(str(observations))) == len(first.urls)


@pytest.mark.parametrize("rewriting", [False, True])
def test_no_page_is_lost_where_urls_redirect(tmp_path: Path, rewriting: bool) -> None:  # noqa: FBT001
    """A fifth of a forum's URLs redirect to others of the same key; all pages are found even so."""
    linked = LinkedSite(site("forum", 100, seed=3))
    linked.site.rules.save(tmp_path / "rules.json")
    crawl = crawled(linked, {"UNDUST_RULES": tmp_path / "rules.json", "UNDUST_REWRITE": rewriting})
    there = {name for name, urls in linked.urls_by_page.items() if linked.site.answer(urls[0]).status != 404}
    assert crawl.pages == there
    assert (crawl.detours(linked.site.rules) > 0) is not rewriting
    assert len(crawl.urls) < 0.7 * linked.site.urls


def test_requests_are_compared_by_key_and_what_was_found_is_fetched(crawl_small: Any) -> None:  # noqa: ANN401
    """Of the URLs of a page the first is fetched as it stands, and what it redirects to, whatever its key."""
    ended = crawl_small(
        {
            "/": page("home", "/a?sid=1", "/a?sid=2", "/b?sid=1", "/b?sid=2"),
            "/a?sid=1": page("a", "/a?sid=3"),
            "/b?sid=1": moved("/b"),
            "/b": page("b", "/b?sid=3", "/b"),
        }
    )
    assert paths(ended) == ["/", "/a?sid=1", "/b", "/b?sid=1"]
    assert "'undust/compared': 8" in ended.log
    assert "'undust/changed': 6" in ended.log


def test_rewriting_fetches_the_canonical_url_and_loses_no_page(crawl_small: Any) -> None:  # noqa: ANN401
    """Where the canonical URL is not there, redirects or is forbidden, what was found is fetched."""
    ended = crawl_small(
        {
            "/": page("home", "/a?sid=1", "/a?sid=2", "/b?sid=1", "/c?sid=1", "/open/d"),
            "/open/d": page("d"),
            "/a": page("a", "/a"),
            "/b?sid=1": page("b"),
            "/c": moved("/c?sid=7"),
            "/c?sid=7": page("c"),
        },
        (DROP_SID, "rewrite {s}://{h}/open/{x} -> {s}://{h}/private/{x}"),
        UNDUST_REWRITE=True,
        ROBOTSTXT_OBEY=True,
    )
    assert paths(ended) == ["/", "/a", "/b", "/b?sid=1", "/c", "/c?sid=7", "/open/d"]
    assert "'undust/rewritten': 4" in ended.log
    assert "'undust/rewritten_in_vain': 2" in ended.log


def test_rewriting_alone_merges_too(crawl_small: Any) -> None:  # noqa: ANN401
    """Without the add-on, and so with Scrapy's fingerprints, the rewritten requests are compared."""
    middleware = {"undust.integrations.scrapy.RewriteMiddleware": 90}
    ended = crawl_small(
        {"/": page("home", "/a?sid=1", "/a?sid=2"), "/a": page("a")},
        ADDONS={},
        DOWNLOADER_MIDDLEWARES=middleware,
    )
    assert paths(ended) == ["/", "/a"]


def test_a_share_of_the_duplicates_is_let_through(crawl_small: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """About half of them, fetched once and as they were found, to test rules; they give no second item."""
    links = [f"/a?sid={number}" for number in range(100)]
    answers = {"/": page("home", *links), "/a": page("a")} | {link: page("a", *links) for link in links}
    items = tmp_path / "items.jsonl"
    ended = crawl_small(
        answers,
        UNDUST_EXPLORE=0.5,
        UNDUST_REWRITE=True,
        UNDUST_ITEM_FIELD="url",
        FEEDS={str(items): {"format": "jsonlines"}},
    )
    explored = [path for path in paths(ended) if path not in {"/", "/a"}]
    assert 30 < len(explored) < 70
    assert len(set(ended.urls)) == len(ended.urls) == 2 + len(explored)
    assert len(items.read_text(encoding="utf-8").splitlines()) == 2
    assert f"'undust/items_dropped': {len(explored)}" in ended.log


def test_observations_hold_what_a_crawl_saw(crawl_small: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """Status, size, digest, sketch, canonical, redirect, whatever a body is packed in; added to a file."""
    text = "one two three four five six seven"
    packed = page(text)
    packed = packed._replace(
        body=gzip.compress(packed.body), headers={**packed.headers, "Content-Encoding": "gzip"}
    )
    written = tmp_path / "seen-links.jsonl"
    written.write_text('{"url": "http://earlier.test/"}\n', encoding="utf-8")
    crawl_small(
        {
            "/": page("home sweet home of a few words", "/plain", "/packed", "/old", "/gone"),
            "/plain": page(text, Link='</packed>; rel="canonical"'),
            "/packed": packed,
            "/old": moved("/plain"),
        },
        UNDUST_OBSERVATIONS=tmp_path / "seen-%(name)s.jsonl",
    )
    lines = written.read_text(encoding="utf-8").splitlines()
    rows = {row["url"].removeprefix(HOME): row for row in map(json.loads, lines)}
    assert set(rows) == {"http://earlier.test/", "/", "/plain", "/packed", "/old", "/gone"}
    assert rows["/plain"]["digest"] == rows["/packed"]["digest"] is not None
    assert rows["/plain"]["sketch"] == rows["/packed"]["sketch"] is not None
    assert rows["/plain"]["blocks"] == rows["/packed"]["blocks"] != []
    assert "blocks" not in rows["/old"]
    assert undust.read(written).table["blocks"].null_count == 3
    assert rows["/packed"]["size"] == len(gzip.decompress(packed.body))
    assert rows["/plain"]["canonical"] == f"{HOME}/packed"
    assert (rows["/old"]["status"], rows["/old"]["redirect"]) == (301, "/plain")
    assert (rows["/gone"]["status"], rows["/gone"]["sketch"]) == (404, None)
    seen = undust.read(str(written))
    assert len(seen) == 6
    assert not any(seen.counts().values())
    assert f"{HOME}/plain" in seen.table["redirect"].to_pylist()


def test_a_start_that_could_not_go_well_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """Nothing is fetched, nothing but the sentence is said, and the exit code is not zero."""
    settings = {"LOG_LEVEL": "ERROR", "UNDUST_RULES": tmp_path / "none.json"}
    ended = run_spider(SPIDER, SmallSite({"/": page("home")}), settings, {"start": f"{HOME}/"})
    assert ended.code == 1
    assert ended.requests == []
    assert ended.log == f"undust: {tmp_path}/none.json: there is no such file; check the name\n"
