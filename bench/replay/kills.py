"""Kill crawls that learn at random moments, go on each time, and look for pages that are lost by it.

    python -m bench.replay.kills                  500 kills, 20 of each crawl
    python -m bench.replay.kills --kills 100 --seed 3

Each crawl runs in a process of its own, with its state on disk, and is ended by SIGKILL after some fetches
and a few milliseconds; the next one goes on from the state, is asked about all URLs from the first on as by a
crawler without a memory, and fetches what it is told to. The same crawl is run once without a kill.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from random import Random

import undust
from bench.common import machine
from bench.replay.costs import MadeSites, row_of

KILLS_EACH = 20
MOST_BETWEEN = 20
"""Fetches between two kills."""
MOST_WAIT = 0.03
"""Seconds after the last of them."""


def crawl(pages: int, folder: Path, done: Path) -> None:
    """Crawl what is left, and write down each page before it is reported."""
    made = MadeSites(pages, 1)
    page_of = dict(made.shuffled())
    with undust.CrawlLearner(folder) as learner, done.open("a") as told:
        waiting = [*reversed(page_of), *learner.returned()]
        while waiting:
            url = waiting.pop()
            if learner.decide(url).is_fetch:
                told.write(f"{page_of[url]}\n")
                told.flush()
                learner.observe(row_of(url, page_of[url]))
            waiting += learner.returned()


def fetched(done: Path) -> list[int]:
    """Return the pages that were fetched; a kill may have cut the last line."""
    return [int(line) for line in done.read_text().splitlines(keepends=True) if line.endswith("\n")]


def killed(pages: int, kills: int, chance: Random, folder: Path) -> tuple[int, list[int]]:
    """Kill a crawl so often, let it end, and return how often it was alive then, and what was fetched."""
    done = folder / "done"
    done.touch()
    alive = 0
    for _ in range(kills):
        process = get_context("fork").Process(target=crawl, args=(pages, folder / "state", done))
        last = len(fetched(done)) + chance.randrange(1, MOST_BETWEEN)
        process.start()
        while process.is_alive() and len(fetched(done)) < last:
            time.sleep(0.001)
        time.sleep(chance.random() * MOST_WAIT)
        alive += process.is_alive()
        process.kill()
        process.join()
    crawl(pages, folder / "state", done)
    return alive, fetched(done)


def main() -> None:
    """Kill, count, and fail if a page is lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = Random(options.seed)
    print(f"kills of crawls ({machine()})", file=sys.stderr)
    kills = crawls = lost = fetches = plain_fetches = 0
    while kills < options.kills:
        pages = 400 + crawls
        with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as folder:
            crawl(pages, Path(plain) / "state", Path(plain) / "done")
            without = fetched(Path(plain) / "done")
            count, found = killed(pages, min(KILLS_EACH, options.kills - kills), chance, Path(folder))
        kills, crawls = kills + count, crawls + 1
        lost += len(set(without) - set(found))
        fetches, plain_fetches = fetches + len(found), plain_fetches + len(without)
    print(
        f"{kills} kills of {crawls} crawls: {lost} pages lost that are found without a kill;"
        f" {fetches:,} fetches, {plain_fetches:,} without kills"
    )
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
