"""Crawl endless sites, with a new session id in every link, and count the fetches for each page.

    python -m bench.replay.endless                             shops of 200 to 1,000 URLs, three seeds
    python -m bench.replay.endless --kinds shop forum --urls 300 --seeds 5 6 --orders last first
    python -m bench.replay.endless --urls 1000 --seeds 21 22 --orders scrapy
    python -m bench.replay.endless --json

The crawl runs in memory and has several requests on their way at a time, which are answered in a random order
that depends on the seed alone. Links are followed in the order of Scrapy (`last`: the latest link first) or
breadth first (`first`). A crawl ends by itself when no link is left that the learner wants.
`scrapy` is a real crawl by Scrapy on loopback; the order of its answers is another one in each run.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import deque
from html import unescape
from random import Random
from typing import NamedTuple
from urllib.parse import urljoin

import undust
from bench.common import machine
from bench.crawl import SPIDER
from bench.sites import site
from bench.sites.endless import EndlessSite
from bench.spiders import run_spider

NOT_FOUND = 404
AT_A_TIME = 16
"""Requests on their way, as many as Scrapy has by default."""
MOST_A_PAGE = 40
"""Fetches a page after which a crawl counts as endless."""
_LINK = re.compile(rb'href="([^"]*)"')


class EndlessCrawl(NamedTuple):
    """What a crawl of an endless site took."""

    kind: str
    urls: int
    seed: int
    order: str
    pages: int
    found: int
    fetches: int
    explored: int

    @property
    def a_page(self) -> float:
        """Fetches for each page."""
        return self.fetches / self.pages


def there_in(endless: EndlessSite) -> set[str]:
    """Return the pages that a crawl can find."""
    pages = endless.urls_by_page.items()
    return {page for page, own in pages if endless.site.answer(own[0]).status != NOT_FOUND}


def by_scrapy(kind: str, urls: int, seed: int, name: str = "visit") -> EndlessCrawl:
    """Crawl such a site with Scrapy; whatever does not end by itself counts as nothing found."""
    endless = EndlessSite(site(kind, urls, seed=seed)).with_name(name)
    there = there_in(endless)
    with tempfile.TemporaryDirectory() as state:
        most = MOST_A_PAGE * len(there)
        settings = {"UNDUST_LEARN": True, "UNDUST_STATE": state, "CLOSESPIDER_PAGECOUNT": most}
        ended = run_spider(SPIDER, endless, settings, {"start": endless.start})
    has_ended = ended.code == 0 and "'finish_reason': 'finished'" in ended.log
    found = {endless.answer(url).page for url in ended.urls} if has_ended else set()
    explored = re.search(r"'undust/explored': (\d+)", ended.log)
    count = int(explored[1]) if explored else 0
    return EndlessCrawl(kind, urls, seed, "scrapy", len(there), len(found & there), len(ended.urls), count)


def crawled(kind: str, urls: int, seed: int, order: str = "last", name: str = "visit") -> EndlessCrawl:
    """Crawl a generated site whose links never end; deterministic."""
    endless = EndlessSite(site(kind, urls, seed=seed)).with_name(name)
    there = there_in(endless)
    learner, random = undust.CrawlLearner(), Random(seed)
    links, known = deque([endless.start]), {endless.start}
    on_the_way: list[str] = []
    found: set[str | None] = set()
    fetches = 0
    while (links or on_the_way) and fetches < MOST_A_PAGE * len(there):
        while links and len(on_the_way) < AT_A_TIME:
            url = links.pop() if order == "last" else links.popleft()
            if learner.decide(url).is_fetch:
                on_the_way.append(url)
        if on_the_way:
            url = on_the_way.pop(random.randrange(len(on_the_way)))
            answer = endless.answer(url)
            found.add(answer.page)
            fetches += 1
            headers = {key: [value] for key, value in answer.headers.items()}
            learner.observe_response(url, answer.status, headers, answer.body)
            targets = [unescape(link.decode()) for link in _LINK.findall(answer.body)]
            if moved := answer.headers.get("Location"):
                targets.append(moved)
            for target in (urljoin(url, each).partition("#")[0] for each in targets):
                if target not in known:
                    known.add(target)
                    links.append(target)
        on_the_way += learner.returned()
    explored = learner.counts["explored"]
    return EndlessCrawl(kind, urls, seed, order, len(there), len(found & there), fetches, explored)


def main() -> None:
    """Crawl the sites, and print a line for each."""
    ask = argparse.ArgumentParser(prog="python -m bench.replay.endless", description=__doc__.splitlines()[0])
    ask.add_argument("--kinds", nargs="*", default=["shop"], help="generated kinds [shop]")
    ask.add_argument(
        "--urls", nargs="*", type=int, default=[200, 300, 1_000], help="of a site [200 300 1000]"
    )
    ask.add_argument("--seeds", nargs="*", type=int, default=[5, 6, 7], help="of the sites [5 6 7]")
    ask.add_argument(
        "--orders", nargs="*", default=["last"], choices=["last", "first", "scrapy"], help="of links [last]"
    )
    ask.add_argument("--json", action="store_true", help="one JSON object a line")
    given = ask.parse_args()
    if not given.json:
        print(f"{machine()}; a session id in every link\n")
        print(f"{'kind':10} {'URLs':>6} {'seed':>4} order  {'pages':>6} {'found':>6} {'fetches':>7}  a page")
    for kind in given.kinds:
        for urls in given.urls:
            for seed in given.seeds:
                for order in given.orders:
                    done = (
                        by_scrapy(kind, urls, seed) if order == "scrapy" else crawled(kind, urls, seed, order)
                    )
                    if given.json:
                        print(json.dumps(done._asdict() | {"a_page": done.a_page}), flush=True)
                    else:
                        print(
                            f"{kind:10} {urls:6} {seed:4} {order:6} {done.pages:6} {done.found:6}"
                            f" {done.fetches:7}  {done.a_page:6.2f}",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
