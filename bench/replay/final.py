"""The rules at the end of a crawl that learned, beside those that `learn` finds in what it fetched.

    python -m bench.replay.final                         the seven crawls, random order, seed 0
    python -m bench.replay.final --sites trac smf --seeds 1 2

Both are counted on the URLs that the crawl did not fetch: duplicates removed, and pages that lie under
another page which is no near copy of theirs, as everywhere else.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import undust
from bench.common import machine
from bench.replay.crawlers import Learning, table_of_rows
from bench.replay.crawls import ORDERS, labelled_crawls
from undust.measuring.counts import measure

if TYPE_CHECKING:
    from bench.replay.crawls import LabelledCrawl
    from undust.rules import RuleSet

MOST_FEWER, MOST_LOST_POINTS = 1.0, 0.1


class OnUnfetched(NamedTuple):
    """What rules do to the URLs that a crawl did not fetch, in per cent."""

    removed: float
    """Of the duplicates among them."""
    lost: float
    """Of their pages."""


def fetched(crawl: LabelledCrawl, order: str, seed: int, who: Learning) -> list[str]:
    """Replay a crawl; return what was fetched."""
    waiting, found = deque(crawl.order(order, seed)), []
    while waiting:
        url = waiting.popleft()
        if who.wants(url):
            found.append(url)
            who.see(crawl.rows[url])
            waiting.extendleft(who.returned())
    return found


def on_unfetched(crawl: LabelledCrawl, known: list[str], rules: RuleSet) -> OnUnfetched:
    """Return what rules do to the URLs that were not fetched."""
    left = sorted(crawl.pages.keys() - set(known))
    pages = [crawl.pages[url] for url in left]
    sketches = {
        page: sketch
        for url, page in zip(left, pages, strict=True)
        if (sketch := crawl.rows[url].get("sketch"))
    }
    key = rules.compile().key
    found = measure(pages, [key(url) for url in left], sketches)
    removed = max(0, found.removed_urls - found.lost_pages) / max(1, found.removable)
    return OnUnfetched(100 * removed, 100 * found.lost_unlike / max(1, found.clusters))


def main() -> None:
    """Replay, learn, and print both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", nargs="*", default=[])
    parser.add_argument("--order", default="random", choices=ORDERS)
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--check", action="store_true", help="end with an error if the targets are missed")
    options = parser.parse_args()
    print(f"final rules of replays ({machine()})", file=sys.stderr)
    is_missed = False
    for crawl in labelled_crawls(["crawls"], options.sites):
        for seed in options.seeds:
            who = Learning()
            known = fetched(crawl, options.order, seed, who)
            mine = on_unfetched(crawl, known, who.learner.rules)
            learned = undust.learn(table_of_rows([crawl.rows[url] for url in known]))
            its = on_unfetched(crawl, known, learned)
            is_missed |= mine.removed < its.removed - MOST_FEWER or mine.lost > its.lost + MOST_LOST_POINTS
            print(
                f"{crawl.name:<10}{options.order:<8}seed {seed}: {len(known):,} of {len(crawl.pages):,}"
                f" fetched; removed / lost on the others: crawl {mine.removed:.1f} / {mine.lost:.2f},"
                f" learn {its.removed:.1f} / {its.lost:.2f}",
                flush=True,
            )
    if options.check and is_missed:
        sys.exit(f"wanted: at most {MOST_FEWER} fewer removed, and {MOST_LOST_POINTS} more lost")


if __name__ == "__main__":
    main()
