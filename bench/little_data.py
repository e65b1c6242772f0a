"""What `undust learn` does with few pages of a site: it should be timid, not reckless.

    python -m bench.little_data                     5, 10, 25 and 50 % of the pages of each crawl
    python -m bench.little_data --shares 0.1 --splits 4 --folders crawls mirrors
    python -m bench.little_data --json              one JSON object for each split, site and share

Each split judges one half of the pages of a site, and learns from a share of all pages, drawn from the other
half; the pages of a larger share include those of a smaller one. *Above* is how many points more of the pages
are lost than by standard normalization alone, and *kept* is what is removed of what the whole half removes.
Ends with 1 if more than the allowed points are lost somewhere, or if too little is kept at 25 %.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.common import machine
from bench.quality import real
from undust.measuring import Measures
from undust.measuring.compare import judged_part, with_labels
from undust.measuring.judged import labelled_from_labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.quality import Case
    from undust.measuring import Labelled
    from undust.rules import RuleSet

HALF = 0.5
MOST_ABOVE = 0.003
"""The share of pages that may be lost above standard normalization."""
QUARTER, LEAST_KEPT = 0.25, 0.7
"""From a quarter of the pages, this share of what the half removes is removed."""


class Line(NamedTuple):
    """One site, learned from a share of its pages."""

    site: str
    split: int
    share: float
    rows: int
    rules: int
    removed: float
    lost: float
    above: float
    kept: float


def lines(case: Case, split: int, shares: list[float]) -> Iterator[Line]:
    """Yield what each share of a site's pages gives."""
    seen = case.seen.drop_columns("cluster")
    known, _ = labelled_from_labels(with_labels(seen, case.labels))
    test = judged_part(known, HALF, split)
    judged = _urls(test)
    plain = _under(undust.RuleSet(), test)
    whole = _under(undust.learn(_only(seen, _urls(known), judged)), test).removed
    for share in shares:
        training = _only(seen, _urls(judged_part(known, HALF + share, split)), judged)
        rules = undust.learn(training)
        found = _under(rules, test)
        kept = found.removed / whole if whole else 1.0
        above = found.lost - plain.lost
        yield Line(case.name, split, share, len(training), len(rules), found.removed, found.lost, above, kept)


def _urls(sites: list[Labelled]) -> pa.ChunkedArray:
    return pa.chunked_array([site.urls for site in sites], pa.string())


def _only(seen: pa.Table, urls: pa.ChunkedArray, judged: pa.ChunkedArray) -> pa.Table:
    """Return the observations of some URLs, without those that are judged."""
    column = seen.column("url")
    return seen.filter(pc.and_not(pc.is_in(column, urls), pc.is_in(column, judged)))


def _under(rules: RuleSet, test: list[Labelled]) -> Measures:
    canonical = rules.compile()
    return sum((one.measured_by(canonical.batch(one.urls, keys=True)) for one in test), Measures())


def problems(found: list[Line]) -> Iterator[str]:
    """Yield what does not hold."""
    for line in found:
        where = f"{line.site}, split {line.split}, {line.share:.0%} of the pages"
        if line.above > MOST_ABOVE:
            yield f"{where}: {100 * line.above:.2f} points above standard normalization are lost"
    quarters = [line.kept for line in found if line.share == QUARTER]
    if quarters and (kept := sum(quarters) / len(quarters)) < LEAST_KEPT:
        yield f"{QUARTER:.0%} of the pages keep {kept:.0%} of what the half removes"


def main() -> int:
    """Learn, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.little_data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--shares", nargs="+", type=float, default=[0.05, 0.1, 0.25])
    ask.add_argument("--splits", type=int, default=2)
    ask.add_argument("--folders", nargs="*", default=["crawls"])
    ask.add_argument("--sites", nargs="*", default=[], help="only these")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if not told.json:
        print(f"{machine()}\n")
        print(
            f"{'site':16}{'split':>6}{'share':>7}{'rows':>8}{'rules':>7}{'removed':>9}{'lost':>7}{'above':>7}"
            f"{'kept':>7}"
        )
    found: list[Line] = []
    for case in real(told.folders):
        if told.sites and case.name not in told.sites:
            continue
        for split in range(1, told.splits + 1):
            for line in lines(case, split, told.shares):
                found.append(line)
                print(json.dumps(line._asdict()) if told.json else _row(line), flush=True)
    wrong = list(problems(found))
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


def _row(line: Line) -> str:
    return (
        f"{line.site:16}{line.split:6}{line.share:7.0%}{line.rows:8,}{line.rules:7}{100 * line.removed:9.1f}"
        f"{100 * line.lost:7.2f}{100 * line.above:7.2f}{line.kept:7.0%}"
    )


if __name__ == "__main__":
    sys.exit(main())
