"""How good methods are on small families of duplicates and on real sites, learned and judged in this process.

    python -m bench.edits                                  the new learner on all families and real sites
    python -m bench.edits --methods edits undust --groups families
    python -m bench.edits --sites trac smf --rules         with the rules that were learned
    python -m bench.edits --json                           one JSON object for each method and site

Each method learns from half of the pages of a site and is judged on the other half, by key. Real sites are
split as the judge beside them splits them, or by `--split N` in another way.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import pyarrow as pa

import undust
from bench.common import machine
from bench.quality import Case, generated, halves, other_judge, real
from bench.sites import KINDS, Crawl
from bench.sites.families import FAMILIES, family
from undust.learning import requirements_from
from undust.learning.edited import combined_rules, edited_rules
from undust.measuring import Measures
from undust.reading.observations import SCHEMA
from undust.rules import RuleSet
from undust.searching import Objective, Risk
from undust.searching.objective import priors_from

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from undust.pages.clustering import Duplicates

GROUPS = ("families", "kinds", "crawls", "mirrors")


def _edits(found: Duplicates, objective: Objective) -> RuleSet:
    priors = objective.risk.priors
    return RuleSet(rule for site in found for rule in edited_rules(site, priors=priors).rules)


def _combined(found: Duplicates, objective: Objective) -> RuleSet:
    requirements, priors = requirements_from(0.01, None, 0), objective.risk.priors
    return RuleSet(rule for site in found for rule in combined_rules(site, requirements, priors=priors).rules)


METHODS: dict[str, Callable[[Duplicates, Objective], RuleSet]] = {
    "edits": _edits,
    "undust": _combined,
    "none": lambda _, __: RuleSet(),
}


def cases(groups: list[str], urls: int, names: Collection[str] | None = None) -> Iterator[Case]:
    """Yield the sites of groups, or those with these names."""
    for case in _cases(groups, urls, [kind for kind in KINDS if not names or kind in names]):
        if not names or case.name in names:
            yield case


def _cases(groups: list[str], urls: int, kinds: list[str]) -> Iterator[Case]:
    for group in groups:
        if group == "families":
            for name in FAMILIES:
                made = family(name)
                yield Case(group, name, _whole(made.seen), made.labels)
        elif group == "kinds":
            for case in generated(kinds, urls, 0, Crawl()):
                yield Case("kinds", case.name, case.seen, case.labels)
        else:
            yield from real([group])


def _whole(seen: pa.Table) -> pa.Table:
    """Return observations with all columns that there may be."""
    have = set(seen.column_names)
    columns = [
        seen.column(field.name).cast(field.type) if field.name in have else pa.nulls(len(seen), field.type)
        for field in SCHEMA
    ]
    return pa.table(columns, schema=SCHEMA)


def main() -> None:
    """Learn, judge, and print a table or JSON."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.edits",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--priors", type=Path, help="a folder with a file for each site, fitted without it")
    ask.add_argument("--methods", nargs="*", default=["edits"], choices=METHODS)
    ask.add_argument("--groups", nargs="*", default=["families", "crawls", "mirrors"], choices=GROUPS)
    ask.add_argument("--sites", nargs="*")
    ask.add_argument("--split", type=int, help="another split than the judge's")
    ask.add_argument("--urls", type=int, default=3000, help="of a generated kind")
    ask.add_argument("--rules", action="store_true")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    judge = other_judge() if told.split is None else None
    totals: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    if not told.json:
        print(f"{machine()}; removed and lost in per cent\n")
    for case in cases(told.groups, told.urls):
        if told.sites and case.name not in told.sites:
            continue
        training, test = halves(case, told.split or 0, judge if case.is_real else None)
        found = undust.find_duplicates(training)
        objective = _objective(told.priors, case.name)
        for method in told.methods:
            start = process_time()
            rules = METHODS[method](found, objective)
            seconds = process_time() - start
            canonical = rules.compile()
            figures = sum((one.measured_by(canonical.batch(one.urls, keys=True)) for one in test), Measures())
            row = {
                "removed": figures.removed,
                "lost": figures.lost,
                "rules": float(len(rules)),
                "seconds": seconds,
                "rows_per_second": len(training) / max(seconds, 1e-9),
            }
            totals[case.group, method].append(row)
            _print((case.group, case.name, method), row, as_json=told.json)
            if told.rules:
                for rule in rules:
                    print("   ", rule)
    for (group, method), rows in totals.items():
        mean = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
        _print((group, "mean", method), mean, as_json=told.json)
        worst, least = max(row["lost"] for row in rows), min(row["removed"] for row in rows)
        if not told.json:
            print(f"{'':10} most lost {100 * worst:.2f}, least removed {100 * least:.1f}")


def _objective(folder: Path | None, site: str) -> Objective:
    """Return the objective with what other sites say beforehand."""
    path = folder / f"{site}.json" if folder else None
    if path is None or not path.exists():
        return Objective()
    return Objective(risk=Risk(priors_from(json.loads(path.read_text(encoding="utf-8"))["kinds"])))


def _print(names: tuple[str, str, str], row: dict[str, float], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(dict(zip(("group", "site", "method"), names, strict=True)) | row), flush=True)
        return
    group, site, method = names
    print(
        f"{group:10} {site:18} {method:8} removed {100 * row['removed']:6.1f}  "
        f"lost {100 * row['lost']:6.2f}  {row['rules']:4.0f} rules  {row['seconds']:6.1f} s  "
        f"{row['rows_per_second']:7.0f} rows/s",
        flush=True,
    )


if __name__ == "__main__":
    main()
