"""Rules for all sites on a site that taught none of them, beside the rules that people ship today.

    python -m bench.across                      real sites, if there are any, and generated ones
    python -m bench.across --generated          generated sites only
    python -m bench.across --redrawn --seed 2   real sites halved by the seed, not as their judge halves them
    python -m bench.across --json

One site after the other is left out, with all others of its kind. Rules of site `*` are learned from the
rest of its group, and nothing else is used on its pages, one half after the other:

never seen     as they are
own evidence   the pages of the other half may switch a rule off there, and do nothing else

`removed` is the share of removable duplicates that are gone, `lost` of pages under a different page. Some
pages are another one at every fetch of one URL, so that the standard form alone "loses" them; what is lost
of the others is shown apart. Ends with an error if, on real sites, rules with own evidence remove less than
duplicate-url-discarder, or lose more than 0.1 % of all pages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

import undust
from bench.common import machine
from bench.quality import generated, halves, other_judge, real
from bench.sites import KINDS, Crawl
from undust.comparison.baselines import baselines
from undust.evaluation import Measures
from undust.learning import Care, Shown, learn_site, rules_across, shown_by
from undust.learning.across import excepting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bench.quality import Case
    from undust.evaluation import Labelled
    from undust.rules import Rule

    Images = Callable[[pa.Array], pa.Array]

SHIPPED = "duplicate-url-discarder"
OWN = "own evidence"
MOST_LOST = 0.001


@dataclass(frozen=True)
class Site:
    """One site: what it says of every shape, and of each half what the other half says."""

    name: str
    shown: list[Shown]
    sides: list[Side]


class Side(NamedTuple):
    """Half of the pages of a site, and what the other half says."""

    says: list[Shown]
    judged: Sequence[Labelled]


def site_of(case: Case, care: Care, seed: int, *, is_redrawn: bool = False) -> Site:
    """Return what a site says."""
    judge = other_judge() if case.is_real and not is_redrawn else None
    sides = []
    for is_swapped in (False, True):
        training, judged = halves(case, seed, judge, is_swapped=is_swapped)
        sides.append(Side(_shown(training, care), judged))
    return Site(case.name, _shown(case.seen.drop_columns("cluster"), care), sides)


def _shown(seen: pa.Table, care: Care) -> list[Shown]:
    return [
        row
        for found in undust.find_duplicates(seen)
        for row in shown_by(found, care, restless=learn_site(found, care).restless)
    ]


def under(rules: Iterable[Rule]) -> Images:
    """Return what rules make of URLs."""
    canonical = undust.RuleSet(rules).compile()
    return lambda urls: pa.array(canonical.batch(urls, keys=True))


def shipped() -> Images | None:
    """Return what the other tool makes of URLs, if it is installed."""
    make = dict(baselines()).get(SHIPPED)
    if make is None:
        return None
    function = make()
    return lambda urls: pa.array([function(url) for url in urls.to_pylist()])


def measured(judged: Iterable[Labelled], images: Images) -> Measures:
    """Return the measures of some pages."""
    return sum((one.measured_by(images(one.urls)) for one in judged), Measures())


def steady(judged: Labelled) -> Labelled:
    """Return it without the pages that share the standard form of a URL with another page."""
    pages_of: dict[str, set[str]] = {}
    for image, page in zip(under(())(judged.urls).to_pylist(), judged.pages, strict=True):
        pages_of.setdefault(image, set()).add(page)
    restless = {page for pages in pages_of.values() if len(pages) > 1 for page in pages}
    return judged.only(np.array([page not in restless for page in judged.pages], np.bool_))


class LeftOut(NamedTuple):
    """A site that taught nothing, and what each way does to it."""

    site: Site
    rules: int
    """That the others teach."""
    all_pages: dict[str, Measures]
    steady: dict[str, Measures]
    """The same of pages that one URL shows at every fetch."""


def left_out(sites: Sequence[Site], care: Care) -> Iterable[LeftOut]:
    """Yield each site under the rules that the others teach."""
    other = shipped()
    for site in sites:
        others = (each for each in sites if each.name != site.name)
        rules = rules_across((row for each in others for row in each.shown), care)
        whole: dict[str, Measures] = defaultdict(Measures)
        calm: dict[str, Measures] = defaultdict(Measures)
        for side in site.sides:
            ways = {"standard form": under(())}
            ways |= {SHIPPED: other} if other else {}
            ways |= {"never seen": under(rules), OWN: under(excepting(rules, side.says, care))}
            for name, images in ways.items():
                whole[name] += measured(side.judged, images)
                calm[name] += measured(map(steady, side.judged), images)
        yield LeftOut(site, len(rules), dict(whole), dict(calm))


class Mean(NamedTuple):
    """The means over sites."""

    removed: float
    lost: float
    steady_lost: float


def macro(found: Sequence[LeftOut], name: str) -> Mean:
    """Return the means of one way over sites."""
    whole, calm = [each.all_pages[name] for each in found], [each.steady[name] for each in found]
    return Mean(
        fmean(row.removed for row in whole), fmean(row.lost for row in whole), fmean(row.lost for row in calm)
    )


def run(group: str, cases: Iterable[Case], told: argparse.Namespace) -> dict[str, Mean]:
    """Print a group site by site, and return its means."""
    care = Care()
    sites = [site_of(case, care, told.seed, is_redrawn=told.redrawn) for case in cases]
    found = list(left_out(sites, care))
    if not found:
        return {}
    names = list(found[0].all_pages)
    means = {name: macro(found, name) for name in names}
    if told.json:
        for each in found:
            figures = {
                name: {"removed": one.removed, "lost": one.lost, "steady_lost": each.steady[name].lost}
                for name, one in each.all_pages.items()
            }
            print(json.dumps({"group": group, "site": each.site.name, "rules": each.rules} | figures))
        print(json.dumps({"group": group, "site": "macro"} | {name: means[name]._asdict() for name in names}))
        return means
    print(f"\n### {group}: {len(sites)} sites, removed / lost in per cent\n")
    print(f"| site | rules | {' | '.join(names)} |\n| --- |{' ---: |' * (len(names) + 1)}")
    for each in found:
        cells = (f"{100 * one.removed:.1f} / {100 * one.lost:.2f}" for one in each.all_pages.values())
        print(f"| {each.site.name} | {each.rules} | {' | '.join(cells)} |")
    cells = (f"**{100 * mean.removed:.1f} / {100 * mean.lost:.3f}**" for mean in means.values())
    print(f"| **mean** | | {' | '.join(cells)} |")
    cells = (f"{100 * mean.steady_lost:.3f}" for mean in means.values())
    print(f"| lost of pages that one URL shows at every fetch | | {' | '.join(cells)} |")
    everything = rules_across((row for site in sites for row in site.shown), care)
    print(f"\nlearned from all of them ({len(everything)} rules):\n")
    for rule in everything:
        off = f", off on {', '.join(rule.except_sites)}" if rule.except_sites else ""
        print(f"* `{rule}` proved on {rule.extra['across']['sites']} sites{off}")
    return means


def main() -> None:
    """Leave each site out in turn; fail if what is promised does not hold."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.across",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--generated", action="store_true", help="leave real sites out")
    ask.add_argument("--urls", type=int, default=3_000, help="of each generated site [%(default)s]")
    ask.add_argument("--copies", type=int, default=2, help="sites of each kind [%(default)s]")
    ask.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS, metavar="KIND", help="[all]")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--redrawn", action="store_true", help="halve real sites by the seed too")
    ask.add_argument("--json", action="store_true", help="one JSON object a line")
    told = ask.parse_args()
    if not told.json:
        print(machine())
    crawl = Crawl(noise=0.02, coverage=0.5)
    copies = range(told.seed, told.seed + told.copies)
    run(
        "generated", (case for seed in copies for case in generated(told.kinds, told.urls, seed, crawl)), told
    )
    means = {} if told.generated else run("real", real(("crawls", "mirrors")), told)
    if not means:
        return
    least = means[SHIPPED].removed if SHIPPED in means else 0.0
    if means[OWN].removed <= least or means[OWN].lost > MOST_LOST:
        sys.exit("rules for all sites remove too little, or lose too much")


if __name__ == "__main__":
    main()
