"""What `make run` shows: the main job, as far as it exists, on the sample crawl.

    python examples/tour.py

The rules stay as rules.json in the folder of the repository, and the page about them as report.html; all
else goes to a temporary folder.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

REPOSITORY = Path(__file__).resolve().parents[1]
CRAWL, URLS = "examples/shop.jsonl.gz", "examples/shop.txt"
EXPLAINED = "HTTP://www.teapots.test:80/p/blue%2dcup/117?sid=4b2e7245#reviews"
WIDTH = 40


def most_repeated_page() -> list[str]:
    """Return the URLs under which the sample's most repeated product was seen."""
    pages: dict[str, list[str]] = defaultdict(list)
    with gzip.open(REPOSITORY / CRAWL, "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if re.search(r"/p/.*1\d\d", row["url"]) and "digest" in row:
                pages[row["digest"]].append(row["url"])
    return max(pages.values(), key=lambda urls: (len(urls), urls))


def undust(*arguments: str, folder: Path) -> None:
    """Show a command and run it in a folder."""
    print(f"\n$ undust {shlex.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "undust", *arguments]
    subprocess.run(command, check=True, cwd=folder, stderr=subprocess.STDOUT)


def chapter(title: str) -> None:
    """Print a heading."""
    print(f"\n\n{title}\n{'─' * len(title)}")


def distinct(path: Path) -> int:
    """Return how many different lines a file has."""
    return len(set(path.read_text(encoding="utf-8").splitlines()))


def show_bars(counts: Iterable[tuple[str, int]]) -> None:
    """Print counts as bars, the first one being the longest."""
    rows = list(counts)
    print()
    for label, count in rows:
        print(f"  {label:<22} {'█' * round(WIDTH * count / rows[0][1]):<{WIDTH}} {count:>5}")


def main() -> None:
    """Walk through the sample."""
    urls = most_repeated_page()
    print(f"An invented tea shop, as a crawler saw it. One of its pages came under {len(urls)} URLs:\n")
    print("\n".join(f"  {url}" for url in urls))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "examples").symlink_to(REPOSITORY / "examples")

        chapter("Which URLs show one page, and how we know")
        undust("cluster", CRAWL, folder=folder)

        chapter("What needs no evidence: one spelling for each URL")
        undust("normalize", URLS, "-o", "normal.txt", folder=folder)

        chapter("What is true on this site, learned from the crawl and proved on pages held out")
        undust("learn", CRAWL, "-o", "rules.json", "--report", "report.html", folder=folder)
        for result in ("rules.json", "report.html"):
            shutil.copy(folder / result, REPOSITORY / result)

        chapter("What the rules do")
        undust("apply", "--key", "rules.json", URLS, "-o", "keys.txt", "--stats", folder=folder)
        undust("explain", "rules.json", EXPLAINED, folder=folder)

        chapter("What it saves")
        files = {"URLs that were seen": URLS, "normalized": "normal.txt", "compared by key": "keys.txt"}
        show_bars((label, distinct(folder / file)) for label, file in files.items())

        chapter("Methods side by side, each trained on some of the pages and judged on the others")
        undust("compare", CRAWL, "-q", folder=folder)
    print("\n  The rules are in rules.json; report.html is a page about them: open it in a browser.")
    print("  docs/quickstart.md goes on from here.")


if __name__ == "__main__":
    main()
