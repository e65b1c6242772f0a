"""How far a rule may be used holds on every way into undust: likely rules never act, some only compare."""

from __future__ import annotations

import hashlib
import pickle
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from tests.cli.command import run
from undust import CrawlLearner, evaluate
from undust.integrations import duckdb as in_duckdb
from undust.integrations import pandas as in_pandas
from undust.integrations import polars as in_polars
from undust.integrations.datatrove import UrlNormalizer
from undust.integrations.scrapy import RequestFingerprinter
from undust.integrations.scrapy.applying import RewriteMiddleware
from undust.integrations.spark import Packed, _compiled
from undust.rules import Rule, RuleSet, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULES = RuleSet(
    [
        Rule("a.test", "replace", "/old", "/new", status="proposed"),
        Rule("a.test", "replace", "/x", "/y", needs=("0123456789abcdef",)),
        Rule("a.test", "rewrite", "{s}://{h}/{p**}?sid={**}", "{s}://{h}/{p}", fetch=False),
        Rule("a.test", "replace", "/from", "/to"),
    ]
)
URLS = ("http://a.test/old", "http://a.test/x", "http://a.test/p?sid=1", "http://a.test/from")
CANONICAL = ["http://a.test/old", "http://a.test/x", "http://a.test/p?sid=1", "http://a.test/to"]
KEYS = ["http://a.test/old", "http://a.test/x", "http://a.test/p", "http://a.test/to"]


@pytest.fixture(scope="module")
def rule_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules as a file."""
    path = tmp_path_factory.mktemp("uses") / "rules.json"
    RULES.save(path)
    return path


def by_duckdb(path: Path) -> tuple[list[str], list[str]]:
    """Both answers of a database."""
    connection = duckdb.connect()
    in_duckdb.register(connection, path)
    asked = "SELECT undust_canonicalize(u), undust_key(u) FROM (SELECT unnest(?) AS u)"
    rows = connection.execute(asked, [list(URLS)]).fetchall()
    return [row[0] for row in rows], [row[1] for row in rows]


def by_pandas(path: Path) -> tuple[list[str], list[str]]:
    """Both answers of a series."""
    urls = pd.Series(URLS)
    return in_pandas.canonicalize(urls, path).tolist(), in_pandas.key(urls, path).tolist()


def by_polars(path: Path) -> tuple[list[str], list[str]]:
    """Both answers of an expression."""
    frame = pl.DataFrame({"u": URLS})
    both = frame.select(c=in_polars.canonicalize(pl.col("u"), path), k=in_polars.key(pl.col("u"), path))
    return both["c"].to_list(), both["k"].to_list()


def by_spark(path: Path) -> tuple[list[str], list[str]]:
    """Both answers as a worker of a cluster gives them."""
    data = load(path).dumps()
    canonicalize = _compiled(Packed(hashlib.sha256(data).digest(), zlib.compress(data)))
    return list(map(canonicalize, URLS)), list(map(canonicalize.key, URLS))


def by_pickle(path: Path) -> tuple[list[str], list[str]]:
    """Both answers of a canonicalizer in another process."""
    canonicalize = pickle.loads(pickle.dumps(load(path).compile()))  # noqa: S301 -- our own
    return list(map(canonicalize, URLS)), list(map(canonicalize.key, URLS))


def by_command(path: Path) -> tuple[list[str], list[str]]:
    """Both answers of `undust apply`."""
    lines = "".join(f"{url}\n" for url in URLS).encode()
    found = [run("apply", path, *more, data=lines).out.decode().split() for more in ((), ("--key",))]
    return found[0], found[1]


@pytest.mark.parametrize(
    "ask", [by_duckdb, by_pandas, by_polars, by_spark, by_pickle, by_command], ids=lambda ask: ask.__name__
)
def test_every_way_gives_the_same_two_answers(
    rule_file: Path, ask: Callable[[Path], tuple[list[str], list[str]]]
) -> None:
    """What to fetch, and what to compare by."""
    assert ask(rule_file) == (CANONICAL, KEYS)


def by_crawl(path: Path) -> list[str]:
    """What a crawler is told while it learns."""
    learner = CrawlLearner(rules=load(path), prior=False, explore=0)
    return [form for url in URLS for form in learner.decide(url)[2:4]]


def by_rekey(path: Path) -> list[str]:
    """The keys of an index of captures, in its order."""
    index = path.with_name("index.cdxj")
    lines = (f'test,a){url[13:]} 2026 {{"url": "{url}", "status": "200"}}\n' for url in sorted(URLS))
    index.write_text("".join(lines), encoding="utf-8")
    written = run("rekey", path, index, "-o", path.with_name("new.cdxj"))
    assert written.code == 0
    return path.with_name("new.cdxj").read_text(encoding="utf-8").splitlines()


def by_surt(path: Path) -> list[str]:
    """The keys of a web archive."""
    return (
        run("apply", path, "--surt", data="".join(f"{url}\n" for url in URLS).encode()).out.decode().split()
    )


def by_explanation(path: Path) -> list[str]:
    """What a person reads of each URL."""
    return [load(path).compile().explain(url).key for url in URLS]


def by_merge(path: Path) -> list[str]:
    """The keys under the file merged with an empty one."""
    return list(map(RuleSet().merge(load(path)).compile().key, URLS))


def by_measures(path: Path) -> list[str]:
    """How many URLs are left of those that the rules would change and what these become."""
    every = sorted({*URLS, "http://a.test/new", "http://a.test/y", *KEYS})
    rows = pa.table({"url": every, "cluster": ["one"] * len(every)})
    return [str(evaluate(load(path), rows).total.canonical_urls)]


WAYS: dict[str, Callable[[Path], object]] = {
    each.__name__: each
    for each in (
        *(by_duckdb, by_pandas, by_polars, by_spark, by_pickle),
        *(by_crawl, by_rekey, by_surt, by_explanation, by_merge, by_measures),
    )
}


@pytest.mark.parametrize("way", WAYS)
def test_proposed_rules_are_as_no_rules_on_every_way(way: str, tmp_path: Path) -> None:
    """Each answer is that under an empty file, and another one as soon as a person switches the rules on."""
    likely = [replace(rule, status="proposed", needs=(), fetch=True) for rule in RULES]
    active = [rule.with_status("active") for rule in likely]
    answers = []
    for name, rules in (("proposed", likely), ("none", []), ("active", active)):
        path = tmp_path / name / "rules.json"
        path.parent.mkdir()
        RuleSet(rules).save(path)
        answers.append(WAYS[way](path))
    assert answers[0] == answers[1] != answers[2]


def test_datatrove_compares(rule_file: Path) -> None:
    """By key."""
    assert list(map(UrlNormalizer(rule_file), URLS)) == KEYS


def test_scrapy_compares_by_key_and_fetches_the_canonical_form(rule_file: Path) -> None:
    """A rule for comparing makes one fingerprint, and is never fetched by."""
    crawler = Crawler(Spider, {"UNDUST_RULES": str(rule_file)})
    crawler.stats = MemoryStatsCollector(crawler)
    fingerprinter = RequestFingerprinter.from_crawler(crawler)
    crawler.request_fingerprinter = fingerprinter
    made = [fingerprinter.fingerprint(Request(url)) for url in URLS]
    assert made == [fingerprinter.fingerprint(Request(url)) for url in KEYS]
    assert made[0] != fingerprinter.fingerprint(Request("http://a.test/new"))
    middleware = RewriteMiddleware.from_crawler(crawler)
    sent = [middleware.process_request(Request(url)) for url in URLS]
    assert [each.url if each else url for each, url in zip(sent, URLS, strict=True)] == CANONICAL
