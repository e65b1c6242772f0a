"""Processor time of `undust apply` for a row of each format.

    python -m bench.formats [--rows 200000] [--rounds 3] [--source FOLDER] [--json]

A crawl of generated URLs is written as lines, CSV, TSV, JSON lines and Parquet, with five columns beside the
URL, and passes through the command. What is printed is the slope between a quarter of the rows and all of
them, so that the start of the program is not in it, the best of some rounds. `--source` runs another undust:
the folder that holds its package, compiled core and all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from bench.common import clean_urls, machine, messy_urls
from undust.rules import Rule, RuleSet

RULE = "rewrite {s}://{h}/{p**}?sid={**}&{rest**} → {s}://{h}/{p}?{rest}"
FORMATS = ("lines", "csv", "tsv", "jsonl", "parquet")
PARTS = 4
OTHER = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "undust" not in type(each).__module__]
sys.path.insert(0, sys.argv.pop(1))
from undust.__main__ import main
main()
"""
"""Runs the undust of a folder, although another one is installed for editing."""


def crawl(rows: int) -> pa.Table:
    """Return the rows of a crawl."""
    half = rows // 2
    urls = [url for pair in zip(clean_urls(half), messy_urls(half), strict=True) for url in pair]
    numbers = range(len(urls))
    return pa.table(
        {
            "id": list(numbers),
            "url": urls,
            "status": [200 if number % 9 else 404 for number in numbers],
            "digest": [f"{number * 2654435761 % 2**32:08x}" for number in numbers],
            "title": [f"Page {number}, and its title" for number in numbers],
            "size": [number * 37 % 90_000 for number in numbers],
        }
    )


def written(table: pa.Table, kind: str, path: Path) -> Path:
    """Write a table in a format."""
    if kind == "lines":
        path.write_text("".join(f"{url}\n" for url in table["url"].to_pylist()), encoding="utf-8")
    elif kind == "parquet":
        pq.write_table(table, path)
    elif kind == "jsonl":
        rows = table.to_pylist()
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    else:
        tabs = {"delimiter": "\t", "quoting_style": "none"}
        options = pa_csv.WriteOptions(**(tabs if kind == "tsv" else {"quoting_style": "needed"}))
        pa_csv.write_csv(table, path, options)
    return path


def seconds_of(rules: Path, path: Path, source: str | None) -> float:
    """Return the processor time of a run of the command, on one thread."""
    program = ["-c", OTHER, source] if source else ["-m", "undust"]
    options = ["--threads", "1", "-o", os.devnull]
    process = subprocess.Popen([sys.executable, *program, "apply", str(rules), str(path), *options])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        message = f"the command ended with {process.returncode} on {path.name}"
        raise RuntimeError(message)
    return usage.ru_utime + usage.ru_stime


def measured(rows: int, rounds: int, source: str | None, kinds: tuple[str, ...]) -> dict[str, float]:
    """Return the microseconds of a row, by format."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder, "rules.json")
        RuleSet([Rule.parse(RULE, site="*")]).save(rules)
        table = crawl(rows)
        for kind in kinds:
            small = written(table.slice(0, rows // PARTS), kind, Path(folder, f"small.{kind}"))
            large = written(table, kind, Path(folder, f"large.{kind}"))
            times = [[seconds_of(rules, path, source) for path in (small, large)] for _ in range(rounds)]
            few, many = (min(column) for column in zip(*times, strict=True))
            found[kind] = (many - few) / (table.num_rows - rows // PARTS) * 1e6
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--source", metavar="FOLDER", help="the folder that holds the package to measure")
    parser.add_argument("--only", metavar="FORMAT", action="append", choices=FORMATS)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    kinds = tuple(options.only or FORMATS)
    found = measured(options.rows, options.rounds, options.source, kinds)
    if options.json:
        print(json.dumps({"machine": machine(), "rows": options.rows, "microseconds": found}))
        return
    print(f"undust apply, one thread, {options.rows:,} rows ({machine()})")
    for kind, each in found.items():
        print(f"{kind:>8} {each:6.2f} µs a row")


if __name__ == "__main__":
    main()
