"""Processor time of `undust apply` for a row of each format.

    python -m bench.formats [--rows 200000] [--rounds 3] [--source FOLDER] [--json]

A crawl of generated URLs is written as lines, CSV, TSV, JSON lines and Parquet, with five columns beside the
URL. One process runs the command on all of them in turn, with `--stats` and without, on one thread; the first
round, in which modules are loaded, does not count, and the best of the others does. All formats must give
the same canonical forms. `--source` runs another undust: the folder of its package, compiled core and all.
"""

from __future__ import annotations

import argparse
import json
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
LIMITS = {"csv": 3 / 0.9, "tsv": 3 / 0.9, "jsonl": 3 / 0.9, "parquet": 1.5 / 0.9}
"""How many times as long as a line a row of a table may take."""
STATS_LIMIT = 1.3
"""How many times as long as without `--stats` a row may take with it."""
PROGRAM = """
import json, sys
from time import process_time
source, rounds, jobs = json.loads(sys.argv[1])
if source:
    sys.meta_path[:] = [each for each in sys.meta_path if "undust" not in type(each).__module__]
    sys.path.insert(0, source)
import undust.__main__
from undust.cli import main
best = [float("inf")] * len(jobs)
for number in range(rounds + 1):
    for place, words in enumerate(jobs):
        at = process_time()
        main(words, prog_name="undust", standalone_mode=False)
        if number:
            best[place] = min(best[place], process_time() - at)
print(json.dumps(best))
"""
"""Runs commands in turn; of the undust in a folder, if one is given, although another one is installed."""


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


def seconds_of(commands: list[list[str]], rounds: int, source: str | None) -> list[float]:
    """Return the processor time of each command, without the start of the program."""
    words = [sys.executable, "-c", PROGRAM, json.dumps([source, rounds, commands])]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"the commands failed: {done.stderr}"
        raise RuntimeError(message)
    return list(json.loads(done.stdout))


def output_of(path: Path) -> Path:
    """Return the file that the command writes."""
    return path.with_stem("output")


def canonical_forms(path: Path) -> list[str]:
    """Return what the command wrote for each row."""
    kind = path.suffix[1:]
    if kind == "parquet":
        return list(pq.read_table(path)["canonical_url"].to_pylist())
    if kind == "jsonl":
        return [json.loads(line)["canonical_url"] for line in path.read_text(encoding="utf-8").splitlines()]
    if kind == "lines":
        return path.read_text(encoding="utf-8").splitlines()
    options = pa_csv.ParseOptions(
        delimiter="\t" if kind == "tsv" else ",", quote_char='"' if kind == "csv" else False
    )
    return list(pa_csv.read_csv(path, parse_options=options)["canonical_url"].to_pylist())


def measured(
    rows: int, rounds: int, source: str | None, kinds: tuple[str, ...]
) -> dict[str, tuple[float, float]]:
    """Return the microseconds of a row by format: without `--stats` and with it."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder, "rules.json")
        RuleSet([Rule.parse(RULE, site="*")]).save(rules)
        table = crawl(rows)
        paths = [written(table, kind, Path(folder, f"crawl.{kind}")) for kind in kinds]
        commands = [
            ["apply", str(rules), str(path), "--threads", "1", "-o", str(output_of(path)), *more]
            for path in paths
            for more in ((), ("--stats",))
        ]
        seconds = iter(seconds_of(commands, rounds, source))
        require_same([canonical_forms(output_of(path)) for path in paths])
    each = 1e6 / table.num_rows
    return {kind: (next(seconds) * each, next(seconds) * each) for kind in kinds}


def require_same(outputs: list[list[str]]) -> None:
    """Raise an error if two formats gave other canonical forms."""
    if any(output != outputs[0] for output in outputs):
        message = "the formats give different canonical forms"
        raise AssertionError(message)


def exceeded(found: dict[str, tuple[float, float]]) -> list[str]:
    """Return the limits that do not hold."""
    line = found["lines"][0] if "lines" in found else float("inf")
    tables = [
        f"{kind}: {each / line:.2f} times a line, at most {LIMITS[kind]:.2f}"
        for kind, (each, _) in found.items()
        if each > line * LIMITS.get(kind, 1)
    ]
    return tables + [
        f"{kind} --stats: {more / each:.2f} times as long, at most {STATS_LIMIT}"
        for kind, (each, more) in found.items()
        if more > each * STATS_LIMIT
    ]


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
    else:
        print(f"undust apply, one thread, {options.rows:,} rows ({machine()})")
        for kind, (each, more) in found.items():
            print(f"{kind:>8} {each:6.2f} µs a row, with --stats {more:6.2f}")
    if problems := exceeded(found):
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
