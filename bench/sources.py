"""How fast access logs are read, beside a plain loop with one compiled regular expression.

    python -m bench.sources [--lines 200000] [--rounds 3] [--json]

The loop does less: it makes no table, no times and no URLs, and it does not count what it leaves out.
Both read the same file, one thread each.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from itertools import cycle, islice
from pathlib import Path

import undust
from bench.common import Contender, best_seconds_per_url, clean_urls, data_folder, machine

PATTERN = re.compile(
    r'(\S+) (\S+) (.*?) \[([^\]]+)\] "(GET|HEAD) ((?:[^"\\]|\\.)*?)(?: HTTP/[\d.]+)?" (\d{3}|-) (\d+|-)'
)
LOOP = "a loop with one regular expression"
OURS = "undust.read"
TARGET = 5.0
"""How many times as fast as the loop reading has to be."""


def log_lines(count: int) -> list[str]:
    """Return lines of a combined log: real ones if there are any, repeated, else generated ones."""
    path = data_folder() / "logs" / "docs.access.log.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return list(islice(cycle(file.readlines()), count))
    template = (
        '203.0.113.7 - - [15/Nov/2026:00:23:57 +0000] "GET {} HTTP/1.1" 200 {} "-" "Mozilla/5.0 (X11)"\n'
    )
    paths = (url.partition(".test")[2] for url in clean_urls(count))
    return [template.format(path, 100 + number) for number, path in enumerate(paths)]


def read_with_a_loop(path: Path) -> list[tuple[str, str, str]]:
    """Return target, status and size of each line, as people write it in an afternoon."""
    rows = []
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            found = PATTERN.match(line)
            if found:
                rows.append((found[6], found[7], found[8]))
    return rows


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "access.log")
        path.write_text("".join(log_lines(options.lines)), encoding="utf-8")
        rows = len(undust.read(path, base="http://shop.test"))
        if rows != len(read_with_a_loop(path)):
            parser.error("the two do not read the same lines")
        contenders = (
            Contender(LOOP, lambda: read_with_a_loop(path), rows),
            Contender(OURS, lambda: undust.read(path, base="http://shop.test"), rows),
        )
        seconds = best_seconds_per_url(contenders, options.rounds)
    ratio = seconds[LOOP] / seconds[OURS]
    if options.json:
        figures = {name: {"lines_per_second": round(1 / each)} for name, each in seconds.items()}
        print(
            json.dumps(
                {"machine": machine(), "lines": rows, "figures": figures, "ratio": ratio, "target": TARGET}
            )
        )
        return
    print(f"{rows:,} lines of an access log ({machine()})")
    for name, each in seconds.items():
        print(f"  {name:36} {1 / each:12,.0f} lines/s")
    print(f"  {ratio:.1f} times as fast; at least {TARGET:.0f} is the aim")


if __name__ == "__main__":
    main()
