"""What a crawl that learns costs: processor time of each call, and memory for each URL.

    python -m bench.replay.costs                              100,000 pages of one site, and of 1,000 sites
    python -m bench.replay.costs --pages 20000 --sites 1 --profile

Each page has three URLs on the mean, of which some show what the page is called, who links to it, or a visit.
Calls are timed 20 at a time, because a clock can take longer than a decision; what it takes is measured and
left out. Memory is that of the whole process after the crawl, less before it, and less the keys of all URLs,
which every crawler has to know.
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import gc
import pstats
import sys
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from math import gcd
from os import getpid
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

import undust
from bench.common import machine
from bench.processes import taken

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DECIDE_US, MOST_OBSERVE_US, MOST_URL_BYTES = 20.0, 1_000.0, 400.0
MINIMA = 32
AT_ONCE = 20
"""URLs that are decided one after the other, as by a crawler with so many requests under way."""
_STEP = 1_000_003
"""URLs are visited in steps of this many, so that those of a page are far from each other."""


@dataclass(frozen=True)
class MadeSites:
    """Sites whose URLs and pages are made from numbers, so that they take no memory."""

    pages: int
    sites: int

    @property
    def urls(self) -> int:
        """How many URLs there are."""
        return 3 * self.pages

    def shuffled(self) -> Iterator[tuple[str, int]]:
        """Yield every URL with the number of its page."""
        step = next(step for step in range(_STEP, 2 * _STEP) if gcd(step, self.urls) == 1)
        for number in range(self.urls):
            at = number * step % self.urls
            yield self._url(at // 3, at % 3), at // 3

    def _url(self, page: int, form: int) -> str:
        site, own = page % self.sites, page // self.sites
        host = f"http://shop{site}.test"
        kind = own % 4
        visit = f"{page * 3 + form:x}-{_number(page, form) % 0xFFFFFF:06x}"
        if kind == 0:
            return f"{host}/list/{own % 97}?page={own // 97}" + ("", "&view=list", f"&sid={visit}")[form]
        if kind == 1:
            return f"{host}/item/{own}" + ("", "/", f"?utm_source=mail&utm_id={form}")[form]
        if kind == 2:  # noqa: PLR2004 -- the third kind
            queries = f"id={own}&lang=en", f"lang=en&id={own}", f"id={own}&lang=en&sid={visit}"
            return f"{host}/show?{queries[form]}"
        return (
            f"{host}/news/{own}-a-title-of-{_number(own, 0) % 1000}"
            + ("", "?from=home", f"?sid={visit}")[form]
        )


def _number(*values: int) -> int:
    return int.from_bytes(blake2b(repr(values).encode(), digest_size=8).digest())


def row_of(url: str, page: int) -> dict[str, Any]:
    """Return what a fetch shows: the digest of the text, and its sketch."""
    minima = [_number(page, place) & 0xFFFFFFFF for place in range(MINIMA // 8)] * 8
    return {
        "url": url,
        "status": 200,
        "size": 4000 + page % 999,
        "digest": f"{_number(page):016x}" * 2,
        "sketch": minima,
    }


@dataclass
class Costs:
    """What a crawl took."""

    asked: int = 0
    fetched: int = 0
    decide_ns: int = 0
    observe_ns: int = 0
    key_bytes: int = 0
    memory_bytes: int = 0
    pages: set[int] = field(default_factory=set)

    @property
    def decide_us(self) -> float:
        """Microseconds of one decision."""
        return self.decide_ns / 1000 / max(1, self.asked)

    @property
    def observe_us(self) -> float:
        """Microseconds of one observation, learning included."""
        return self.observe_ns / 1000 / max(1, self.fetched)

    @property
    def url_bytes(self) -> float:
        """Bytes for each URL above the keys."""
        return (self.memory_bytes - self.key_bytes) / max(1, self.asked)


def crawled(made: MadeSites, learner: undust.CrawlLearner) -> Costs:
    """Crawl, and measure."""
    costs = Costs()
    clock = _clock_ns()
    seen = bytearray(made.pages)
    before = _memory()
    shuffled = made.shuffled()
    while some := list(islice(shuffled, AT_ONCE)):
        started = thread_time_ns()
        decisions = [learner.decide(url) for url, _ in some]
        costs.decide_ns += thread_time_ns() - started - clock
        costs.asked += len(some)
        costs.key_bytes += sum(sys.getsizeof(decision.key) for decision in decisions)
        wanted = [known for known, decision in zip(some, decisions, strict=True) if decision.is_fetch]
        rows = [row_of(url, page) for url, page in wanted]
        started = thread_time_ns()
        for row in rows:
            learner.observe(row)
        costs.observe_ns += thread_time_ns() - started - clock
        costs.fetched += len(rows)
        for _, page in wanted:
            seen[page] = 1
    costs.memory_bytes = _memory() - before
    costs.pages = {page for page in range(made.pages) if seen[page]}
    return costs


def _clock_ns() -> int:
    started = thread_time_ns()
    for _ in range(100_000):
        thread_time_ns()
    return (thread_time_ns() - started) // 100_000


def _memory() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return taken(getpid()).memory_bytes


def main() -> None:
    """Crawl, and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--sites", type=int, nargs="*", default=[1, 1000])
    parser.add_argument("--profile", action="store_true", help="say which functions take the time")
    parser.add_argument("--check", action="store_true", help="end with an error if the targets are missed")
    options = parser.parse_args()
    print(f"costs of a crawl ({machine()})", file=sys.stderr)
    is_missed = False
    crawled(MadeSites(300, 3), undust.CrawlLearner())  # what is loaded once is no cost of a URL
    for sites in options.sites:
        made = MadeSites(options.pages, sites)
        profile = cProfile.Profile() if options.profile else None
        with undust.CrawlLearner() as learner:
            costs = profile.runcall(crawled, made, learner) if profile else crawled(made, learner)
            rules = sum(len(site.rules.ids) for site in learner._sites.in_order())  # noqa: SLF001
        print(
            f"{made.pages:,} pages of {sites:,} sites: {costs.asked:,} URLs, {costs.fetched:,} fetched,"
            f" {made.pages - len(costs.pages):,} pages never seen, {rules:,} rules;"
            f" decide {costs.decide_us:.1f} µs, observe {costs.observe_us:.0f} µs,"
            f" {costs.url_bytes:.0f} bytes a URL above the keys",
            flush=True,
        )
        is_missed |= costs.decide_us > MOST_DECIDE_US or costs.observe_us > MOST_OBSERVE_US
        is_missed |= costs.url_bytes > MOST_URL_BYTES
        if profile:
            pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
    if options.check and is_missed:
        wanted = f"{MOST_DECIDE_US:.0f} µs, {MOST_OBSERVE_US:.0f} µs, {MOST_URL_BYTES:.0f} bytes"
        sys.exit(f"wanted: at most {wanted}")


if __name__ == "__main__":
    main()
