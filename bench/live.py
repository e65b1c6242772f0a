"""Live proof on all kinds of generated sites: who is confirmed, who refuted, and what it costs.

python -m bench.live                     all kinds, N = 100 and N = 40, 2,000 URLs each
python -m bench.live forum wiki --urls 5000 --seed 4
python -m bench.live --json

Every request goes over HTTP on loopback. It fails if a true rule is not confirmed, a false one not
refuted, if fewer samples lead to other verdicts for more than one rule in a hundred, or if fifty true rules
cost more than 10,000 fetches at N = 100 or 4,000 at N = 40.
"""

from __future__ import annotations

import argparse
import json
import sys

from bench.proving import Proved, prove
from bench.sites import KINDS, site

PUBLISHED, FEWER = 100, 40
MOST_FETCHES = {PUBLISHED: 10_000, FEWER: 4_000}
"""For fifty true rules."""
RULES = 50
SAME = 0.99


def main() -> None:
    """Measure, print, and fail if a promise is broken."""
    ask = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__.splitlines()[0])
    ask.add_argument("kinds", nargs="*", metavar="KIND", help="some kinds only")
    ask.add_argument("--urls", type=int, default=2_000, help="URLs of each site [%(default)s]")
    ask.add_argument("--seed", type=int, default=3, help="another seed, another site [%(default)s]")
    ask.add_argument("--json", action="store_true", help="print JSON to stdout, and nothing else")
    told = ask.parse_args()
    rows, problems = [], []
    for kind in told.kinds or KINDS:
        made = site(kind, told.urls, told.seed)
        proved = {samples: prove(made, samples) for samples in MOST_FETCHES}
        rows.append(_row(kind, proved))
        for samples, found in proved.items():
            problems += [f"N = {samples}: {text}" for text in (*found.wrong, *found.undecided)]
        if not told.json:
            _print_row(rows[-1], is_first=len(rows) == 1)
    total = _total(rows)
    problems += _broken(total)
    if told.json:
        print(json.dumps({"kinds": rows, "total": total, "problems": problems}))
    else:
        _print_row(total)
        print(*problems, sep="\n")
    sys.exit(bool(problems))


def _row(kind: str, proved: dict[int, Proved]) -> dict[str, str | float]:
    verdicts = [{each.rule.id: each.verdict for each in found.done.outcomes} for found in proved.values()]
    first = proved[PUBLISHED]
    row: dict[str, str | float] = {
        "kind": kind,
        "true": len(first.true),
        "false": len(first.done.outcomes) - len(first.true),
        "wrong": sum(len(found.wrong) for found in proved.values()),
        "undecided": sum(len(found.undecided) for found in proved.values()),
        "same": sum(verdicts[0][rule] == verdicts[1].get(rule) for rule in verdicts[0]),
    }
    for samples, found in proved.items():
        row[f"fetches {samples}"] = found.requests
        row[f"true fetches {samples}"] = found.true_fetches
        row[f"for {RULES} at {samples}"] = round(RULES * found.true_fetches / len(found.true))
    return row


def _total(rows: list[dict[str, str | float]]) -> dict[str, str | float]:
    total: dict[str, str | float] = {
        name: "all" if name == "kind" else sum(float(row[name]) for row in rows) for name in rows[0]
    }
    for samples in MOST_FETCHES:
        spent = float(total[f"true fetches {samples}"])
        total[f"for {RULES} at {samples}"] = round(RULES * spent / float(total["true"]))
    return total


def _broken(total: dict[str, str | float]) -> list[str]:
    rules = float(total["true"]) + float(total["false"])
    problems = [
        f"{RULES} true rules take {total[f'for {RULES} at {samples}']} fetches at N = {samples}, not {most}"
        for samples, most in MOST_FETCHES.items()
        if float(total[f"for {RULES} at {samples}"]) > most
    ]
    if float(total["same"]) < SAME * rules:
        problems.append(f"N = {FEWER} decides {total['same']} of {rules} rules as N = {PUBLISHED} does")
    return problems


def _print_row(row: dict[str, str | float], *, is_first: bool = False) -> None:
    if is_first:
        print(*(f"{name:>{max(9, len(name))}}" for name in row), sep="  ")
    print(
        *(
            f"{value:>{max(9, len(name))}}" if isinstance(value, str) else f"{value:{max(9, len(name))},.0f}"
            for name, value in row.items()
        ),
        sep="  ",
        flush=True,
    )


if __name__ == "__main__":
    main()
