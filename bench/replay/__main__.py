"""Replay labelled crawls for every contender, and print what each saved and lost.

    python -m bench.replay                                   the seven crawls, random order
    python -m bench.replay --sites trac opencart --orders random sorted --contenders none learner
    python -m bench.replay --groups crawls mirrors --json
    python -m bench.replay --part 5                          smaller sites: a fifth of the pages of each
    python -m bench.replay --plot found.svg
    python -m bench.replay --contenders periodic command --command OTHER/.venv/bin/undust
    python -m bench.replay --contenders maybedont            after: pip install maybedont
    python -m bench.replay --contenders known                the rules of the whole crawl from the start

A duplicate that is never fetched is saved. A page is never seen if none of its URLs, and no near copy of it,
was fetched; URLs that the learner hands back are fetched at once. Of these pages, those count as changed that
were fetched under another session, campaign or spelling: their text is another one at every fetch. What is
saved "at most" is what a learner with the same number of tests would save if it knew all duplicates from the
start.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

from bench.common import machine
from bench.replay.crawlers import Known, Learning, MaybeDont, Normalized, Periodic, PeriodicCommand
from bench.replay.crawls import ORDERS, labelled_crawls
from bench.replay.plots import drawing

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.replay.crawlers import Replayed
    from bench.replay.crawls import LabelledCrawl

CONTENDERS: dict[str, Callable[[LabelledCrawl, argparse.Namespace], Replayed]] = {
    "none": lambda *_: Normalized(),
    "periodic": lambda *_: Periodic(),
    "command": lambda _, options: PeriodicCommand(options.command),
    "maybedont": lambda crawl, options: MaybeDont(crawl.pages, options.seed),
    "learner": lambda *_: Learning(),
    "known": lambda crawl, _: Known(crawl),
}
REACHED = (0.5, 0.9, 0.99)
LEAST_SAVED, MOST_LOST_POINTS = 0.65, 0.1


@dataclass(frozen=True)
class Replay:
    """One crawl under one contender."""

    site: str
    order: str
    contender: str
    urls: int
    pages: int
    fetched: int
    saved: float
    """Share of the duplicates that were never fetched."""
    most_saved: float
    """The same if all duplicates were known from the start, and as many were fetched to test rules."""
    never_seen: float
    """Share of the pages that were never fetched."""
    changed: float
    """Share of the pages that are among these because their text changed between two fetches."""
    to_reach: dict[str, int | None]
    """Fetches until a share of the pages was found."""
    found: list[int]
    """Pages found after each twentieth of the fetches."""
    decide_us: float
    observe_us: float
    """Processor time of a call, learning included."""


def replayed(crawl: LabelledCrawl, order: str, contender: str, seed: int, who: Replayed) -> Replay:
    """Ask about every URL in an order, and fetch what is wanted."""
    waiting = deque(crawl.order(order, seed))
    fetched: list[str] = []
    reached: list[int] = []
    seen: set[str] = set()
    deciding = observing = 0.0
    asked = 0
    while waiting:
        url = waiting.popleft()
        started = process_time()
        wanted = who.wants(url)
        deciding += process_time() - started
        asked += 1
        if wanted:
            fetched.append(url)
            seen.add(crawl.pages[url])
            reached.append(len(seen))
            started = process_time()
            who.see(crawl.rows[url])
            observing += process_time() - started
            waiting.extendleft(who.returned())
    urls, pages = len(crawl.pages), len(set(crawl.pages.values()))
    missing = crawl.never_seen(fetched)
    to_reach = {
        f"{share:.0%}": next((n + 1 for n, count in enumerate(reached) if count >= share * pages), None)
        for share in REACHED
    }
    saved = max(0, urls - len(fetched) - len(missing)) / max(1, urls - pages)
    found = [reached[min(len(reached) - 1, len(reached) * part // 20)] for part in range(1, 21)]
    per_call = 1e6 * deciding / max(1, asked), 1e6 * observing / max(1, len(fetched))
    return Replay(
        crawl.name,
        order,
        contender,
        urls,
        pages,
        len(fetched),
        saved,
        1 - who.explored / max(1, urls - pages),
        len(missing) / pages,
        crawl.changed(missing, fetched) / pages,
        to_reach,
        found,
        *per_call,
    )


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", nargs="*", default=["crawls"], choices=["crawls", "mirrors"])
    parser.add_argument("--sites", nargs="*", default=[])
    parser.add_argument("--orders", nargs="*", default=["random"], choices=ORDERS)
    parser.add_argument("--contenders", nargs="*", default=["none", "learner"], choices=CONTENDERS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=int, default=1, help="one page of so many: a smaller site")
    parser.add_argument("--command", default="undust", help="whose `learn` the contender `command` runs")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--plot", type=Path, help="draw pages found against fetches into an SVG file")
    parser.add_argument("--check", action="store_true", help="end with an error if the targets are missed")
    options = parser.parse_args()
    results = []
    print(f"replays ({machine()})", file=sys.stderr)
    for whole in labelled_crawls(options.groups, options.sites):
        crawl = whole.part(options.part, options.seed)
        for order in options.orders:
            for contender in options.contenders:
                who = CONTENDERS[contender](crawl, options)
                result = replayed(crawl, order, contender, options.seed, who)
                results.append(result)
                print(json.dumps(asdict(result)) if options.json else _line(result), flush=True)
    if not options.json:
        _print_means(results)
    if options.plot:
        options.plot.write_text(drawing(results))
    if options.check:
        _check(results)


def _print_means(results: list[Replay]) -> None:
    """Print the mean over the sites of each order and contender."""
    for order, contender in dict.fromkeys((each.order, each.contender) for each in results):
        some = [each for each in results if (each.order, each.contender) == (order, contender)]
        saved = sum(each.saved for each in some) / len(some)
        lost = sum(each.never_seen for each in some) / len(some)
        changed = sum(each.changed for each in some) / len(some)
        head = f"{f'mean of {len(some)}':<16}{order:<8}{contender:<11}{'':>13}"
        most = sum(each.most_saved for each in some) / len(some)
        print(
            f"{head}  saved {saved:6.1%} (at most {most:.1%})  never seen {lost:7.3%} (changed {changed:.3%})"
        )


def _line(each: Replay) -> str:
    reach = " ".join(f"{share} {count or '-'}" for share, count in each.to_reach.items())
    return (
        f"{each.site:<16}{each.order:<8}{each.contender:<11}{each.fetched:>6}/{each.urls:<6}"
        f"  saved {each.saved:6.1%} (at most {each.most_saved:.1%})  never seen {each.never_seen:7.3%}"
        f" (changed {each.changed:.3%})  fetches to {reach}"
        f"  decide {each.decide_us:.1f} µs, observe {each.observe_us:.0f} µs"
    )


def _check(results: list[Replay]) -> None:
    learner = [each for each in results if each.contender == "learner"]
    plain = {(each.site, each.order): each for each in results if each.contender == "none"}
    saved = sum(each.saved for each in learner) / len(learner)
    more = [each.never_seen - plain[each.site, each.order].never_seen for each in learner]
    points = 100 * sum(more) / len(more)
    if saved < LEAST_SAVED or points > MOST_LOST_POINTS:
        sys.exit(f"{saved:.1%} saved (wanted {LEAST_SAVED:.0%}), {points:.2f} points more pages never seen")


if __name__ == "__main__":
    main()
