"""The npm package beside Python: the same answers for a million URLs, and its speed.

    python -m bench.js --rules a.json b.json c.json [--urls 1000000] [--normalize-url …/index.js]

Each rule file is applied to URLs of its own sites (those of a crawl, where there is one, and the same with a
parameter more), then to links that people shared, by Python and by Node, as canonical forms and as keys; the
outputs have to be the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from bench.common import ROOT, data_folder, machine, messy_urls, url_lists
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator

ENTRY = ROOT / "js" / "node.js"
MARKS = (
    "",
    "?utm_source=x",
    "&sid=0123456789abcdef",
    "&b=2&a=1",
    "#top",
    "/../",
    "%7e",
    "/index.php",
    "ü",
    "&page=2",
)


def main() -> None:
    """Compare, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.js", description=__doc__)
    parser.add_argument("--rules", nargs="+", type=Path, required=True)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--normalize-url", type=Path)
    asked = parser.parse_args()
    node = shutil.which("node")
    if node is None:
        sys.exit("there is no node; install Node 20 or newer")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"{machine()}, Node {version}")
    differing = sum(_compared(node, rules, asked.urls) for rules in asked.rules)
    _measured(node, asked.rules[0], asked.normalize_url)
    sys.exit(1 if differing else 0)


def _compared(node: str, path: Path, count: int) -> int:
    """Return how many answers differ, after printing it."""
    canonicalize = RuleSet.load(path).compile()
    data = "".join(f"{url}\n" for url in islice(_urls(path), count)).encode()
    differing = 0
    for verb in ("canonical", "key"):
        expected, lines, counts = canonicalize.lines(data, keys=verb == "key")
        found = subprocess.run(
            [node, str(ROOT / "bench" / "js_lines.mjs"), str(ENTRY), str(path), verb],
            input=data,
            capture_output=True,
            check=True,
        ).stdout
        wrong = sum(a != b for a, b in zip(expected.splitlines(), found.splitlines(), strict=True))
        print(f"{path.name}: {verb} of {lines:,} URLs, {counts.changed:,} changed, {wrong:,} differ")
        differing += wrong
    return differing


def _urls(path: Path) -> Iterator[str]:
    crawl = data_folder() / "crawls" / f"{path.stem}.jsonl.gz"
    own = _crawled(crawl) if crawl.exists() else []
    yield from own
    for url, mark in ((url, mark) for mark in MARKS for url in own):
        yield url + mark
    yield from chain.from_iterable(url_lists(200_000).values())
    yield from messy_urls(1_000_000)


def _crawled(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [json.loads(line).get("url", "") for line in lines]
    return [url for url in found if url.isprintable()]


def _measured(node: str, path: Path, other: Path | None) -> None:
    words = [node, str(ROOT / "bench" / "js_speed.mjs"), str(ENTRY), str(path)]
    urls = "".join(f"{url}\n" for url in islice(_urls(path), 20_000))
    done = subprocess.run(
        [*words, str(other)] if other else words, input=urls, capture_output=True, text=True, check=True
    )
    said = json.loads(done.stdout)
    first = said["nanoseconds"]["new URL() and searchParams.sort()"]
    print(f"{said['urls']:,} URLs, processor time of the best of seven rounds")
    for name, nanoseconds in said["nanoseconds"].items():
        print(f"  {name:36} {nanoseconds:8.0f} ns   {first / nanoseconds:5.2f} x")


if __name__ == "__main__":
    main()
