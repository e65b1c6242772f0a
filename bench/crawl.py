"""What rules save a real Scrapy crawl: each generated site crawled twice on loopback, the second time wiser.

    python -m bench.crawl                                 tables; sites of 300 URLs, all kinds
    python -m bench.crawl --kinds forum shop --urls 1000 --json

The first crawl knows no rules and writes down what it sees. `undust learn` makes rules of that, and the
second crawl uses them; both follow links from the first page on. `undust evaluate` predicts from the URLs
of the first crawl what the second will save. Where a page is first found under a URL that redirects to
another one of the same key, it takes two requests and is one fetch; the third crawl rewrites its requests,
and has no need of that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.request import RequestFingerprinter as ScrapyFingerprinter

import undust
from bench.common import machine
from bench.sites import KINDS, site
from bench.sites.links import LinkedSite
from bench.spiders import run_spider
from undust.cli.learn_job import NO_RULES, ONLY_PROPOSED
from undust.integrations.scrapy import RequestFingerprinter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.utils.request import RequestFingerprinterProtocol

    from undust.rules import RuleSet

SPIDER = Path(__file__).with_name("crawl_spider.py")
REACH_POINTS = 2.0
ROUNDS = 5
_OK = 200


@dataclass(frozen=True)
class Crawled:
    """What the server saw of one crawl."""

    urls: list[str]
    """Those that were asked for, in order, robots.txt left out."""
    pages: frozenset[str]
    """The pages of which one was answered with its content."""
    redirects: Mapping[str, str]

    def detours(self, rules: RuleSet) -> int:
        """Return how many of the URLs only redirected to another one of the same key."""
        key = rules.compile().key
        return sum(key(self.redirects[url]) == key(url) for url in self.urls if url in self.redirects)


def crawled(linked: LinkedSite, settings: Mapping[str, Any]) -> Crawled:
    """Crawl a site from its first page on."""
    ended = run_spider(SPIDER, linked, settings, {"start": linked.start})
    if ended.code:
        message = f"the crawl ended with {ended.code}:\n{ended.log}"
        raise RuntimeError(message)
    answers = {url: linked.site.answer(url) for url in ended.urls}
    pages = frozenset(answer.page for answer in answers.values() if answer.status == _OK and answer.page)
    redirects = {url: each.headers["Location"] for url, each in answers.items() if "Location" in each.headers}
    return Crawled(ended.urls, pages, redirects)


def learned(observations: Path, rules: Path) -> RuleSet:
    """Learn rules from what a crawl wrote down, with the command."""
    words = [sys.executable, "-m", "undust", "learn", str(observations), "-o", str(rules), "--quiet"]
    ended = subprocess.run(words, check=False).returncode
    if ended not in {0, ONLY_PROPOSED, NO_RULES}:
        message = f"undust learn ended with {ended}"
        raise RuntimeError(message)
    return undust.load(rules)


def predicted(rules: RuleSet, linked: LinkedSite, urls: list[str]) -> float:
    """Return the share of these URLs that rules save, as `evaluate` says, in percent."""
    labels = [linked.site.answer(url).page or url for url in urls]
    return 100 * undust.evaluate(rules, pa.table({"url": urls, "cluster": labels})).total.compression_rate


@dataclass(frozen=True)
class Result:
    """One site, crawled without rules, with them, and with requests rewritten."""

    kind: str
    pages: int
    rules: int
    requests: int
    requests_with_rules: int
    detours: int
    predicted_percent: float
    saved_percent: float
    """Of the fetches: a detour and the page behind it are one."""
    requests_saved_percent: float
    rewriting_saved_percent: float
    """Of the requests, when they are rewritten."""
    lost: int
    lost_rewriting: int


def measured(kind: str, urls: int, seed: int, folder: Path) -> Result:
    """Crawl a site of a kind, learn, and crawl it again."""
    linked = LinkedSite(site(kind, urls, seed))
    observations, path = folder / f"{kind}.jsonl", folder / f"{kind}.json"
    first = crawled(linked, {"UNDUST_OBSERVATIONS": observations})
    rules = learned(observations, path)
    second = crawled(linked, {"UNDUST_RULES": path})
    third = crawled(linked, {"UNDUST_RULES": path, "UNDUST_REWRITE": True})
    detours = second.detours(rules)

    def saved(requests: int) -> float:
        return 100 * (1 - requests / len(first.urls))

    return Result(
        kind,
        len(first.pages),
        len(rules),
        len(first.urls),
        len(second.urls),
        detours,
        predicted(rules, linked, first.urls),
        saved(len(second.urls) - detours),
        saved(len(second.urls)),
        saved(len(third.urls)),
        len(first.pages - second.pages),
        len(first.pages - third.pages),
    )


def fingerprint_microseconds(urls: list[str], rules: RuleSet, folder: Path) -> dict[str, tuple[float, float]]:
    """Return what a fingerprint costs, Scrapy's own and ours: of a new request, and of one seen before."""
    path = folder / "fingerprints.json"
    rules.save(path)
    crawler = Crawler(Spider, {"UNDUST_RULES": str(path)})
    crawler.stats = MemoryStatsCollector(crawler)
    contenders: dict[str, RequestFingerprinterProtocol] = {
        "scrapy": ScrapyFingerprinter(crawler),
        "undust": RequestFingerprinter(crawler),
    }
    best = dict.fromkeys(contenders, (float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for name, fingerprinter in contenders.items():
            requests = [Request(url) for url in urls]
            moments = [thread_time()]
            for _again in range(2):
                for request in requests:
                    fingerprinter.fingerprint(request)
                moments.append(thread_time())
            spent = [1e6 * (end - start) / len(urls) for start, end in pairwise(moments)]
            best[name] = min(best[name][0], spent[0]), min(best[name][1], spent[1])
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), metavar="KIND")
    parser.add_argument("--urls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shop = site("shop", 5_000, options.seed)
        costs = fingerprint_microseconds(shop.truth()["url"].to_pylist(), shop.rules, folder)
        results = [measured(kind, options.urls, options.seed, folder) for kind in options.kinds]
    if options.json:
        print(
            json.dumps({"machine": machine(), "fingerprint_us": costs, "crawls": list(map(asdict, results))})
        )
    else:
        _print(results, costs)
    off = [each.kind for each in results if abs(each.saved_percent - each.predicted_percent) > REACH_POINTS]
    losing = [each.kind for each in results if each.lost]
    missed = [
        f"more than {REACH_POINTS} points from what was predicted: {', '.join(off)}" if off else "",
        f"pages lost: {', '.join(losing)}" if losing else "",
        "a fingerprint costs more than Scrapy's own" if costs["undust"][0] > costs["scrapy"][0] else "",
    ]
    if any(missed):
        sys.exit("; ".join(filter(None, missed)))


def _print(results: list[Result], costs: Mapping[str, tuple[float, float]]) -> None:
    print(f"Scrapy crawls of generated sites ({machine()})")
    print(
        f"{'kind':<14}{'pages':>6}{'rules':>6}{'requests':>9}{'after':>6}{'detours':>8}"
        f"{'predicted':>10}{'saved':>8}{'requests':>9}{'rewriting':>10}{'lost':>8}"
    )
    for each in results:
        print(
            f"{each.kind:<14}{each.pages:>6}{each.rules:>6}{each.requests:>9}{each.requests_with_rules:>6}"
            f"{each.detours:>8}{each.predicted_percent:>9.1f}%{each.saved_percent:>7.1f}%"
            f"{each.requests_saved_percent:>8.1f}%{each.rewriting_saved_percent:>9.1f}%"
            f"{each.lost:>5} /{each.lost_rewriting:>2}"
        )
    for number, what in enumerate(("a new request", "one seen before")):
        own, ours = costs["scrapy"][number], costs["undust"][number]
        print(f"fingerprint of {what}: {ours:.2f} µs, {ours / own:.2f} × Scrapy's own {own:.2f} µs")


if __name__ == "__main__":
    main()
