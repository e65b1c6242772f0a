"""The processor time of an export of many rules of one site, for each target and kind of rule.

    python -m bench.export_times                       1,600 rules of each kind to each target
    python -m bench.export_times --rules 400           so many rules
    python -m bench.export_times --targets pywb,nginx  these targets
    python -m bench.export_times --kinds "one target"  these kinds

A cell has the seconds for all rules, how often the time of half as many they are (2 is linear), and how many
rules were exported.
"""

from __future__ import annotations

import argparse
from time import process_time

from bench.common import machine
from bench.rule_sets import rules_of
from undust import Rule, RuleSet
from undust.exchange.exports import EXPORTERS, export

SITE = "shop.test"
DROPPED = "rewrite {{s}}://{{h}}/{{p**}}?{0}={{**}}&{{rest**}} → {{s}}://{{h}}/{{p}}?{{rest}}"
KEPT = "keep {{s}}://{{h}}/{0}/{{p**}}?{{rest**}}"
KINDS: dict[str, tuple[str, ...]] = {
    "drop a parameter": (DROPPED,),
    "rename a folder": ("rewrite {{s}}://{{h}}/old{0}/{{p**}} → {{s}}://{{h}}/new{0}/{{p}}",),
    "keep a folder": (KEPT,),
    "keep and drop in turn": (KEPT, DROPPED),
    "drop in a folder": (
        "rewrite {{s}}://{{h}}/{0}/{{p**}}?sid={{**}}&{{rest**}} → {{s}}://{{h}}/{0}/{{p}}?{{rest}}",
    ),
    "drop a slug": ("rewrite {{s}}://{{h}}/{0}/{{*}}/{{id:int}} → {{s}}://{{h}}/{0}/{{id}}",),
    "leave a host": ("rewrite {{s}}://{0}.shop.test/{{p**}} → {{s}}://shop.test/of/{0}/{{p}}",),
    "a chain of folders": ("rewrite {{s}}://{{h}}/x{1}/{{p**}} → {{s}}://{{h}}/x{2}/{{p}}",),
    "one target": ("rewrite {{s}}://{{h}}/{0}.html → {{s}}://{{h}}/start",),
    "one target with a number": ("rewrite {{s}}://{{h}}/{0}/{{n:int}} → {{s}}://{{h}}/item/{{n}}",),
    "one target by a parameter": ("rewrite {{s}}://{{h}}/go?to={0} → {{s}}://{{h}}/start",),
    "one target by a name": ("rewrite {{s}}://{{h}}/go?{0}={{n:int}} → {{s}}://{{h}}/item/{{n}}",),
    "one target by a deep name": ("rewrite {{s}}://{{h}}/a/b/{0}/c/d → {{s}}://{{h}}/start",),
    "the end of a path": ("rewrite {{s}}://{{h}}/{{a:int}}/{0} → {{s}}://{{h}}/{0}/of/{{a}}",),
    "a value": ("rewrite {{s}}://{{h}}/go?to={0} → {{s}}://{{h}}/{0}",),
    "a suffix": ("rewrite {{s}}://{{h}}/{{a:word}}.{0} → {{s}}://{{h}}/{0}/{{a}}",),
    "a deep name": ("rewrite {{s}}://{{h}}/a/b/{0}/c/d → {{s}}://{{h}}/e/{0}",),
}
"""Kinds of rules; `{0}` is a name of its own for each rule, `{1}` its number and `{2}` the next one."""
OF_THREE_SHAPES = "of three shapes"
ALL_KINDS = (OF_THREE_SHAPES, *KINDS)


def many(kind: str, count: int) -> RuleSet:
    """Return so many rules of one site."""
    if kind == OF_THREE_SHAPES:
        return RuleSet(rules_of(1, count))
    texts = KINDS[kind]
    return RuleSet(
        Rule.parse(texts[number % len(texts)].format(f"x{number}", number, number + 1), site=SITE)
        for number in range(count)
    )


def seconds(rules: RuleSet, target: str) -> float:
    """Return the processor time of an export."""
    start = process_time()
    export(rules, target)
    return process_time() - start


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=int, default=1_600, help="rules of the site [%(default)s]")
    parser.add_argument("--targets", help="names of targets, with commas between")
    parser.add_argument("--kinds", help="names of kinds, with commas between")
    told = parser.parse_args()
    targets = told.targets.split(",") if told.targets else [each.name for each in EXPORTERS]
    kinds = told.kinds.split(",") if told.kinds else ALL_KINDS
    print(f"{machine()}\n\n| kind | {' | '.join(targets)} |\n| --- |{' ---: |' * len(targets)}", flush=True)
    for kind in kinds:
        half, whole = many(kind, told.rules // 2), many(kind, told.rules)
        print(f"| {kind} ", end="", flush=True)
        for target in targets:
            before = seconds(half, target)
            start = process_time()
            exported = export(whole, target)
            spent = process_time() - start
            print(f"| {spent:.2f} ({spent / before:.1f} ×), {len(exported.rules):,} ", end="", flush=True)
        print("|", flush=True)


if __name__ == "__main__":
    main()
