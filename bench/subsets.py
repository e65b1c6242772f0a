"""Whether a part of the rules of a site is as safe as all of them: people switch some off.

    python -m bench.subsets                                 kinds, families, crawls and mirrors
    python -m bench.subsets --groups crawls --split 3       other halves of the pages
    python -m bench.subsets --json                          one JSON object for each site

Rules are learned from half of the pages of a site and judged on the other half, by key: all of them, all but
each one, and random parts, before and after each rule was given what makes it safe without the others. A rule
that needs an absent one is out of effect. Every second part has each rule with the same chance as not, the
others have a share of the rules drawn at random.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from random import Random
from time import process_time
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from bench.common import machine
from bench.edits import GROUPS, cases
from bench.quality import halves
from undust.learning import requirements_from
from undust.learning.edited import FinalSample, combined_rules
from undust.measuring import Measures
from undust.rules import program_of
from undust.rules.compiled import dependents, rules_in_effect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.measuring import Labelled
    from undust.rules import Rule

PARTS = 200
ALLOWED = 0.001
"""What a part may lose more than all rules, of the pages."""


@dataclass(frozen=True)
class Row:
    """One site, or the mean of several; shares of one."""

    rules: float
    conditions: float
    """Conditions that a rule has, on the mean."""
    needs: float
    """Rules that a rule needs, on the mean."""
    out: float
    """Rules out of effect when one is switched off, on the mean."""
    removed: float
    lost: float
    without_one: float
    """What all rules but one lose more than all, at most."""
    of_parts: float
    """The same of random parts."""
    above: float
    """Share of these parts that lose more than is allowed."""
    kept: float
    """What random halves remove, of what all rules remove, on the mean."""


def row_of(rules: Sequence[Rule], test: Sequence[Labelled], parts: int = PARTS) -> Row:
    """Return what parts of some rules do to pages."""
    acting = rules_in_effect(rules)
    whole = _measured(acting, test)
    without = [[rule for rule in acting if rule.id != off.id] for off in acting]
    out = sum(len(dependents(acting, {off.id})) for off in acting)
    chance = Random(0)
    drawn = []
    for number in range(parts):
        share = chance.random() if number % 2 else 0.5
        drawn.append(_measured([rule for rule in acting if chance.random() < share], test))
    more = [each.lost - whole.lost for each in drawn]
    return Row(
        rules=len(acting),
        conditions=sum(len(rule.unless) for rule in acting) / max(1, len(acting)),
        needs=sum(len(rule.needs) for rule in acting) / max(1, len(acting)),
        out=out / max(1, len(acting)),
        removed=whole.removed,
        lost=whole.lost,
        without_one=max((_measured(some, test).lost - whole.lost for some in without), default=0.0),
        of_parts=max(more, default=0.0),
        above=sum(each > ALLOWED for each in more) / max(1, len(more)),
        kept=_mean([each.removed / whole.removed for each in drawn[::2]]) if whole.removed else 1.0,
    )


def _measured(some: Sequence[Rule], test: Sequence[Labelled]) -> Measures:
    program = program_of(some)
    return sum((one.measured_by(pa.array(program.batch(one.urls, keys=True))) for one in test), Measures())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> None:
    """Learn, judge, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.subsets",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--groups", nargs="*", default=list(GROUPS), choices=GROUPS)
    ask.add_argument("--sites", nargs="*")
    ask.add_argument("--split", type=int, default=1)
    ask.add_argument("--urls", type=int, default=3000, help="of a generated kind")
    ask.add_argument("--parts", type=int, default=PARTS)
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if not told.json:
        print(f"{machine()}; split {told.split}, {told.parts} random parts; per cent but for counts a rule\n")
        print(
            "| site | rules | conditions | needs | out of effect | removed | lost | more without one "
            "| more in parts | parts with too much more | halves keep | time |"
        )
        print("| --- |" + " ---: |" * 11)
    found: dict[str, list[tuple[Row, Row, float]]] = defaultdict(list)
    for case in cases(told.groups, told.urls, told.sites):
        training, test = halves(case, told.split, None)
        before, after, time = learned(training)
        row = row_of(before, test, told.parts), row_of(after, test, told.parts), time
        found[case.group].append(row)
        if told.json:
            said = {"before": asdict(row[0]), "after": asdict(row[1]), "time": time}
            print(json.dumps({"group": case.group, "site": case.name} | said), flush=True)
        else:
            print(_line(case.name, *row), flush=True)
    for group, rows in () if told.json else found.items():
        for name, summary in (("mean", _mean), ("most", max)):
            before_rows, after_rows, times = zip(*rows, strict=True)
            print(
                _line(
                    f"{group}, {name}",
                    _over(before_rows, summary),
                    _over(after_rows, summary),
                    summary(times),
                )
            )


def learned(training: pa.Table) -> tuple[list[Rule], list[Rule], float]:
    """Return the rules as they were proved, as they are safe apart, and the share of the time this took."""
    asked = requirements_from(0.01, None, 0)
    before: list[Rule] = []
    after: list[Rule] = []
    times = []
    for site in undust.find_duplicates(training):
        start = process_time()
        rules = combined_rules(site, asked)
        middle = process_time()
        before += rules.rules
        after += FinalSample.of(site, asked).safe_apart(rules.rules, unstable=rules.unstable)
        times.append((process_time() - middle, middle - start))
    own, others = map(sum, zip(*times, strict=True))
    return before, after, own / max(own + others, 1e-9)


def _over(rows: Sequence[Row], summary: Callable[[Sequence[float]], float]) -> Row:
    return Row(**{name: summary([getattr(row, name) for row in rows]) for name in asdict(rows[0])})


def _line(name: str, before: Row, after: Row, time: float) -> str:
    cells = [f"{after.rules:.0f}"]
    cells += [f"{getattr(after, each):.2f}" for each in ("conditions", "needs", "out")]
    cells += [f"{100 * getattr(after, each):.2f}" for each in ("removed", "lost")]
    for each in ("without_one", "of_parts", "above", "kept"):
        cells.append(f"{100 * getattr(before, each):.2f} → {100 * getattr(after, each):.2f}")
    return f"| {name} | {' | '.join((*cells, f'{100 * time:.1f}'))} |"


if __name__ == "__main__":
    main()
