"""Sites whose pages change from fetch to fetch, each kind of change on a share of the pages, with figures.

    python -m bench.raw.changes [--pages 200]

Every page has three URLs, two of them with a parameter that does not matter. Changes are made anew at every
fetch. "removed" and "lost" are counted on pages that were not seen in learning. Below, pages that differ in
numbers alone, which no rule may merge.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import undust
from undust.reading.page import text_digest
from undust.reading.text import read_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Change = Callable[[random.Random, list[str]], list[str]]
    Row = dict[str, Any]

SITE = "https://shop.test"
SHARES = (0.0, 0.3, 1.0)
MENU = "<ul><li>Home of the shop<li>All teapots in one list<li>Contact and imprint<li>Terms of use</ul>"
WORDS = tuple("".join(random.Random(at).choices("bcdfgklmnprst", k=5)) for at in range(3000))


def words(drawn: random.Random, count: int) -> str:
    """Words of a text of its own."""
    return " ".join(drawn.choices(WORDS, k=count))


def counter(drawn: random.Random, parts: list[str]) -> list[str]:
    """A view counter."""
    return [*parts, f"<p>This page was viewed {drawn.randrange(9000)} times"]


def clock(drawn: random.Random, parts: list[str]) -> list[str]:
    """The time of the fetch."""
    return [f"<p>It is now {drawn.randrange(24)}:{drawn.randrange(60)}:{drawn.randrange(60)}", *parts]


def relative_time(drawn: random.Random, parts: list[str]) -> list[str]:
    """How long ago something was."""
    unit = drawn.choice(("seconds", "minutes", "hours", "days"))
    return [*parts, f"<p>Last comment {drawn.randrange(2, 60)} {unit} ago"]


def token(drawn: random.Random, parts: list[str]) -> list[str]:
    """A token in a form, hidden and shown."""
    value = f"{drawn.getrandbits(64):x}"
    return [*parts, f"<form><input type=hidden value={value}><p>Request {value}</form>"]


def rotating(drawn: random.Random, parts: list[str]) -> list[str]:
    """One of twenty lines, another one each time."""
    return [*parts, f"<p>{words(random.Random(drawn.randrange(20)), 12)}"]


def ads(drawn: random.Random, parts: list[str]) -> list[str]:
    """Three advertisements out of a hundred."""
    return [
        *parts,
        *(f"<div>{words(random.Random(1000 + at), 8)}</div>" for at in drawn.sample(range(100), 3)),
    ]


def shuffled(drawn: random.Random, parts: list[str]) -> list[str]:
    """The same parts in another order."""
    return drawn.sample(parts, len(parts))


def related(drawn: random.Random, parts: list[str]) -> list[str]:
    """Four other pages that are drawn each time."""
    others = (words(random.Random(f"page {drawn.randrange(10**6)} title"), 3) for _ in range(4))
    return [*parts, *(f"<li>{each}" for each in others)]


KINDS: dict[str, Change] = {
    change.__name__: change
    for change in (counter, clock, relative_time, token, rotating, ads, shuffled, related)
}


def page_row(url: str, title: str, parts: list[str]) -> Row:
    """Return the observation of a page."""
    html = read_html(f"<html><title>{title} - Shop</title>{MENU}{''.join(parts)}</html>".encode())
    blocks = np.frombuffer(html.blocks, np.int64).tolist()
    return {"url": url, "digest": text_digest(html.text), "blocks": blocks, "page_title": html.title}


def changing_site(kind: str, share: float, pages: int, seed: int = 0) -> Iterator[tuple[int, Row]]:
    """Yield the number of each page with one of its sightings."""
    for page in range(pages):
        own = random.Random(f"{seed} {page}")
        title = words(own, 3)
        parts = [f"<p>{words(own, 14)}" for _ in range(own.randrange(4, 9))]
        changes = own.random() < share
        for more in ("", f"&sid={own.getrandbits(40):x}", f"&from={own.choice(('list', 'mail', 'search'))}"):
            url = f"{SITE}/item?id={page}{more}"
            fetch = random.Random(f"{seed} {url}")
            shown = KINDS[kind](fetch, parts) if changes else parts
            yield page, page_row(url, title, shown)


def numbers(kind: str, count: int) -> Iterator[tuple[int, Row]]:
    """Yield pages that differ in numbers alone, each with two URLs."""
    for page in range(count):
        own = random.Random(f"{kind} {page}")
        many = [own.randrange(1000) for _ in range(12)]
        about = words(random.Random(kind), 60)
        shown = {
            "prices": [f"<p>{about}<p>Price {many[0]}.{many[1] % 100} EUR<p>Article {10000 + page}"],
            "weather": [f"<p>{about}", *(f"<td>{each % 40} degrees" for each in many)],
            "calendar": [f"<p>{about}", f"<p>Day {1 + page % 28} month {1 + page // 28 % 12}"],
            "variants": [
                f"<p>{words(random.Random(page // 4), 60)}<p>Size {36 + page % 4}<p>Price {many[0]} EUR"
            ],
        }[kind]
        path = (
            f"item?article={page // 4}&size={36 + page % 4}" if kind == "variants" else f"{kind}?day={page}"
        )
        for more in ("", f"&sid={own.getrandbits(40):x}"):
            yield page, page_row(f"{SITE}/{path}{more}", f"Shop {kind}", shown)


def is_held(page: int) -> bool:
    """Return whether a page is kept for judging."""
    return hashlib.blake2b(str(page).encode(), digest_size=1).digest()[0] & 1 == 1


def judged(rows: list[tuple[int, Row]]) -> tuple[float, float, int]:
    """Return the share removed, the share lost and the rules, on pages that were not seen."""
    seen = pa.Table.from_pylist([row for page, row in rows if not is_held(page)])
    rules = undust.learn(seen)
    key = rules.compile().key
    groups: defaultdict[str, Counter[int]] = defaultdict(Counter)
    unseen = [(page, row) for page, row in rows if is_held(page)]
    for page, row in unseen:
        groups[key(row["url"])][page] += 1
    pages = len({page for page, _ in unseen})
    lost = sum(len(group) - 1 for group in groups.values())
    return (len(unseen) - len(groups) - lost) / (len(unseen) - pages), lost / pages, len(list(rules))


def main() -> None:
    """Print the figures."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pages", type=int, default=200)
    told = ask.parse_args()
    for kind in KINDS:
        for share in SHARES:
            removed, lost, rules = judged(list(changing_site(kind, share, told.pages)))
            print(f"{kind:14} {share:4.0%} of pages: removed {removed:6.1%}, lost {lost:6.2%}, {rules} rules")
    for kind in ("prices", "weather", "calendar", "variants"):
        removed, lost, rules = judged(list(numbers(kind, told.pages)))
        print(f"{kind:14} numbers alone: removed {removed:6.1%}, lost {lost:6.2%}, {rules} rules")


if __name__ == "__main__":
    main()
