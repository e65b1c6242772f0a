"""Fits what the bound of a rule assumes to what rules do on unseen pages, and judges it on other sites.

    python -m bench.calibration --json > results.jsonl
    python -m bench.calibration_fit results.jsonl

The numbers of `AcceptedEdits` are those under which the outcomes of half of the sites are likeliest (a
mixture of beta-binomial distributions for each rule, one number changed at a time), and a margin for counts
on fewer pages. Sites are halved by a hash of their names; the other half, which nothing was chosen on, shows
whether the bounds hold.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.calibration import LEAST, MOST, StatedBound
from undust.searching.objective import RISK, AcceptedEdits
from undust.statistics import interval, log_beta

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Tried = tuple[StatedBound, tuple[float, int]]

GRIDS: dict[str, Sequence[float]] = {
    "own": (1.0, 0.7, 0.5, 0.35, 0.25, 0.15),
    "certain": (10.0, 20.0, 40.0, 70.0, 100.0, 200.0),
    "noise": (0.25, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0),
    "odds": (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0),
}
MARGINS = (1.0, 0.9, 0.85, 0.75)
"""Of `fewer`; the first is taken with which at most four rules in a hundred exceed their bound."""
AIM = 0.8 * MOST


def rules_of(lines: Iterable[str]) -> list[Tried]:
    """Return the rules that enough pages show, each with what is known of those beside it."""
    sets: dict[tuple[object, ...], list[StatedBound]] = defaultdict(list)
    for line in lines:
        row = StatedBound(**json.loads(line))
        if row.kind != "set" and row.group != "large":
            sets[row.group, row.site, row.split, row.kind].append(row)
    found: list[Tried] = []
    for some in sets.values():
        likely = [RISK.is_true(row.kind, row.bits, *_counts(row)) for row in some]
        found += [
            (row, (sum(likely) - own, len(some) - 1))
            for row, own in zip(some, likely, strict=True)
            if row.pages >= LEAST
        ]
    return found


def _counts(row: StatedBound) -> tuple[int, float]:
    return row.checked - row.lost_checked, row.lost_checked + row.left_out


def is_fitted_on(site: str) -> bool:
    """Return whether a site is of the half that numbers are chosen on."""
    return hashlib.blake2b(site.encode(), digest_size=8).digest()[0] & 1 == 1


def likelihood(some: Sequence[Tried], known: AcceptedEdits) -> float:
    """Return the mean logarithm of the probability of what was counted on the other pages."""
    risk = replace(RISK, accepted=known)
    total = 0.0
    for row, beside in some:
        ways = math.lgamma(row.pages + 1) - math.lgamma(row.lost + 1) - math.lgamma(row.pages - row.lost + 1)
        total += math.log(
            max(
                1e-12,
                sum(
                    weight
                    * math.exp(ways + log_beta(a + row.lost, b + row.pages - row.lost) - log_beta(a, b))
                    for weight, a, b in risk.mixture(row.kind, row.bits, *_counts(row), beside)
                ),
            )
        )
    return total / len(some)


def fitted(some: Sequence[Tried]) -> AcceptedEdits:
    """Return the numbers under which outcomes are likeliest, and the margin that is needed."""
    known = AcceptedEdits(own=1.0, certain=100.0, noise=1.0, odds=0.0, fewer=1.0)
    best = likelihood(some, known)
    for _ in range(3):
        for name, values in GRIDS.items():
            for value in values:
                other = replace(known, **{name: value})
                if (found := likelihood(some, other)) > best + 1e-9:
                    known, best = other, found
    for fewer in MARGINS:
        known = replace(known, fewer=fewer)
        if exceeding(some, known)[0] <= AIM * len(some):
            break
    return known


def exceeding(some: Sequence[Tried], known: AcceptedEdits) -> tuple[int, float]:
    """Return how many rules lose more than is stated, and the mean of what is stated."""
    risk = replace(RISK, accepted=known)
    stated = [risk.upper(row.kind, row.bits, *_counts(row), beside) for row, beside in some]
    count = sum(row.true > bound for (row, _), bound in zip(some, stated, strict=True))
    return count, sum(stated) / len(stated)


def main() -> None:
    """Fit on one half, print what is fitted, and how both halves fare with it and with what is shipped."""
    ask = argparse.ArgumentParser(prog="python -m bench.calibration_fit", description=__doc__.splitlines()[0])
    ask.add_argument("results", nargs="+", help="what bench.calibration --json printed")
    told = ask.parse_args()
    lines = (line for path in told.results for line in Path(path).read_text().splitlines())
    rules = rules_of(line for line in lines if line.startswith("{"))
    chosen_on = [one for one in rules if is_fitted_on(one[0].site)]
    others = [one for one in rules if not is_fitted_on(one[0].site)]
    found = fitted(chosen_on)
    for name, known in (("fitted", found), ("shipped", AcceptedEdits())):
        print(f"{name}: {known}")
        for part, some in (
            ("sites that it was chosen on", chosen_on),
            ("other sites", others),
            ("all", rules),
        ):
            count, mean = exceeding(some, known)
            low, high = interval(count, len(some))
            print(
                f"  {part}: {len(some)} rules, {count} exceed ({count / len(some):.1%}; "
                f"95 %: {low:.1%} to {high:.1%}); mean stated {mean:.2%}"
            )


if __name__ == "__main__":
    main()
