"""What every benchmark needs: URLs, fair timing, and a table.

Contenders take turns, round after round, so that a busy machine slows all of them and not the
one that was unlucky; each keeps its best round. Work on one thread is measured in processor time,
which other programs hardly change; work on several by the clock on the wall. Only ratios within
one run mean anything.
"""

from __future__ import annotations

import gc
import gzip
import os
import platform
import random
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Contender:
    """Somebody's way to do the work; `run` does it for all `urls` URLs of a list."""

    name: str
    run: Callable[[], object]
    urls: int
    threads: int = 1


def best_seconds_per_url(contenders: Sequence[Contender], rounds: int) -> dict[str, float]:
    """Return for each contender the seconds for one URL in its best round."""
    best = dict.fromkeys((contender.name for contender in contenders), float("inf"))
    for number in range(rounds + 1):
        first = number % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            seconds = _seconds(contender) / contender.urls
            if number > 0:  # the round before the first one warms caches
                best[contender.name] = min(best[contender.name], seconds)
    return best


def _seconds(contender: Contender) -> float:
    clock = thread_time if contender.threads == 1 else perf_counter
    gc.collect()
    gc.disable()
    started = clock()
    result = contender.run()
    seconds = clock() - started
    gc.enable()
    del result  # freed outside the measured time, for all alike
    return seconds


def machine() -> str:
    """Return what the figures depend on, in one line."""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def url_lists(limit: int) -> dict[str, list[str]]:
    """Return the URL lists to measure on: generated ones, and real ones where there are any."""
    lists = {
        "generated, clean": list(clean_urls(limit)),
        "generated, messy": list(messy_urls(limit)),
    }
    for name, path in {
        "links of popular pages": "lists/urls_top100.txt.gz",
        "links people shared": "lists/reddit_links_dev.tsv.gz",
    }.items():
        file = data_folder() / path
        if file.exists():
            lists[name] = _sample(_first_column(file), limit)
    return lists


def data_folder() -> Path:
    """Return the folder of real URL data, which is no part of the repository and may not exist."""
    named = os.environ.get("UNDUST_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data"


def _first_column(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        texts = (line.rstrip("\n").split("\t", 1)[0] for line in lines)
        return [text for text in texts if text.startswith("http")]


def _sample(urls: list[str], limit: int) -> list[str]:
    if len(urls) <= limit:
        return urls
    step = len(urls) / limit
    return [urls[int(number * step)] for number in range(limit)]


def clean_urls(count: int) -> Iterator[str]:
    """Yield URLs that are in normal form already, as most URLs of a crawl are."""
    chance = random.Random(1)
    for number in range(count):
        path = "/".join(_word(chance) for _ in range(chance.randint(1, 4)))
        query = "&".join(f"{_word(chance)}={chance.randint(1, 9999)}" for _ in range(chance.randint(0, 3)))
        yield f"https://www.site{number % 997}.test/{path}{'?' if query else ''}{query}"


def messy_urls(count: int) -> Iterator[str]:
    """Yield URLs of which each needs several steps of normalization."""
    chance = random.Random(2)
    for number in range(count):
        host = chance.choice(("WWW.Site", "shop", "Bücher", "xn--bcher-kva"))
        port = chance.choice(("", ":80", ":8080"))
        path = "/".join(
            chance.choice(
                (_word(chance), "..", ".", "%7e" + _word(chance), _word(chance) + " x", "%e2%82%ac")
            )
            for _ in range(chance.randint(1, 5))
        )
        query = "&".join(f"{_word(chance)}={_word(chance)}%2f" for _ in range(chance.randint(0, 3)))
        yield f"HTTP://{host}.site{number % 997}.test{port}/{path}{'?' if query else ''}{query}#top"


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz-_0123456789", k=chance.randint(2, 12)))
