"""Archives of made-up sites whose pages change at every fetch, for each way in which URLs of a page differ.

    python -m bench.raw.families                              all families, changes and look-alikes
    python -m bench.raw.families session_path --changes all   one family
    python -m bench.raw.families --urls 2 --json out.json     two URLs a page, figures to a file

A site is written as a WARC, each URL fetched once, and learned from on half of its pages. "removed" and
"lost" are counted by key on the other half. The part of the URL that does not matter is missing in one URL
of each page, or never.

Below are look-alikes: sites whose pages differ in a number, a price, a date, a word of the title or a short
text and in nothing else, with the same changes on top. Each page also has a session id, which a rule may
remove, or a single URL; no rule may merge two pages.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import undust
from bench.raw.changes import KINDS, MENU, is_held, words
from bench.raw.judge import removed_and_lost
from bench.sites.answers import Answer
from bench.sites.archive import record
from undust.files.streams import open_output
from undust.reading.observations import arrow_table
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Callable

    Written = Callable[[random.Random, int], tuple[str, str]]
    Shown = Callable[[int], tuple[str, list[str]]]

PAGES, URLS = 300, 3
SITE = "https://shop.test"
CHANGES: dict[str, tuple[str, ...]] = {
    "none": (),
    **{name: (name,) for name in ("counter", "clock", "relative_time", "token", "rotating", "ads")},
    "all": ("counter", "clock", "relative_time", "token", "rotating", "ads"),
}
NEVER, SOMETIMES, ALONE = "never", "sometimes", "alone"
"""How often the part that does not matter is missing; a page that is alone has one URL, without it."""
_MONTHS = ("January", "March", "May", "August", "October", "December")


def code(chance: random.Random, length: int = 10) -> str:
    """Return hexadecimal digits."""
    return f"{chance.getrandbits(4 * length):0{length}x}"


def _slug(chance: random.Random) -> str:
    return words(chance, chance.randint(1, 4)).replace(" ", "-")


def _id(page: int) -> int:
    return 1000 + 37 * page


def _order(chance: random.Random, page: int) -> tuple[str, str]:
    parts = [f"id={_id(page)}", f"lang={page % 3}", f"view={page % 2}"]
    return "/page?" + "&".join(chance.sample(parts, 3)), "/page?" + "&".join(parts)


FAMILIES: dict[str, Written] = {
    "session_path": lambda c, p: (f"/s/{code(c)}/v/{_id(p)}", f"/v/{_id(p)}"),
    "session_matrix": lambda c, p: (f"/v/{_id(p)};s={code(c)}", f"/v/{_id(p)}"),
    "session_query": lambda c, p: (f"/page?id={_id(p)}&sid={code(c)}", f"/page?id={_id(p)}"),
    "session_number": lambda c, p: (
        f"/page?id={_id(p)}&sid={c.randrange(10**5, 10**8)}",
        f"/page?id={_id(p)}",
    ),
    "slug_in_segment": lambda c, p: (f"/shop/{_slug(c)}-{_id(p)}", f"/shop/{_id(p)}"),
    "slug_before": lambda c, p: (f"/{_slug(c)}/dp/{_id(p)}", f"/dp/{_id(p)}"),
    "slug_behind": lambda c, p: (f"/item/{_id(p)}/{_slug(c)}", f"/item/{_id(p)}"),
    "tracking": lambda c, p: (
        f"/page?id={_id(p)}&from={c.choice(('list', 'mail', 'search', 'home', 'feed', 'print'))}",
        f"/page?id={_id(p)}",
    ),
    "two_junk": lambda c, p: (
        f"/page?id={_id(p)}&sid={code(c)}&ts={c.randrange(10**8, 10**9)}",
        f"/page?id={_id(p)}",
    ),
    "title_and_code": lambda c, p: (
        f"/t/{_slug(random.Random(p))}-{p}~{code(c, 8)}",
        f"/t/{_slug(random.Random(p))}-{p}",
    ),
    "order": _order,
}
"""Each family: the path of a URL with the part that does not matter, and without it."""


def _article(page: int) -> tuple[str, list[str]]:
    own = random.Random(f"article {page}")
    return words(own, 3), [f"<p>{words(own, 14)}" for _ in range(own.randrange(4, 9))]


def _short(page: int) -> tuple[str, list[str]]:
    own = random.Random(f"short {page}")
    return words(own, 3), [f"<p>{words(own, 12)}"]


_ABOUT = [f"<p>{words(random.Random('about'), 60)}"]

ALIKE: dict[str, Shown] = {
    "number": lambda p: ("Stock of the shop", [*_ABOUT, f"<p>Article {10000 + p} is in stock"]),
    "price": lambda p: ("Offer", [*_ABOUT, f"<p>Price {7 * p % 997}.{p % 100:02} EUR"]),
    "date": lambda p: ("Calendar", [*_ABOUT, f"<p>{1 + p % 28} {_MONTHS[p // 28 % 6]} {2000 + p // 168}"]),
    "title_word": lambda p: (f"Tag {words(random.Random(f'tag {p}'), 1)}", _ABOUT),
    "short_text": lambda p: ("Answer", [*_ABOUT, f"<p>Answer: {words(random.Random(f'text {p}'), 3)}"]),
    "variant": lambda p: (
        words(random.Random(f"variant {p // 4}"), 3),
        [f"<p>{words(random.Random(p // 4), 60)}", f"<p>Size {36 + p % 4}<p>Price {20 + p % 9} EUR"],
    ),
}
"""Pages that look alike: the title and the parts of each."""

ALIKE_URLS: dict[str, Callable[[int], str]] = {
    "path": lambda p: f"/show/{_id(p // 4)}/{p % 4}?x=1",
    "words": lambda p: f"/show/{_slug(random.Random(f'url {p}'))}-{p % 10}/{p // 10}?x=1",
    "query": lambda p: f"/show?id={_id(p // 4)}&v={p % 4}",
    "code": lambda p: f"/show?id={_id(p // 4)}&k={code(random.Random(f'code {p}'))}",
}
"""How URLs of such pages name them: also by what elsewhere does not matter."""


class Setting(NamedTuple):
    """What sites of one sort differ in."""

    missing: str = NEVER
    change: str = "none"
    pages: int = PAGES
    urls: int = URLS
    seed: int = 0


class Archive(NamedTuple):
    """What a site answers, and which page each URL shows."""

    fetches: list[tuple[str, bytes]]
    pages: dict[str, int]


def body(shown: tuple[str, list[str]], changes: tuple[str, ...], fetch: random.Random) -> bytes:
    """Return a page as one fetch of it shows it."""
    title, parts = shown
    for change in changes:
        parts = KINDS[change](fetch, parts)
    return (
        f"<html><head><title>{title} - Shop</title></head><body>{MENU}{''.join(parts)}</body></html>".encode()
    )


def of_family(name: str, told: Setting) -> Archive:
    """Return a site of one family whose pages change."""
    found: dict[str, int] = {}
    for page in range(told.pages):
        chance = random.Random(f"{name} {told.seed} {page}")
        some: dict[str, None] = {}
        if told.missing == SOMETIMES:
            some[FAMILIES[name](chance, page)[1]] = None
        while len(some) < told.urls:
            some[FAMILIES[name](chance, page)[0]] = None
        found |= dict.fromkeys((f"{SITE}{path}" for path in some), page)
    return _archive(found, _article, told)


def of_alike(name: str, told: Setting) -> Archive:
    """Return a site of pages that look alike, with a session id that is missing once or never, or alone."""
    kind, _, written = name.partition("/")
    found: dict[str, int] = {}
    for page in range(told.pages):
        chance = random.Random(f"{kind} {told.seed} {page}")
        path = ALIKE_URLS[written](page)
        some = [f"{path}&sid={code(chance)}" for _ in range(told.urls if told.missing != ALONE else 0)]
        if told.missing != NEVER:
            some[:1] = [path]
        found |= dict.fromkeys((f"{SITE}{each}" for each in some), page)
    return _archive(found, ALIKE[kind], told)


def _archive(pages: dict[str, int], shown: Shown, told: Setting) -> Archive:
    fetches = [
        (url, body(shown(page), CHANGES[told.change], random.Random(f"{told.seed} {url}")))
        for url, page in pages.items()
    ]
    return Archive(fetches, pages)


def write(archive: Archive, path: Path, *, whole: bool = False) -> None:
    """Write what is learned from: half of the pages, or all of them."""
    with open_output(str(path)) as output:
        for url, shown in archive.fetches:
            if whole or not is_held(archive.pages[url]):
                answer = Answer(200, {"Content-Type": "text/html"}, shown, None)
                output.write(record(url, "2026-01-02T03:04:05Z", answer))


def judged(archive: Archive) -> dict[str, float]:
    """Return the share removed, the share lost, and the number of rules."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "site.warc.gz"
        write(archive, path)
        rules = undust.learn(arrow_table(undust.read(path)))
    key = rules.compile().key
    unseen = [(str(page), key(str(normalize(url)))) for url, page in archive.pages.items() if is_held(page)]
    removed, lost = removed_and_lost(unseen)
    return {"removed": removed, "lost": lost, "rules": len(list(rules))}


def main() -> None:
    """Print the tables."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.raw.families",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument(
        "names", nargs="*", metavar="NAME", help="families and look-alikes; all if none is named"
    )
    ask.add_argument("--pages", type=int, default=PAGES)
    ask.add_argument("--urls", type=int, default=URLS, help="URLs of each page")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--changes", nargs="*", default=list(CHANGES), choices=list(CHANGES))
    ask.add_argument("--json", type=Path, help="write the figures to this file too")
    told = ask.parse_args()
    sites = [(name, missing, of_family) for name in FAMILIES for missing in (NEVER, SOMETIMES)]
    alike = [f"{kind}/{written}" for kind in ALIKE for written in ALIKE_URLS]
    sites += [(name, missing, of_alike) for name in alike for missing in (NEVER, SOMETIMES, ALONE)]
    rows = []
    print(f"| site | missing | {' | '.join(told.changes)} |\n| --- | --- |{' ---: |' * len(told.changes)}")
    for name, missing, made in sites:
        if told.names and not {name, *name.split("/")}.intersection(told.names):
            continue
        cells = []
        for change in told.changes:
            cells.append(judged(made(name, Setting(missing, change, told.pages, told.urls, told.seed))))
            rows.append({"site": name, "missing": missing, "change": change, **cells[-1]})
        print(f"| {name} | {missing} | {' | '.join(map(_cell, cells))} |", flush=True)
    if told.json:
        told.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _cell(found: dict[str, float]) -> str:
    return f"{found['removed']:.1%} / {found['lost']:.2%}"


if __name__ == "__main__":
    main()
