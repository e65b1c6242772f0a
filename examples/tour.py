"""What `make run` shows: the main job, as far as it exists, on the sample crawl.

    python examples/tour.py

Nothing is written outside a temporary folder.
"""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH = 40
SHOWN = 6


def largest_page() -> list[str]:
    """Return the URLs under which the sample's most repeated product was seen."""
    pages: dict[str, list[str]] = defaultdict(list)
    with gzip.open(HERE / "shop.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if "/p/" in row["url"] and "canonical" in row:
                pages[row["digest"]].append(row["url"])
    return max(pages.values(), key=lambda urls: (len(urls), urls))


def undust(*arguments: str) -> str:
    """Show a command, run it, and return what it printed."""
    shown = (Path(part).name if Path(part).is_absolute() else part for part in arguments)
    print(f"\n$ undust {shlex.join(shown)}")
    command = [sys.executable, "-m", "undust", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def distinct(path: Path) -> int:
    """Return how many different lines a file has."""
    return len(set(path.read_text(encoding="utf-8").splitlines()))


def bar(label: str, count: int, most: int) -> None:
    """Print a count as a bar."""
    print(f"  {label:<22} {'█' * round(WIDTH * count / most):<{WIDTH}} {count}")


def main() -> None:
    """Walk through the sample."""
    urls = largest_page()
    print(
        "examples/shop.txt: what a crawler saw of an invented tea shop. One page of it, under",
        len(urls),
        "URLs:\n",
    )
    for url in urls[:SHOWN]:
        print(f"  {url}")

    with tempfile.TemporaryDirectory() as folder:
        seen, normal = HERE / "shop.txt", Path(folder) / "normal.txt"
        undust("normalize", str(seen), "-o", str(normal))
        print()
        bar("different URLs seen", distinct(seen), distinct(seen))
        bar("after normalization", distinct(normal), distinct(seen))


if __name__ == "__main__":
    main()
