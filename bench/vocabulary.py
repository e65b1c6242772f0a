"""Hostile vocabularies: what rows cost that are all different, beside as many ordinary ones.

    python -m bench.vocabulary                         100,000 rows of each kind
    python -m bench.vocabulary --rows 20000 --kind names values
    python -m bench.vocabulary --kind parameters --equal-bytes   beside ordinary rows of as many bytes, too

Anybody who can send requests to a site can fill its log with parameter names, values, hosts and paths of
their own. Each kind of such rows is learned in a process of its own, on one thread, beside ordinary rows of
the same number. Ends with an error if a kind takes more than three times the processor time or the memory
of the ordinary rows.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench.common import machine
from undust.cli.learn_job import NO_RULES, ONLY_PROPOSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[int, Random], Iterator[tuple[str, str]]]

MOST = 3.0
"""Times the processor seconds and the memory of ordinary rows that a kind may take."""
FORMS = 4
"""URLs of a page."""
SITE = "site.test"
MOST_SECONDS, MOST_BYTES = 400, 8 << 30
"""Where a run is ended."""


class Cost(NamedTuple):
    """What learning took."""

    seconds: float
    peak_bytes: int
    rules: int
    is_done: bool


def ordinary(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield pages under four forms each: plain, with a session id, with tracking, under `www`."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        url = f"{SITE}/section-{page % 23}/item-{page}"
        noise = chance.randrange(1 << 40)
        yield (
            (
                f"http://{url}",
                f"http://{url}?sid={noise}",
                f"http://{url}?utm_source=mail&utm_medium={page % 11}",
                f"http://www.{url}",
            )[form],
            f"page {page}",
        )


def names(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield a parameter name of its own in each row, and one page."""
    yield from ((f"http://{SITE}/p?name{row}={row % 7}", "page") for row in range(rows))


def names_apart(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield the same where every row is a page."""
    yield from ((f"http://{SITE}/p?name{row}={row % 7}", f"page {row}") for row in range(rows))


def names_of_pages(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield pages under four forms, three of which have a name of their own."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        url = f"http://{SITE}/item/{page}"
        yield (f"{url}?name{row}=1" if form else url), f"page {page}"


def names_twice(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield names that come twice and three times: one more than would be left out as single."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        url = f"http://{SITE}/item/{page}"
        yield (f"{url}?name{page - page % 3}of{form}={row}" if form else url), f"page {page}"


def names_of_few_pages(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield a name of its own in each row, and 50 pages."""
    yield from ((f"http://{SITE}/item/{row % 50}?name{row}=1", f"page {row % 50}") for row in range(rows))


def common_names(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield names that each come on 25 pages."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        url = f"http://{SITE}/item/{page}"
        yield (f"{url}?name{page // 25}of{form}={row}" if form else url), f"page {page}"


def values(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield a value of its own in each row, under four names."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        yield (
            f"http://{SITE}/p?id={page}&v{row % 4}={chance.randrange(1 << 60):x}",
            f"page {page * (form > 0)}",
        )


def hosts(rows: int, _: Random) -> Iterator[tuple[str, str]]:
    """Yield a host of its own for each row of one site."""
    for row in range(rows):
        yield f"http://h{row}.{SITE}/item/{row // FORMS}", f"page {row // FORMS}"


def segments(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield folders of their own before the page and behind it."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        own = f"{chance.randrange(1 << 40):x}"
        url = (f"{own}/item/{page}", f"item/{own}/{page}", f"item/{page}/{own}", f"item/{page}")[form]
        yield f"http://{SITE}/{url}", f"page {page}"


def depths(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield paths of up to 60 segments."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        deep = "/".join(f"{chance.randrange(5000):x}" for _ in range(1 + row % 60))
        yield f"http://{SITE}/{deep}/{page}", f"page {page * (form > 0)}"


def shapes(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield endings, delimiters and capitals in every mixture."""
    for row in range(rows):
        page, form = divmod(row, FORMS)
        words = "".join(
            f"{chance.choice('-_.,;:~+!')}{chance.choice(('Ab', 'c', '7', 'ff03'))}"
            for _ in range(1 + row % 7)
        )
        yield f"http://{SITE}/w{words}/{page}.e{row % 65_536:x}?{form}", f"page {page}"


def parameters(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield 200 parameters in each row, of a vocabulary of 100,000."""
    for row in range(rows):
        page = row // FORMS
        query = "&".join(f"n{chance.randrange(100_000)}={chance.randrange(9)}" for _ in range(200))
        yield f"http://{SITE}/item/{page}?{query}", f"page {page}"


def mixture(rows: int, chance: Random) -> Iterator[tuple[str, str]]:
    """Yield rows of which half are ordinary, and the others of all kinds."""
    makes = [make(rows, chance) for name, make in KINDS.items() if name not in {"mixture", "parameters"}]
    for row in range(rows):
        yield next(makes[0] if row % 2 else makes[row // 2 % len(makes)])


KINDS: dict[str, Make] = {
    make.__name__.replace("_", " "): make
    for make in (
        *(
            ordinary,
            names,
            names_apart,
            names_of_pages,
            names_twice,
            names_of_few_pages,
            common_names,
            values,
            hosts,
            segments,
            depths,
            shapes,
        ),
        *(parameters, mixture),
    )
}
"""The kinds of rows by name, the ordinary ones first."""


def written(kind: str, rows: int, folder: Path) -> Path:
    """Write so many rows of a kind."""
    path = folder / f"{kind.replace(' ', '-')}-{rows}.parquet"
    urls, digests = zip(*KINDS[kind](rows, Random(7)), strict=True)
    pq.write_table(pa.table({"url": urls, "digest": digests}), path)
    return path


def as_many_bytes(kind: str, rows: int) -> int:
    """Return how many ordinary rows have as many bytes of URLs as those of a kind."""
    wanted, usual = (sum(len(url) for url, _ in KINDS[name](rows, Random(7))) for name in (kind, "ordinary"))
    return round(rows * wanted / usual)


def learned(path: Path, most_seconds: int = MOST_SECONDS) -> Cost:
    """Return what `undust learn` takes for a file, in a process of its own."""
    words = ["learn", str(path), "-o", f"{path}.rules.json", "--yes", "--threads", "1", "--json"]
    limit = f"ulimit -t {most_seconds} -v {MOST_BYTES >> 10}; exec "
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["sh", "-c", f'{limit} "$@"', "sh", sys.executable, "-m", "undust", *words],  # noqa: S607 -- sh
        capture_output=True,
        check=False,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = sum(now - then for now, then in zip(after[:2], before[:2], strict=True))
    if done.returncode not in {0, ONLY_PROPOSED, NO_RULES}:
        return Cost(seconds, 0, 0, is_done=False)
    found = json.loads(done.stdout)
    return Cost(seconds, found["peak_memory_bytes"], found["rules"], is_done=True)


def main() -> None:
    """Learn from each kind, and print a table of times and memory beside those of ordinary rows."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--rows", type=int, default=100_000)
    ask.add_argument("--kind", nargs="+", choices=[*KINDS], default=[*KINDS])
    ask.add_argument("--equal-bytes", action="store_true", help="also beside ordinary rows of as many bytes")
    asked = ask.parse_args()
    print(f"{machine()}\n{asked.rows:,} rows of one site\n")
    print(f"{'kind':18}{'seconds':>9}{'x':>7}{'MiB':>8}{'x':>7}{'rules':>7}")
    too_much = []
    with tempfile.TemporaryDirectory() as folder:
        usual = learned(written("ordinary", asked.rows, Path(folder)))
        for kind in dict.fromkeys(["ordinary", *asked.kind]):
            cost = usual if kind == "ordinary" else learned(written(kind, asked.rows, Path(folder)))
            time, memory = cost.seconds / usual.seconds, cost.peak_bytes / usual.peak_bytes
            end = "" if cost.is_done else "  not done"
            print(
                f"{kind:18}{cost.seconds:9.1f}{time:7.2f}{cost.peak_bytes >> 20:8,}{memory:7.2f}"
                f"{cost.rules:7}{end}",
                flush=True,
            )
            if max(time, memory) > MOST or not cost.is_done:
                too_much.append(kind)
            if asked.equal_bytes and kind != "ordinary" and cost.is_done:
                more = as_many_bytes(kind, asked.rows)
                equal = learned(written("ordinary", more, Path(folder)))
                print(
                    f"  ordinary rows of as many bytes ({more:,}): {equal.seconds:.1f} s,"
                    f" {equal.peak_bytes >> 20:,} MiB{'' if equal.is_done else ', not done'}",
                    flush=True,
                )
    if too_much:
        sys.exit(f"more than {MOST:.0f} times what ordinary rows take: {', '.join(too_much)}")


if __name__ == "__main__":
    main()
