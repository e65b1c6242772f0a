"""Rules for all sites on a site that taught none of them, beside the rules that people ship today.

    python -m bench.across                   real sites, if there are any, and generated ones
    python -m bench.across --generated       generated sites only
    python -m bench.across --halvings 1      real sites halved once, as their judge halves them
    python -m bench.across --json

One site after the other is left out, with all others of its kind. Rules of site `*` are learned from the
rest of its group, and nothing else is used on its pages, one half after the other:

never seen     as they are
own evidence   the pages of the other half may switch a rule off there, and do nothing else

`removed` is the share of removable duplicates that are gone, `lost` of pages under a different page. Some
pages are another one at every fetch of one URL, so that the standard form alone "loses" them, and what is
lost depends on the halves that their fetches fall into. So real sites are halved in several ways, as their
judge does and then by seeds, and the mean over all of them counts; at the end stands where the rules lose
more than the standard form. Ends with an error if, on real sites, rules with own evidence remove less than
duplicate-url-discarder, or lose more than 0.1 % of all pages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import undust
from bench.common import machine
from bench.quality import generated, halves, other_judge, real
from bench.sites import KINDS, Crawl
from undust.learning import Requirements, SiteTally, learn_site, rules_across, shown_by
from undust.learning.across import excepting
from undust.measuring import Measures
from undust.measuring.methods import baselines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from bench.quality import Case
    from undust.measuring import Labelled
    from undust.rules import Rule

    Images = Callable[[pa.Array], pa.Array]

STANDARD = "standard form"
SHIPPED = "duplicate-url-discarder"
OWN = "own evidence"
MOST_LOST = 0.001


@dataclass(frozen=True)
class Site:
    """One site: what it says of every shape, and of each half what the other half says."""

    name: str
    shown: list[SiteTally]
    halvings: list[list[Side]]


class Side(NamedTuple):
    """Half of the pages of a site, and what the other half says."""

    says: list[SiteTally]
    judged: Sequence[Labelled]


def site_of(case: Case, requirements: Requirements, seeds: Iterable[int]) -> Site:
    """Return what a site says; a real one is halved by its judge instead of by the first seed."""
    judge = other_judge() if case.is_real else None
    halvings = []
    for number, seed in enumerate(seeds):
        sides = []
        for is_swapped in (False, True):
            training, judged = halves(case, seed, None if number else judge, is_swapped=is_swapped)
            sides.append(Side(_shown(training, requirements), judged))
        halvings.append(sides)
    return Site(case.name, _shown(case.seen.drop_columns("cluster"), requirements), halvings)


def _shown(seen: pa.Table, requirements: Requirements) -> list[SiteTally]:
    return [
        row
        for found in undust.find_duplicates(seen)
        for row in shown_by(found, requirements, unstable=learn_site(found, requirements).unstable)
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


def losing(judged: Iterable[Labelled], images: Images) -> Counter[str]:
    """Return how many pages are lost under each address."""
    found: Counter[str] = Counter()
    for one in judged:
        there = images(one.urls)
        pages_of: dict[str, set[str]] = defaultdict(set)
        for address, page in zip(there.to_pylist(), one.pages, strict=True):
            pages_of[address].add(page)
        for address, pages in pages_of.items():
            if len(pages) > 1:
                here = np.asarray(pc.equal(there, address), np.bool_)
                found[address] += one.only(here).measured_by(there.filter(pa.array(here))).lost_unlike
    return +found


@dataclass(frozen=True)
class LeftOut:
    """A site that taught nothing, and what each way does to it."""

    site: Site
    rules: int
    """That the others teach."""
    ways: dict[str, list[Measures]]
    """One for each halving."""
    lost_at: Counter[str]
    """Pages that rules with own evidence lose beyond the standard form, in all halvings together."""

    def whole(self, name: str) -> Measures:
        """Return what one way does in all halvings together."""
        return sum(self.ways[name], Measures())


def left_out(sites: Sequence[Site], requirements: Requirements) -> Iterator[LeftOut]:
    """Yield each site under the rules that the others teach."""
    other = shipped()
    for site in sites:
        others = (each for each in sites if each.name != site.name)
        rules = rules_across((row for each in others for row in each.shown), requirements)
        ways: dict[str, list[Measures]] = defaultdict(list)
        lost_at: Counter[str] = Counter()
        for sides in site.halvings:
            both: dict[str, Measures] = defaultdict(Measures)
            for side in sides:
                trial = {STANDARD: under(())}
                trial |= {SHIPPED: other} if other else {}
                trial |= {"never seen": under(rules), OWN: under(excepting(rules, side.says, requirements))}
                for name, images in trial.items():
                    both[name] += measured(side.judged, images)
                lost_at += losing(side.judged, trial[OWN]) - losing(side.judged, trial[STANDARD])
            for name, figures in both.items():
                ways[name].append(figures)
        yield LeftOut(site, len(rules), dict(ways), lost_at)


class Mean(NamedTuple):
    """The means over sites."""

    removed: float
    lost: float

    def __str__(self) -> str:
        """Return both in per cent."""
        return f"{100 * self.removed:.1f} / {100 * self.lost:.3f}"


def macro(rows: Sequence[Measures]) -> Mean:
    """Return the means over sites."""
    return Mean(fmean(row.removed for row in rows), fmean(row.lost for row in rows))


def over(means: Sequence[Mean]) -> Mean:
    """Return the mean of means over sites."""
    return Mean(fmean(mean.removed for mean in means), fmean(mean.lost for mean in means))


def run(group: str, cases: Iterable[Case], seeds: Sequence[int], *, is_json: bool) -> dict[str, Mean]:
    """Print a group site by site, and return its means."""
    requirements = Requirements()
    sites = [site_of(case, requirements, seeds) for case in cases]
    found = list(left_out(sites, requirements))
    if not found:
        return {}
    by_halving = {
        name: [macro([each.ways[name][number] for each in found]) for number in range(len(seeds))]
        for name in found[0].ways
    }
    means = {name: over(some) for name, some in by_halving.items()}
    if is_json:
        for each in found:
            whole = {name: each.whole(name) for name in means}
            figures = {name: {"removed": one.removed, "lost": one.lost} for name, one in whole.items()}
            row = {"group": group, "site": each.site.name, "rules": each.rules, "lost_at": each.lost_at}
            print(json.dumps(row | figures))
        every = {name: [one._asdict() for one in some] for name, some in by_halving.items()}
        print(
            json.dumps(
                {"group": group, "site": "macro", "halvings": every}
                | {name: mean._asdict() for name, mean in means.items()}
            )
        )
        return means
    _print_sites(group, found, means)
    if len(seeds) > 1:
        _print_halvings(by_halving)
    _print_rules(rules_across((row for site in sites for row in site.shown), requirements))
    return means


def _print_sites(group: str, found: Sequence[LeftOut], means: dict[str, Mean]) -> None:
    print(f"\n### {group}: {len(found)} sites, removed / lost in per cent\n")
    print(f"| site | rules | {' | '.join(means)} |\n| --- |{' ---: |' * (len(means) + 1)}")
    for each in found:
        whole = (each.whole(name) for name in means)
        cells = (f"{100 * one.removed:.1f} / {100 * one.lost:.2f}" for one in whole)
        print(f"| {each.site.name} | {each.rules} | {' | '.join(cells)} |")
    print(f"| **mean** | | {' | '.join(f'**{mean}**' for mean in means.values())} |")
    lost_at = sum((each.lost_at for each in found), Counter[str]())
    print("\nrules with own evidence lose more than the standard form:\n")
    for address, pages in sorted(lost_at.items(), key=lambda item: (-item[1], item[0])):
        print(f"* under `{address}` {pages} pages in all halvings")
    if not lost_at:
        print("* nowhere")


def _print_halvings(by_halving: dict[str, list[Mean]]) -> None:
    print(f"\n| halving | {' | '.join(by_halving)} |\n| ---: |{' ---: |' * len(by_halving)}")
    for number, row in enumerate(zip(*by_halving.values(), strict=True)):
        print(f"| {number or 'as judged'} | {' | '.join(map(str, row))} |")


def _print_rules(rules: Sequence[Rule]) -> None:
    print(f"\nlearned from all of them ({len(rules)} rules):\n")
    for rule in rules:
        off = f", off on {', '.join(rule.except_sites)}" if rule.except_sites else ""
        print(f"* `{rule}` proved on {rule.extra['across']['sites']} sites{off}")


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
    ask.add_argument("--halvings", type=int, default=9, help="of the real sites [%(default)s]")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--json", action="store_true", help="one JSON object a line")
    told = ask.parse_args()
    if not told.json:
        print(machine())
    crawl = Crawl(noise=0.02, coverage=0.5)
    copies = range(told.seed, told.seed + told.copies)
    made = (case for seed in copies for case in generated(told.kinds, told.urls, seed, crawl))
    run("generated", made, [told.seed], is_json=told.json)
    if told.generated:
        return
    seeds = range(told.seed, told.seed + told.halvings)
    means = run("real", real(("crawls", "mirrors")), seeds, is_json=told.json)
    if not means:
        return
    least = means[SHIPPED].removed if SHIPPED in means else 0.0
    if means[OWN].removed <= least or means[OWN].lost > MOST_LOST:
        sys.exit("rules for all sites remove too little, or lose too much")


if __name__ == "__main__":
    main()
