"""The canonicalizer under load: several processes, each with several threads, for as long as asked.

    python -m tools.load --seconds 600

Every thread asks for the same URLs again and again: one by one, as a column, and as lines. Each answer is
compared with the one that a single thread gave at the start. When each thread has asked for everything once,
all that is ever needed has been allocated, and from then on the memory of a process should stay as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

import pyarrow as pa

from tests.fuzz.targets import CORPUS
from tests.rules.hostile import hostile_rules
from tests.urls.hostile import hostile_urls
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.rules import Canonicalizer

FLAT = 0.02
"""Share by which memory may grow after the warm-up."""
URLS = 2000
PIECE = 200
LOOK_EVERY_S = 0.5
LEAST_ROUNDS = 2
"""One to warm up, and one in which memory was watched."""


@dataclass
class Load:
    """What one process did."""

    answers: int
    wrong: int
    rounds: int
    """How often every thread has asked for everything; the first time is the warm-up."""
    warm_bytes: int
    """Memory after the warm-up."""
    most_bytes: int
    """The most memory at any time after it."""

    @property
    def growth(self) -> float:
        """The share by which memory grew."""
        return self.most_bytes / self.warm_bytes - 1


def urls_to_ask() -> list[str]:
    """Return URLs of all kinds: of the sites that have rules, and such that nobody writes on purpose."""
    ours = [
        f"http://www.shop.test/any-title/dp/{n}?sid={n}&id={n % 7}&utm_source=x#top" for n in range(URLS // 4)
    ]
    chains = [f"http://example.com/x{n % 200}/a-b-c/{n}?x={n}&y=1;z" for n in range(URLS // 4)]
    return [*ours, *chains, *hostile_urls(URLS // 2)]


def rules_to_ask() -> RuleSet:
    """Return rules that match, chain and cycle, and a thousand that were made to be slow."""
    shop = RuleSet.load(CORPUS / "rule-file" / "shop.json")
    return RuleSet([*shop, *hostile_rules()])


def digest(answers: Sequence[str]) -> bytes:
    """Return what tells answers from any others."""
    return sha256("\0".join(answers).encode("utf-8", "surrogatepass")).digest()


def ask(canonicalize: Canonicalizer, urls: list[str], way: int) -> list[str]:
    """Return the answers for some URLs, asked for in one of three ways."""
    if way == 0:
        return [canonicalize(url) for url in urls]
    if way == 1:
        return list(canonicalize.batch(pa.array(urls), threads=2).to_pylist())
    out, _, _ = canonicalize.lines("\n".join(urls).encode() + b"\n", threads=2)
    return out.decode().split("\n")[:-1]


def pieces_of(urls: list[str]) -> list[tuple[int, list[str]]]:
    """Return what is asked for at once, and how; a URL with a line break cannot be asked for as a line."""
    pieces = [urls[at : at + PIECE] for at in range(0, len(urls), PIECE)]
    plain = [[url for url in piece if url.isprintable()] for piece in pieces]
    return [
        (way, plain[place] if way == 2 else pieces[place])  # noqa: PLR2004 -- the third way
        for place in range(len(pieces))
        for way in range(3)
    ]


def resident_bytes() -> int:
    """Return the memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def work(seconds: float, threads: int) -> Load:
    """Ask from several threads until the time is over, and watch the memory."""
    canonicalize, pieces = rules_to_ask().compile(), pieces_of(urls_to_ask())
    expected = [digest(ask(canonicalize, urls, way)) for way, urls in pieces]
    end = monotonic() + seconds
    done = [0] * threads

    def asking(number: int) -> tuple[int, int]:
        answers = wrong = 0
        first = number * len(pieces) // threads
        while monotonic() < end:
            place = (first + done[number]) % len(pieces)
            way, urls = pieces[place]
            answers += len(urls)
            wrong += digest(ask(canonicalize, urls, way)) != expected[place]
            done[number] += 1
        return answers, wrong

    samples: list[int] = []
    with ThreadPoolExecutor(threads + 1) as pool:
        asked = [pool.submit(asking, number) for number in range(threads)]
        waiting = pool.submit(_watch, lambda: min(done) >= len(pieces), end, samples)
        counts = [each.result() for each in asked]
        waiting.result()
    answers, wrong = (sum(column) for column in zip(*counts, strict=True))
    return Load(answers, wrong, min(done) // len(pieces), samples[0], max(samples))


def _watch(is_warm: Callable[[], bool], end: float, samples: list[int]) -> None:
    """Take the memory from the end of the warm-up to the end."""
    wait = Event().wait
    while not is_warm() and monotonic() < end:
        wait(LOOK_EVERY_S)
    while True:
        samples.append(resident_bytes())
        if monotonic() >= end:
            return
        wait(LOOK_EVERY_S)


def under_load(seconds: float, processes: int, threads: int) -> list[Load]:
    """Return what each of several processes did at once."""
    context = get_context("spawn")
    with context.Pool(processes) as pool:
        return pool.starmap(work, [(seconds, threads)] * processes, chunksize=1)


def main() -> int:
    """Put the canonicalizer under load, print a table, and fail if an answer or the memory is wrong."""
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=8, help="of each process")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    loads = under_load(given.seconds, given.processes, given.threads)
    if given.json:
        print(json.dumps([asdict(load) | {"growth": load.growth} for load in loads]))
    else:
        print("| process | answers | wrong | rounds | memory after the warm-up | most memory | growth |")
        print("|---:|---:|---:|---:|---:|---:|---:|")
        for number, load in enumerate(loads, 1):
            sizes = f"{load.warm_bytes / 2**20:.1f} MiB | {load.most_bytes / 2**20:.1f} MiB"
            counts = f"{load.answers:,} | {load.wrong} | {load.rounds}"
            print(f"| {number} | {counts} | {sizes} | {load.growth:+.2%} |")
    return int(any(load.wrong or load.rounds < LEAST_ROUNDS or load.growth > FLAT for load in loads))


if __name__ == "__main__":
    sys.exit(main())
