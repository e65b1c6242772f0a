"""Do the bounds hold that rule sets state? Stated on one half of a site's pages, judged on the other half.

    python -m bench.calibration                            generated kinds and real sites, five splits
    python -m bench.calibration --kinds forum shop --urls 1000 --splits 2
    python -m bench.calibration --folders mirrors --kinds none --json

Of each site and split, `learn` sees half of the pages without a fifth of them, which is set aside; it never
sees labels. Two bounds on the share of lost pages are stated: that of the pages set aside, as far as their
content tells them apart (`undust.measuring.splitting`), and that of the learner, a share of false pairs.
Both are compared with the share of the other half's pages that the rules lose, by their labels. It fails if
more than one set in twenty exceeds the first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.quality import generated, halves, real
from bench.sites import KINDS, Crawl
from undust.measuring import Measures
from undust.measuring.judged import labelled_from_duplicates
from undust.measuring.splitting import checked_pages, judged_part
from undust.statistics import interval, upper_bound

if TYPE_CHECKING:
    from bench.quality import Case

ASIDE, FINAL, MOST = 0.2, 1_000, 0.05
"""The share of pages that is set aside, the seed that draws them, and the share of sets that may exceed."""


@dataclass(frozen=True)
class StatedBound:
    """One set of rules: what was stated of it, and what is true."""

    group: str
    site: str
    split: int
    rules: int
    checked: int
    lost_checked: int
    stated: float
    exact: float
    """The bound for as many pages and lost ones, as if each were lost alone."""
    by_learner: float
    pages: int
    lost: int
    true: float

    @property
    def exceeds(self) -> bool:
        """Whether more is lost than the pages set aside allow."""
        return self.true > self.stated

    @property
    def exceeds_learner(self) -> bool:
        """Whether more is lost than the learner says."""
        return self.true > self.by_learner


def stated(case: Case, split: int) -> StatedBound:
    """Learn from one half of a site without some pages, state the bounds, and judge on the other half."""
    training, test = halves(case, split, None)
    duplicates = undust.find_duplicates(training)
    known, _ = labelled_from_duplicates(duplicates)
    aside = judged_part(known, ASIDE, FINAL + split)
    urls = pa.chunked_array([one.urls.cast(pa.string()) for one in aside], pa.string())
    seen = training.filter(pc.invert(pc.is_in(training.column("url"), urls)))
    learned = undust.learn(seen, details=True)
    checked = checked_pages(learned.rules, known, aside)
    canonical = learned.rules.compile()
    found = sum((one.measured_by(canonical.batch(one.urls, keys=True)) for one in test), Measures())
    return StatedBound(
        case.group,
        case.name,
        split,
        len(learned.rules),
        checked.pages,
        checked.lost,
        checked.upper,
        upper_bound(checked.lost, checked.pages),
        learned.fpr_upper,
        found.clusters,
        found.lost_unlike,
        found.lost,
    )


def main() -> None:
    """Measure, print a line for each set, then each group and all."""
    ask = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__.splitlines()[0])
    ask.add_argument("--kinds", nargs="*", default=list(KINDS), help="generated kinds, or none")
    ask.add_argument("--folders", nargs="*", default=["crawls", "mirrors"], help="of the data, or none")
    ask.add_argument("--urls", type=int, default=2_000, help="of a generated site [%(default)s]")
    ask.add_argument("--seed", type=int, default=1, help="of the generated sites [%(default)s]")
    ask.add_argument("--splits", type=int, default=5, help="of each site [%(default)s]")
    ask.add_argument("--json", action="store_true", help="print one JSON object for each set")
    told = ask.parse_args()
    kinds = [kind for kind in told.kinds if kind != "none"]
    folders = [folder for folder in told.folders if folder != "none"]
    rows: list[StatedBound] = []
    for cases in (generated(kinds, told.urls, told.seed, Crawl()), real(folders)):
        for case in cases:
            for split in range(told.splits):
                rows.append(stated(case, split))
                _print(rows[-1], as_json=told.json)
    groups: dict[str, list[StatedBound]] = defaultdict(list)
    for row in rows:
        if row.rules:
            groups[row.group].append(row)
            groups["all"].append(row)
    for name, some in groups.items():
        print(f"{name}: {_summary(some)}", file=sys.stderr if told.json else sys.stdout)
    every = groups["all"]
    sys.exit(bool(every) and sum(row.exceeds for row in every) > MOST * len(every))


def _print(row: StatedBound, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(row)), flush=True)
        return
    mark = "EXCEEDED" if row.exceeds else ""
    print(
        f"{row.group:9} {row.site:16} {row.split}  {row.rules:3} rules"
        f"  {row.lost_checked:3} of {row.checked:5} checked  stated {row.stated:7.2%}"
        f"  learner {row.by_learner:7.2%}  true {row.true:6.2%}  {mark}",
        flush=True,
    )


def _summary(some: list[StatedBound]) -> str:
    count = len(some)
    exceeded, by_learner = sum(row.exceeds for row in some), sum(row.exceeds_learner for row in some)
    low, high = interval(exceeded, count)
    width = sum(row.stated for row in some) / count
    exact = sum(row.exact for row in some) / count
    true = sum(row.true for row in some) / count
    return (
        f"{count} sets, {exceeded} exceed their bound "
        f"({exceeded / count:.1%}; 95 %: {low:.1%} to {high:.1%}), "
        f"{by_learner} that of the learner; mean stated {width:.2%}, exact {exact:.2%}, true {true:.2%}"
    )


if __name__ == "__main__":
    main()
