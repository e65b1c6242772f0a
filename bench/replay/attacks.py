"""What a stranger with a part of a site can make a crawl that learns believe about everybody's pages.

    python -m bench.replay.attacks                2,000 honest URLs, 100 of a stranger, five seeds

The attacks are those of `bench.poisoning`, met during a crawl, in a random order. Printed is how many honest
pages the crawl never sees under any URL, what is handed back fetched, how many the rules that it leaves merge
with another honest page, and what a crawl of honest URLs does.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import TYPE_CHECKING

import undust
from bench.poisoning import ATTACKS, honest, row

if TYPE_CHECKING:
    from bench.poisoning import Row


def lost(rows: list[Row], order: list[str]) -> tuple[int, int, int]:
    """Crawl in an order; return the honest pages never seen, those merged in the end, and the fetches."""
    by_url = {each["url"]: each for each in rows}
    texts = {row(url, page)["digest"] for url, page in honest(0, len(rows)) if url in by_url}
    with undust.CrawlLearner() as learner:
        waiting, seen, fetches = order[::-1], set(), 0
        while waiting:
            url = waiting.pop()
            if learner.decide(url).is_fetch:
                fetches += 1
                seen.add(by_url[url]["digest"])
                learner.observe(by_url[url])
            waiting += learner.returned()
        key = learner.rules.compile().key
    pages_of: dict[str, set[str]] = {}
    for url, each in by_url.items():
        if each["digest"] in texts:
            pages_of.setdefault(key(url), set()).add(each["digest"])
    merged = sum(len(pages) - 1 for pages in pages_of.values())
    return len(texts - seen), merged, fetches


def main() -> None:
    """Crawl with and without each attack, print a table, and fail if a page is lost."""
    ask = argparse.ArgumentParser(prog="python -m bench.replay.attacks", description=__doc__.splitlines()[0])
    ask.add_argument("--urls", type=int, default=2_000, help="honest URLs [%(default)s]")
    ask.add_argument("--share", type=float, default=0.05, help="URLs of the stranger for each [%(default)s]")
    ask.add_argument("--seeds", type=int, default=5, help="how often [%(default)s]")
    told = ask.parse_args()
    print(
        "| what the stranger does | fetches | honest pages never seen, all seeds | merged by the rules left |"
    )
    print("| --- | ---: | ---: | ---: |")
    worst = 0
    for attack in (None, *ATTACKS):
        unseen = merged = fetches = 0
        for seed in range(told.seeds):
            rows = [row(url, page) for url, page in honest(0, told.urls)]
            if attack:
                rows += attack(int(told.urls * told.share), random.Random(seed))
            order = list(dict.fromkeys(each["url"] for each in rows))
            random.Random(seed).shuffle(order)
            found = lost(rows, order)
            unseen, merged, fetches = unseen + found[0], merged + found[1], fetches + found[2]
        worst = max(worst, unseen, merged)
        name = (attack.__doc__ or "").rstrip(".") if attack else "Nothing"
        print(f"| {name} | {fetches / told.seeds:.0f} | {unseen} | {merged} |", flush=True)
    sys.exit(worst > 0)


if __name__ == "__main__":
    main()
