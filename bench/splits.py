"""What `undust learn` does to real sites, halved in several ways: a figure of one split may be luck.

    python -m bench.splits                 eight splits, one line each, and their mean
    python -m bench.splits --splits 2      fewer
    python -m bench.splits --json          one JSON object for each split and site

Each split learns from half of the pages of every site of the data folder and is judged on the other half.
Before a default is changed, look at the mean, not at one of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import undust
from bench.common import machine
from bench.quality import halves, real
from undust.measuring import Measures

if TYPE_CHECKING:
    from bench.quality import Case
    from undust.rules import RuleSet


class Judged(NamedTuple):
    """One site under one split."""

    before: Measures
    """Under standard normalization alone."""
    after: Measures
    rules: int


def judged(case: Case, split: int) -> Judged:
    """Learn from one half of a site's pages, and judge on the other."""
    training, test = halves(case, split, None)
    rules = undust.learn(training)

    def under(some: RuleSet) -> Measures:
        canonical = some.compile()
        return sum((one.measured_by(canonical.batch(one.urls, keys=True)) for one in test), Measures())

    return Judged(under(undust.RuleSet()), under(rules), len(rules))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Judge, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.splits",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--splits", type=int, default=8)
    ask.add_argument("--folders", nargs="*", default=["crawls", "mirrors"])
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    cases = list(real(told.folders))
    if not cases:
        sys.exit("there are no real sites; name their folder in UNDUST_DATA")
    if not told.json:
        print(f"{machine()}; per cent, mean over the sites of a group\n")
        print("| split | group | removed | lost | before any rule | most on one site | rules |")
        print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    over_all: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for split in range(1, told.splits + 1):
        found: dict[str, list[Judged]] = defaultdict(list)
        for case in cases:
            each = judged(case, split)
            found[case.group].append(each)
            if told.json:
                figures = {"removed": each.after.removed, "lost": each.after.lost, "before": each.before.lost}
                name = {"split": split, "group": case.group, "site": case.name}
                print(json.dumps(name | figures | {"rules": each.rules}), flush=True)
        for group, sites in found.items():
            lost = [each.after.lost for each in sites]
            row = (
                _mean([each.after.removed for each in sites]),
                _mean(lost),
                _mean([each.before.lost for each in sites]),
                max(lost),
                _mean([float(each.rules) for each in sites]),
            )
            over_all[group].append(row)
            if not told.json:
                print(_line(str(split), group, row), flush=True)
    if not told.json:
        for group, rows in over_all.items():
            print(_line("mean", group, tuple(map(_mean, map(list, zip(*rows, strict=True))))))


def _line(split: str, group: str, row: tuple[float, ...]) -> str:
    removed, *lost, rules = row
    cells = (f"{100 * removed:.1f}", *(f"{100 * each:.2f}" for each in lost), f"{rules:.0f}")
    return f"| {split} | {group} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
