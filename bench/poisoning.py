"""What a stranger with a hundredth of a crawl's rows can make `undust learn` believe about everybody's pages.

    python -m bench.poisoning                    2,000 honest rows and 20 of a stranger, five seeds
    python -m bench.poisoning --share 0.05

The stranger owns a folder and a sub-domain of the site, and can put any pages there. What the site answers to
honest URLs is not theirs to choose. Printed is the share of honest pages, none of which was in the input,
that the learned rules lose. It ends with 1 if any are.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import undust
from undust.measuring.counts import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Row = dict[str, Any]


def row(url: str, page: str, **more: Any) -> Row:  # noqa: ANN401 -- of any column
    """Return an observation of a page."""
    return {"url": url, "status": 200, "digest": f"text of {page}", "canonical": None, **more}


def honest(start: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield URLs and pages of a shop with a forum: everything in them matters but a session id."""
    for n in range(start, start + count // 4):
        yield f"http://www.shop.test/view?item={n}", f"item {n}"
        yield f"http://www.shop.test/view?item={n}&sid={n:08x}", f"item {n}"
        yield f"http://www.shop.test/list?p={n}", f"list {n}"
        yield f"http://www.shop.test/thread/{n // 3}/page{n % 3}", f"thread {n}"


def idle_parameter(count: int, chance: random.Random) -> list[Row]:
    """In a folder of one's own, a parameter of the shop that does nothing."""
    return [
        row(f"http://www.shop.test/~me/{n // 4}?item={chance.random()}", f"mine {n // 4}")
        for n in range(count)
    ]


def idle_on_a_host(count: int, chance: random.Random) -> list[Row]:
    """On a sub-domain of one's own, a parameter of the shop that does nothing."""
    return [
        row(f"http://me.shop.test/a/{n // 4}?p={chance.random()}", f"mine {n // 4}") for n in range(count)
    ]


def idle_segment(count: int, chance: random.Random) -> list[Row]:
    """In a folder of one's own, paths like those of the forum, the last segment of which does nothing."""
    return [
        row(f"http://me.shop.test/thread/{n // 4}/page{chance.randrange(10**6)}", f"mine {n // 4}")
        for n in range(count)
    ]


def canonical_to_one(count: int, chance: random.Random) -> list[Row]:
    """Pages of one's own that declare honest pages to be them."""
    return [
        row(
            f"http://me.shop.test/view?item={chance.randrange(500)}",
            f"mine {n}",
            canonical="http://me.shop.test/",
        )
        for n in range(count)
    ]


def copies(count: int, chance: random.Random) -> list[Row]:
    """Copies of honest pages under parameters of the shop that do nothing there."""
    drawn = [chance.randrange(500) for _ in range(count)]
    return [row(f"http://me.shop.test/view?item={n}&p={chance.random()}", f"item {n}") for n in drawn]


ATTACKS: tuple[Callable[[int, random.Random], list[Row]], ...] = (
    idle_parameter, idle_on_a_host, idle_segment, canonical_to_one, copies,
)  # fmt: skip


def lost(
    attack: Callable[[int, random.Random], list[Row]], rows: int, share: float, seed: int
) -> tuple[float, float]:
    """Return the shares of duplicates removed and of pages lost among honest URLs that nobody has seen."""
    seen = [row(url, page) for url, page in honest(0, rows)] + attack(int(rows * share), random.Random(seed))
    random.Random(seed).shuffle(seen)
    rules = undust.learn(pa.Table.from_pylist(seen), seed=seed)
    urls, pages = zip(*honest(10 * rows, rows), strict=True)
    found = measure(pages, rules.compile().batch(list(urls), keys=True))
    return found.removed, found.lost


def main() -> None:
    """Measure, print a table, and fail if an honest page is lost."""
    ask = argparse.ArgumentParser(prog="python -m bench.poisoning", description=__doc__.splitlines()[0])
    ask.add_argument("--rows", type=int, default=2_000, help="honest rows [%(default)s]")
    ask.add_argument("--share", type=float, default=0.01, help="rows of the stranger for each [%(default)s]")
    ask.add_argument("--seeds", type=int, default=5, help="how often [%(default)s]")
    told = ask.parse_args()
    print("| what the stranger does | removed | honest pages lost, worst seed |\n| --- | ---: | ---: |")
    worst = 0.0
    for attack in ATTACKS:
        found = [lost(attack, told.rows, told.share, seed) for seed in range(told.seeds)]
        most = max(share for _, share in found)
        worst = max(worst, most)
        removed = sum(share for share, _ in found) / len(found)
        print(f"| {(attack.__doc__ or '').rstrip('.')} | {removed:.1%} | {most:.2%} |", flush=True)
    sys.exit(worst > 0)


if __name__ == "__main__":
    main()
