"""How large the page of `undust report` is, and how soon a browser paints it, on real data.

    python -m bench.report                                         tables
    python -m bench.report --data mirrors/momopeds.jsonl.gz --json
    python -m bench.report --data crawls/docs.jsonl.gz --rules learned.json

The first paint is measured in turns with an empty page of as many bytes, each in a new window of a
Chromium without a network. Without `--rules`, a few rules of all sites are used: what is drawn depends on
the URLs far more than on the rules.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from playwright.sync_api import sync_playwright

import undust
from bench.common import data_folder, machine
from tests.browsing import FLAGS, NAMES
from tests.showing.report.painting import paint_ratio
from undust.rules import Rule, RuleSet

DATA = ("lists/reddit_links_dev.tsv.gz", "mirrors/momopeds.jsonl.gz", "crawls/docs.jsonl.gz")
COLUMNS = {"lists/reddit_links_dev.tsv.gz": {"digest": "thumb_digest"}}
COMMON = "rewrite {s}://{h}/{p**}?{**:utm_*|fbclid|gclid|sid|PHPSESSID|ref}&{rest**} -> {s}://{h}/{p}?{rest}"


MOST_TIMES, MOST_MEGABYTES = 2, 3
"""What the first paint may take, in times of an empty page's, and the size of the file."""


def measured(name: str, rules: RuleSet, rounds: int) -> dict[str, Any]:
    """Return what the page of one data set takes."""
    seen = undust.read(data_folder() / name, columns=COLUMNS.get(name, {}))
    started = process_time()
    made = undust.report(rules, seen)
    seconds = process_time() - started
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        made.save(page)
        path = next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        ratio = paint_ratio(browser, page, Path(folder), rounds)
        browser.close()
        size = page.stat().st_size
    return {
        "data": name,
        "urls": made.facts["seen"],
        "sites": made.facts["site_count"],
        "in_full": len(made.facts["sites"]),
        "processor_seconds": round(seconds, 1),
        "megabytes": round(size / 1e6, 2),
        "first_paint_ratio": round(ratio, 2),
    }


def main() -> None:
    """Measure the data sets that there are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=DATA, help="files in the folder of real data")
    parser.add_argument("--rules", help="a rule file instead of a few rules of all sites")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    rules = undust.load(options.rules) if options.rules else RuleSet([Rule.parse(COMMON, site="*")])
    if not options.json:
        print(
            f"{machine()}\n{'data':<34}{'URLs':>9}{'sites':>7}{'in full':>9}{'s':>7}{'MB':>7}{'paint':>8}",
            flush=True,
        )
    missed = False
    for name in options.data:
        if not (data_folder() / name).exists():
            print(f"{name}: not here; UNDUST_DATA names the folder of real data")
            continue
        row = measured(name, rules, options.rounds)
        if options.json:
            print(json.dumps(row))
        else:
            cells = f"{row['urls']:>9,}{row['sites']:>7,}{row['in_full']:>9,}{row['processor_seconds']:>7}"
            print(f"{name:<34}{cells}{row['megabytes']:>7}{row['first_paint_ratio']:>6} ×", flush=True)
        missed |= row["megabytes"] > MOST_MEGABYTES or row["first_paint_ratio"] > MOST_TIMES
    sys.exit(f"missed: {MOST_TIMES} × an empty page, {MOST_MEGABYTES} MB" if missed else 0)


if __name__ == "__main__":
    main()
