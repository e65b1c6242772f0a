"""Do the bounds hold that `learn` states? Learned from one half of a site's pages, judged on the other half.

    python -m bench.calibration                            generated kinds and real sites, five splits
    python -m bench.calibration --kinds forum shop --urls 1000 --splits 2
    python -m bench.calibration --folders mirrors --kinds none --json
    python -m bench.calibration --summary results.jsonl    what --json printed before, added up again
    python -m bench.calibration --true-rules --kinds calendar --urls 120000 --seed 51    nothing is learned

`learn` sees one half of the pages and no labels. What it states of the whole set (the share of pages that are
lost at most) and of each rule (`fpr_upper`) is compared with what is true on the other half, by labels. Pages
that standard normalization loses before any rule are not counted. Rules are counted where they
work, behind those before them, if at least 20 pages of the other half show what they do. It fails if more
than one set in twenty, or more than one rule in twenty, exceeds what was stated.

With `--true-rules`, generated sites are given the rules that hold on all their pages in place of learned
ones. No page is lost then, and what is stated above the bound for no loss comes from pages that change.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import undust
from bench.quality import generated, halves, real
from bench.raw.sites import LabelledArchive, archives
from bench.sites import KINDS, Crawl
from bench.sites import site as generated_site
from undust.learning import Requirements
from undust.learning.bounds import kind_and_bits, modelled_loss
from undust.learning.edited import FinalSample
from undust.learning.outcome import SiteRules
from undust.measuring.counts import coded, lost_by_image
from undust.measuring.judged import labelled_from_labels
from undust.rules import RuleSet
from undust.statistics import interval, upper_bound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from bench.quality import Case
    from undust.measuring import Labelled

MOST = 0.05
"""The share of sets and of rules that may exceed what was stated."""
LEAST = 20
"""Pages that must show what a rule does."""
MANY = 3_000
"""Checked pages from which on a bound must be near the true rate."""
LARGE, LARGE_URLS = ("documentation", "mirrors", "academic", "calendar", "tracker", "jsessionid"), 80_000
"""Generated sites of which a half has enough pages for that; each is split once."""
NEAR, ABOVE = 5.0, 0.003
"""So many times the true rate, and this share more."""


@dataclass(frozen=True)
class StatedBound:
    """One set of rules, or one rule: what was stated of it, and what is true."""

    group: str
    site: str
    split: int
    kind: str
    """`set`, or the kind of the rule."""
    rules: int
    checked: int
    lost_checked: int
    stated: float
    exact: float
    """The bound for as many pages and lost ones, as if each were lost alone."""
    pages: int
    lost: int
    bits: float = 0.0
    """What it takes to say a rule."""
    modelled: float = 0.0
    """Of a set: what would be stated if none of its pages had been checked."""
    left_out: float = 0.0
    """Of a rule: pages that its conditions leave out, as far as they count against it."""

    @property
    def true(self) -> float:
        """The share of pages that is lost on the other half."""
        return self.lost / self.pages if self.pages else 0.0

    @property
    def exceeds(self) -> bool:
        """Whether more is lost than was stated."""
        return self.true > self.stated


def _halves(case: Case | LabelledArchive, split: int) -> tuple[pa.Table, list[Labelled]]:
    """Return what may be learned from, and the labelled URLs of the other half."""
    if not isinstance(case, LabelledArchive):
        return halves(case, split, None)
    seen, unseen = case.half(split)
    urls = pa.array(list(unseen), pa.string())
    table = pa.table({"url": urls, "cluster": list(unseen.values())})
    return seen, labelled_from_labels(table)[0]


def stated(case: Case | LabelledArchive, split: int) -> Iterator[StatedBound]:
    """Learn from one half of a site and judge on the other half: the set, then its rules."""
    training, test = _halves(case, split)
    learned = undust.learn(training, details=True)
    bound, rules = learned.bound, list(learned.rules)
    if not bound.pages:
        return
    said = "raw" if isinstance(case, LabelledArchive) else case.group, case.name, split
    pages = sum(len(set(site.pages)) for site in test)
    lost = sum(UnderRules(site, rules).lost - UnderRules(site, []).lost for site in test)
    exact = upper_bound(bound.lost, bound.pages)
    whole = StatedBound(
        *said, "set", len(rules), bound.pages, bound.lost, bound.upper, exact, pages, max(0, lost)
    )
    yield replace(
        whole, modelled=modelled_loss(rules, sum(site["clusters"] for site in learned.sites.values()))
    )
    before = [UnderRules(site, []) for site in test]
    for place, rule in enumerate(rules):
        if rule.status != "active":
            continue
        after = [UnderRules(site, rules[: place + 1]) for site in test]
        right, lost = (sum(some) for some in zip(*map(UnderRules.since, after, before), strict=True))
        before = after
        if rule.kind == "keep" or rule.fpr_upper is None:
            continue
        known = rule.extra.get("counted", {})
        seen, wrong = known.get("pages", 0), known.get("lost", 0)
        exact = upper_bound(wrong, seen + wrong)
        kind, bits = kind_and_bits(rule)
        stated_of_rule = StatedBound(
            *said, kind, 1, seen + wrong, wrong, rule.fpr_upper, exact, right + lost, lost
        )
        yield replace(stated_of_rule, bits=bits, left_out=known.get("left_out", 0.0))


def stated_of_true_rules(case: Case, seed: int, split: int) -> StatedBound:
    """State the bound of the rules that hold on all pages of a generated site."""
    training, test = halves(case, split, None)
    found = undust.find_duplicates(training).sites[0]
    rules = tuple(generated_site(case.name, urls=1, seed=seed).rules)
    counts = len(found.urls), 0, found.cluster_count, 0
    whole = SiteRules(found.site, rules, 0, {}, *counts)
    bound = FinalSample.of(found, Requirements()).checked(whole, lambda _: whole)
    lost = sum(UnderRules(one, list(rules)).lost - UnderRules(one, []).lost for one in test)
    exact = upper_bound(bound.lost, bound.pages)
    pages = sum(len(set(one.pages)) for one in test)
    checked = bound.pages, bound.lost, bound.upper, exact
    return StatedBound("true", case.name, split, "set", len(rules), *checked, pages, lost)


class UnderRules:
    """Labelled URLs under some rules."""

    def __init__(self, site: Labelled, rules: list[undust.Rule]) -> None:
        images = RuleSet(rules).compile().batch(site.urls, keys=True)
        self.lost = sum(map(len, lost_by_image(site.known, images)))
        pages, wide = site.known.codes, int(site.known.codes.max(initial=0)) + 1
        self.forms = np.bincount(np.unique(coded(images)[1] * wide + pages) % wide, minlength=wide)
        """Of each page how many forms its URLs have."""

    def since(self, before: UnderRules) -> tuple[int, int]:
        """Return of how many pages URLs come together that did not before, and how many pages are lost."""
        return int((self.forms < before.forms).sum()), max(0, self.lost - before.lost)


def main() -> None:
    """Measure, print a line for each set, then each group and all."""
    ask = argparse.ArgumentParser(prog="python -m bench.calibration", description=__doc__.splitlines()[0])
    ask.add_argument("--kinds", nargs="*", default=list(KINDS), help="generated kinds, or none")
    ask.add_argument(
        "--folders", nargs="*", default=["crawls", "mirrors", "raw"], help="of the data, or none"
    )
    ask.add_argument("--sites", nargs="*", default=[], help="only sites with these names")
    ask.add_argument("--urls", type=int, default=2_000, help="of a generated site [%(default)s]")
    ask.add_argument("--large", nargs="*", default=[*LARGE], help="generated kinds of many URLs, or none")
    ask.add_argument("--large-urls", type=int, default=LARGE_URLS, help="of each of these [%(default)s]")
    ask.add_argument("--seed", type=int, default=1, help="of the generated sites [%(default)s]")
    ask.add_argument("--splits", type=int, default=5, help="of each site [%(default)s]")
    ask.add_argument("--true-rules", action="store_true", help="learn nothing; of --kinds alone")
    ask.add_argument("--json", action="store_true", help="print one JSON object for each set and rule")
    ask.add_argument("--summary", nargs="*", help="add up what --json printed before, and measure nothing")
    told = ask.parse_args()
    rows: list[StatedBound] = []
    if told.summary:
        lines = (line for path in told.summary for line in Path(path).read_text().splitlines())
        rows = [StatedBound(**json.loads(line)) for line in lines if line.startswith("{")]
    else:
        for case in _cases(told):
            if told.sites and case.name not in told.sites:
                continue
            for split in range(1 if getattr(case, "group", "raw") == "large" else told.splits):
                for row in _rows(case, split, told):
                    rows.append(row)
                    _print(row, as_json=told.json)
    sys.exit(not _summarized(rows, sys.stderr if told.json else sys.stdout))


def _rows(case: Case | LabelledArchive, split: int, told: argparse.Namespace) -> Iterator[StatedBound]:
    if not told.true_rules:
        yield from stated(case, split)
    elif not isinstance(case, LabelledArchive) and not case.is_real:
        yield stated_of_true_rules(case, told.seed, split)


def _cases(told: argparse.Namespace) -> Iterator[Case | LabelledArchive]:
    kinds = [kind for kind in told.kinds if kind != "none"]
    folders = [folder for folder in told.folders if folder not in {"none", "raw"}]
    large = [kind for kind in told.large if kind != "none"]
    yield from generated(kinds, told.urls, told.seed, Crawl())
    for case in generated(large, told.large_urls, told.seed, Crawl()):
        yield replace(case, group="large")
    yield from real(folders)
    if "raw" in told.folders:
        yield from archives([])


def _print(row: StatedBound, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(row)), flush=True)
    elif row.kind == "set":
        print(
            f"{row.group:9} {row.site:16} {row.split}  {row.rules:3} rules"
            f"  {row.lost_checked:3} of {row.checked:5} checked  stated {row.stated:7.2%}"
            f"  true {row.true:6.2%}  {'EXCEEDED' if row.exceeds else ''}",
            flush=True,
        )


def _summarized(rows: list[StatedBound], output: TextIO) -> bool:
    """Print sets and rules by group and by kind; return whether the bounds hold."""
    groups: dict[str, list[StatedBound]] = defaultdict(list)
    for row in rows:
        if row.kind != "set" and row.pages < LEAST:
            continue
        what = "sets" if row.kind == "set" else "rules"
        groups[f"{what}, {row.group}"].append(row)
        groups[f"{what}, all"].append(row)
        if row.kind != "set":
            groups[f"rules by {row.kind}"].append(row)
    for name in sorted(groups, key=lambda name: (not name.startswith("sets"), name)):
        print(f"{name}: {_summary(groups[name])}", file=output)
    known = [row for row in groups["sets, all"] if row.modelled]
    if known:
        more = sum(row.true > row.modelled for row in known)
        mean = sum(row.modelled for row in known) / len(known)
        print(
            f"sets, by the model of rules alone: {more} of {len(known)} exceed, mean {mean:.2%}", file=output
        )
    many = [row for row in groups["sets, all"] if row.checked >= MANY]
    wide = [row for row in many if row.stated > NEAR * row.true + ABOVE]
    print(
        f"sets with {MANY:,} pages checked or more: {len(many)}, of which {len(wide)} state more than "
        f"{NEAR:g} x true + {ABOVE:.1%}",
        file=output,
    )
    return all(
        sum(row.exceeds for row in some) <= MOST * len(some)
        for some in (groups["sets, all"], groups["rules, all"])
    )


def _summary(some: list[StatedBound]) -> str:
    count = len(some)
    exceeded = sum(row.exceeds for row in some)
    low, high = interval(exceeded, count)
    width, exact, true = (
        sum(getattr(row, name) for row in some) / count for name in ("stated", "exact", "true")
    )
    return (
        f"{count}, {exceeded} exceed what was stated "
        f"({exceeded / count:.1%}; 95 %: {low:.1%} to {high:.1%}); "
        f"mean stated {width:.2%}, exact {exact:.2%} ({width / max(exact, 1e-9):.2f} x), true {true:.2%}"
    )


if __name__ == "__main__":
    main()
