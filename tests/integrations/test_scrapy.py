"""The parts of the Scrapy integration, each in a crawler that does not crawl."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import RequestFingerprinter as ScrapyFingerprinter
from scrapy.utils.request import fingerprint

import undust
from bench.crawl import fingerprint_microseconds
from bench.sites import site
from undust.errors import RefusedStart, UndustError
from undust.integrations.scrapy import Addon, DuplicateItemsPipeline, RequestFingerprinter
from undust.integrations.scrapy.observing import ObservationsMiddleware
from undust.rules import Rule, RuleSet

if TYPE_CHECKING:
    from pathlib import Path

RULES = RuleSet(
    [
        Rule.parse("rewrite {s}://{h}/{p**}?{**:sid}&{rest**} -> {s}://{h}/{p}?{rest}", site="a.test"),
        Rule.parse("rewrite {s}://www.a.test/{p**} -> {s}://a.test/{p}", site="a.test"),
    ]
)


class Named(Spider):
    """Scrapy's own spider has no name."""

    name = "named"


class ByUrl:
    """A fingerprinter of somebody else."""

    def fingerprint(self, request: Request) -> bytes:
        """Return the URL itself."""
        return request.url.encode()


@pytest.fixture(scope="module")
def rule_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the rules."""
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    RULES.save(path)
    return path


def crawler_with(**settings: Any) -> Crawler:  # noqa: ANN401 -- as Scrapy has them
    """Return a crawler that is ready to build its parts."""
    crawler = Crawler(Named, {name: str(value) if value else value for name, value in settings.items()})
    crawler.stats = MemoryStatsCollector(crawler)
    return crawler


def with_addon(**settings: Any) -> Crawler:  # noqa: ANN401
    """Return a crawler whose settings the add-on has changed."""
    crawler = Crawler(Named, settings)
    crawler.stats = MemoryStatsCollector(crawler)
    Addon.from_crawler(crawler).update_settings(crawler.settings)
    return crawler


QUERIES = st.lists(
    st.tuples(st.sampled_from(["sid", "a", "b", "a%20b"]), st.text(string.printable, max_size=5)), max_size=4
).map(lambda pairs: "&".join(f"{name}={value}" for name, value in pairs))
URLS = st.builds(
    lambda host, path, query: f"http://{host}/{path}?{query}",
    st.sampled_from(["a.test", "www.a.test", "b.test", "A.test:80"]),
    st.text(string.printable + "é…%", max_size=12),
    QUERIES,
)


@pytest.fixture(scope="module")
def ours(rule_file: Path) -> RequestFingerprinter:
    """Make a fingerprinter."""
    return RequestFingerprinter(crawler_with(UNDUST_RULES=rule_file))


@given(url=URLS, method=st.sampled_from(["GET", "HEAD"]), body=st.binary(max_size=4))
def test_it_is_scrapys_own_of_the_key(ours: RequestFingerprinter, url: str, method: str, body: bytes) -> None:
    """The short way gives the bytes that Scrapy gives to the request with the key for its URL."""
    request = Request(url, method=method, body=body)
    key = RULES.compile().key(request.url)
    assert ours.fingerprint(request) == fingerprint(request.replace(url=key))
    assert ours.fingerprint(request) == ours.fingerprint(request.copy())


def test_the_fallback_stays_in_charge(rule_file: Path) -> None:
    """The fingerprinter that a project chose is asked about the key, even if chosen with high priority."""
    crawler = with_addon(UNDUST_RULES=rule_file, REQUEST_FINGERPRINTER_CLASS=ByUrl)
    assert crawler.settings["REQUEST_FINGERPRINTER_CLASS"] is RequestFingerprinter
    fingerprinter = RequestFingerprinter.from_crawler(crawler)
    assert fingerprinter.fingerprint(Request("http://www.a.test/x?sid=1")) == b"http://a.test/x"


def test_it_is_not_its_own_fallback(rule_file: Path) -> None:
    """A project may name the fingerprinter and the add-on, both."""
    ours = "undust.integrations.scrapy.RequestFingerprinter"
    fingerprinter = RequestFingerprinter(with_addon(UNDUST_RULES=rule_file, REQUEST_FINGERPRINTER_CLASS=ours))
    request = Request("http://b.test/x")
    assert fingerprinter.fingerprint(request) == fingerprint(request)


def test_a_request_can_opt_out(rule_file: Path) -> None:
    """By `meta`, by `verbatim_url`, and by any method that does more than read."""
    crawler = crawler_with(UNDUST_RULES=rule_file)
    fingerprinter = RequestFingerprinter(crawler)
    url = "http://a.test/x?sid=1"
    for request in (
        Request(url, meta={"undust": False}),
        Request(url, meta={"verbatim_url": True}),
        Request(url, method="POST"),
    ):
        assert fingerprinter.fingerprint(request) == fingerprint(request)
    assert fingerprinter.fingerprint(Request(url)) != fingerprint(Request(url))
    assert crawler.stats.get_stats() == {
        "undust/opted_out": 3,
        "undust/compared": 1,
        "undust/changed": 1,
    }


def test_a_fingerprint_is_made_once(rule_file: Path) -> None:
    """The scheduler, the cache and the pipelines all ask, and it is counted once."""
    crawler = crawler_with(UNDUST_RULES=rule_file)
    fingerprinter = RequestFingerprinter(crawler)
    request = Request("http://a.test/x?sid=1")
    assert fingerprinter.fingerprint(request) is fingerprinter.fingerprint(request)
    assert crawler.stats.get_value("undust/compared") == 1


def test_exploring_does_not_depend_on_the_run(rule_file: Path) -> None:
    """Which duplicates are let through is decided by their URLs; the first of a key and its like are not."""
    urls = [f"http://a.test/x?sid={number}" for number in range(500)]

    def explored() -> list[bool]:
        fingerprinter = RequestFingerprinter(crawler_with(UNDUST_RULES=rule_file, UNDUST_EXPLORE=0.2))
        return [fingerprinter.explores(Request(url)) for url in (*urls, urls[0])]

    once = explored()
    assert once == explored()
    assert 60 < sum(once) < 140
    assert not once[0]
    assert not once[-1]


@pytest.mark.slow
def test_it_costs_no_more_than_scrapys_own(tmp_path: Path) -> None:
    """Measured in processor time: three quarters at last sight, and here with room for a busy machine."""
    shop = site("shop", 1_000)
    costs = fingerprint_microseconds(shop.truth()["url"].to_pylist(), shop.rules, tmp_path)
    assert costs["undust"][0] < 1.2 * costs["scrapy"][0]
    assert costs["undust"][1] < 1.2 * costs["scrapy"][1]


def test_items_of_another_url_of_a_page_are_dropped(rule_file: Path) -> None:
    """Several items of one URL are kept; so are those of another class, or without a URL."""
    pipeline = DuplicateItemsPipeline(crawler_with(UNDUST_RULES=rule_file, UNDUST_ITEM_FIELD="url"))
    first = {"url": "http://a.test/x?sid=1"}
    for item in (first, first, {"url": None}, {"name": "x"}, {"url": "http://a.test/y"}):
        assert pipeline.process_item(item) is item
    with pytest.raises(DropItem, match=r"x\?sid=2 was found as http://a.test/x\?sid=1"):
        pipeline.process_item({"url": "http://a.test/x?sid=2"})


BROKEN = '{"format": "undust-rules", "version": 1, "rules": [{"site": "a.test", "kind": "rewrite"}]}'


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "undust has nothing to do; set UNDUST_RULES, UNDUST_OBSERVATIONS, both or UNDUST_LEARN"),
        ({"UNDUST_REWRITE": "False"}, "undust has nothing to do;"),
        ({"UNDUST_RULES": "none.json"}, "none.json: there is no such file; check the name"),
        ({"UNDUST_RULES": "."}, ".: it is a folder; name a file in it"),
        (
            {"UNDUST_RULES": "broken.json"},
            'broken.json:1: rule 1, "from": the left side is missing; add "from" to the rule',
        ),
        (
            {"UNDUST_EXPLORE": 0.1},
            "UNDUST_EXPLORE is set and UNDUST_RULES is not; name a rule file",
        ),
    ],
)
def test_a_wrong_setting_refuses_the_start(
    settings: dict[str, Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence that names the mend, before anything is fetched."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text(BROKEN, encoding="utf-8")
    with pytest.raises(RefusedStart) as refused:
        with_addon(**settings)
    assert str(refused.value).startswith(sentence)
    assert refused.value.code == f"undust: {refused.value}"
    assert isinstance(refused.value, UndustError)


@pytest.mark.parametrize(
    ("part", "settings", "sentence"),
    [
        (RequestFingerprinter, {"UNDUST_EXPLORE": "some"}, "UNDUST_EXPLORE is 'some', which is not a share"),
        (RequestFingerprinter, {"UNDUST_EXPLORE": 1.5}, "UNDUST_EXPLORE is '1.5', which is not a share"),
        (RequestFingerprinter, {"UNDUST_RULES": None}, "UNDUST_RULES is not set; name a rule file"),
        (DuplicateItemsPipeline, {}, "UNDUST_ITEM_FIELD is None; name the field"),
        (ObservationsMiddleware, {}, "UNDUST_OBSERVATIONS is None; give the file a name that ends in .jsonl"),
        (
            ObservationsMiddleware,
            {"UNDUST_OBSERVATIONS": "a.csv"},
            "UNDUST_OBSERVATIONS is 'a.csv'; give",
        ),
        (ObservationsMiddleware, {"UNDUST_OBSERVATIONS": "/dev/null/a.jsonl"}, "/dev/null: "),
    ],
)
def test_a_part_refuses_too(part: Any, settings: dict[str, Any], sentence: str, rule_file: Path) -> None:  # noqa: ANN401
    """Whoever names the parts one by one is told the same."""
    with pytest.raises(RefusedStart) as refused:
        part.from_crawler(crawler_with(**({"UNDUST_RULES": rule_file} | settings)))
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_observations_are_added_to_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Crawl after crawl, packed or not; what a crawl that was killed left unfinished costs one line."""
    monkeypatch.setattr("undust.integrations.scrapy.observing.PACKED_ROWS", 3)
    path = tmp_path / "new" / f"seen{suffix}"
    for number in range(2):
        crawler = crawler_with(UNDUST_OBSERVATIONS=path)
        middleware = ObservationsMiddleware(crawler)
        for row in range(4):
            request = Request(f"http://a.test/{number}/{row}")
            middleware.process_response(request, Response(request.url))
        crawler.signals.send_catch_log(signals.engine_stopped)
        if suffix == ".jsonl" and not number:
            path.write_bytes(path.read_bytes()[:-30])
    seen = undust.read(str(path))
    assert len(seen) + seen.counts()["skipped"] == 8
    assert seen.counts()["skipped"] == (suffix == ".jsonl")


def test_a_full_disk_ends_the_observations_and_not_the_crawl(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One sentence in the log, a count in the stats, and responses pass as before."""
    path = tmp_path / "seen.jsonl"
    path.symlink_to("/dev/full")
    crawler = crawler_with(UNDUST_OBSERVATIONS=path)
    middleware = ObservationsMiddleware(crawler)
    request = Request("http://a.test/")
    for _ in range(3):
        response = Response(request.url, status=404)
        assert middleware.process_response(request, response) is response
    crawler.signals.send_catch_log(signals.engine_stopped)
    assert crawler.stats.get_stats() == {"undust/observations_failed": 1}
    said = "no more observations are written, the crawl goes on"
    mend = "the disk is full; free some space and start again"
    assert [record.getMessage() for record in caplog.records] == [f"{said}: {path}: {mend}"]


def test_scrapys_own_is_the_fallback_of_a_project_without_a_choice(rule_file: Path) -> None:
    """And the rest of the settings stays as it was."""
    crawler = with_addon(UNDUST_RULES=rule_file)
    assert crawler.settings["UNDUST_FALLBACK_FINGERPRINTER"] in {
        ScrapyFingerprinter,
        "scrapy.utils.request.RequestFingerprinter",
    }
    assert not crawler.settings.getdict("ITEM_PIPELINES")
    assert not crawler.settings.getdict("DOWNLOADER_MIDDLEWARES")


def test_the_walk_through_uses_what_is_installed(repository: Path) -> None:
    """A reader has the package, and neither the benches nor the tools of the repository."""
    text = (repository / "docs" / "integrations" / "scrapy.md").read_text(encoding="utf-8")
    assert "class " in text
    assert "Spider" in text
    assert not re.search(r"\b(?:bench|tools|tests)\.", text)
