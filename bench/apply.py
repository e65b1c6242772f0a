"""How fast rules are applied: one URL and a batch, few rules and many, one site and a hundred thousand.

    python -m bench.apply [--urls 20000] [--rounds 5] [--quick] [--json]

Beside undust stand `w3lib.url.canonicalize_url` and `can_ada.parse`, which know no rules, the tool
`duplicate-url-discarder` with the rules published for it, and a loop of compiled Python regexes that does
the same rewrites as our rules. On the generated URLs our results and those of the loop are compared.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bench.common import Contender, best_seconds_per_url, machine, url_lists
from bench.rule_sets import regex_loop, rules_of, urls_of
from undust.rules import RuleSet
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from undust.rules import Canonicalizer

W3LIB = "w3lib.url.canonicalize_url"
CAN_ADA = "can_ada.parse"
DISCARDER = "duplicate-url-discarder, its own rules"
REGEXES = "loop of Python regexes"
ONE, BATCH, BATCH_2 = "undust, one URL", "undust, batch", "undust, batch, 2 threads"
ON_CLOCK = f"{BATCH}, by the clock"
CALLER = f"{BATCH}, the calling one of 2 threads"
"""It does half of the rows and all that cannot be shared: on a busy machine this still tells."""
LOAD, JSON_LOAD = "undust, load and compile", "json.load"
LOADED = ("bare rules", "with evidence", "with needs")
"""What rule files hold whose loading is measured."""

HEADINGS = {
    ONE: "one URL",
    BATCH: "batch",
    W3LIB: "w3lib",
    CAN_ADA: "can_ada",
    DISCARDER: "discarder",
    REGEXES: "regexes",
}
RULES_PER_SITE = (1, 100, 1000)
MAIN = (10_000, 100)
"""Sites and rules of each in the scenario whose figures are to be reached."""
SITES = (1, 100, 10_000, 100_000)
RULES_OF_MANY_SITES = 3
MOST_RULES_BY_REGEX = 100
"""A loop over more is so slow that it only costs patience."""
ROWS_FOR_THREADS = 200_000
"""Threads need work enough for their start not to count."""


@dataclass
class Scenario:
    """A rule set, a list of URLs, and who is measured on them."""

    name: str
    urls: list[str]
    contenders: list[Contender]
    seconds_per_url: dict[str, float] = field(default_factory=dict)

    def times(self, name: str, other: str) -> float:
        """Return how many times faster `name` is than `other`."""
        return self.seconds_per_url[other] / self.seconds_per_url[name]


@cache
def rivals() -> dict[str, Callable[[str], Any]]:
    """Return what knows nothing of our rules, by name; the discarder only where it is installed."""
    logging.getLogger("tldextract").setLevel(logging.CRITICAL)  # it would like to fetch the suffix list
    found: dict[str, Callable[[str], Any]] = {
        W3LIB: import_module("w3lib.url").canonicalize_url,
        CAN_ADA: import_module("can_ada").parse,
    }
    try:
        rules = import_module("duplicate_url_discarder_rules").RULE_PATHS
        discarder = import_module("duplicate_url_discarder.url_canonicalizer").UrlCanonicalizer(rules)
        found[DISCARDER] = discarder.process_url
    except ImportError:
        pass
    return found


def canonicalizer_of(sites: int, rules_per_site: int) -> Canonicalizer:
    """Return a compiled set of invented rules."""
    return RuleSet(rules_of(sites, rules_per_site)).compile()


def scenarios(count: int, *, quick: bool) -> list[Scenario]:
    """Return everything that is measured by URL, to be run in one interleaved go."""
    made = []
    for rules in RULES_PER_SITE:
        for hit in (True, False):
            canonicalize = canonicalizer_of(1, rules)
            urls = urls_of(1, rules, count, hit=hit)
            _require_same(canonicalize, rules, urls)
            name = f"1 site, {rules:,} {'rule' if rules == 1 else 'rules'}, {_word(hit)}"
            made.append(_scenario(name, canonicalize, urls, rules))
    sites, rules = (1_000, 100) if quick else MAIN
    canonicalize = canonicalizer_of(sites, rules)
    for hit in (True, False):
        urls = urls_of(sites, rules, count, hit=hit)
        _require_same(canonicalize, rules, urls)
        made.append(
            _scenario(f"{sites:,} sites, {rules:,} rules each, {_word(hit)}", canonicalize, urls, rules)
        )
    for sites in SITES[:-1] if quick else SITES:
        canonicalize = canonicalizer_of(sites, RULES_OF_MANY_SITES)
        urls = urls_of(sites, RULES_OF_MANY_SITES, count, hit=True)
        noun = "site" if sites == 1 else "sites"
        name = f"{sites:,} {noun}, {RULES_OF_MANY_SITES} rules each, hit at random"
        made.append(_scenario(name, canonicalize, urls, None))
    for name, urls in url_lists(count).items():
        rules = 10
        made.append(_scenario(f"{name}, {rules} rules a site", _rules_for(urls, rules), urls, None))
    return made


def _word(hit: bool) -> str:  # noqa: FBT001 -- the only thing it says
    return "hit" if hit else "miss"


def _rules_for(urls: Sequence[str], rules_per_site: int) -> Canonicalizer:
    sites = sorted({site for url in urls if (site := site_of(url))})
    raw = list(rules_of(1, rules_per_site))
    return RuleSet({**rule, "site": site} for site in sites for rule in raw).compile()


def _require_same(canonicalize: Canonicalizer, rules: int, urls: Sequence[str]) -> None:
    plain = regex_loop(rules)
    for url in urls[:200]:
        if canonicalize(url) != plain(url):
            message = f"not the same rewrites: {url} becomes {canonicalize(url)} and {plain(url)}"
            raise AssertionError(message)


def _scenario(name: str, canonicalize: Canonicalizer, urls: list[str], rules: int | None) -> Scenario:
    column = pa.array(urls, pa.string())
    many = pa.chunked_array([column] * -(-ROWS_FOR_THREADS // len(urls))).combine_chunks()
    few = urls[: max(len(urls) // 20, 1)]
    contenders = [
        Contender(ONE, _loop(canonicalize, urls), len(urls)),
        Contender(BATCH, lambda: canonicalize.batch(column), len(urls)),
    ]
    if "rules each, hit" in name:
        contenders += [
            Contender(BATCH_2, lambda: canonicalize.batch(many, threads=2), len(many), threads=2),
            Contender(ON_CLOCK, lambda: canonicalize.batch(many), len(many), threads=2),
            Contender(CALLER, lambda: canonicalize.batch(many, threads=2), len(many)),
        ]
    contenders += [Contender(rival, _loop(function, few), len(few)) for rival, function in rivals().items()]
    if rules is not None and rules <= MOST_RULES_BY_REGEX:
        contenders.append(Contender(REGEXES, _loop(regex_loop(rules), few), len(few)))
    return Scenario(name, urls, contenders)


def _loop(function: Callable[[str], Any], urls: Sequence[str]) -> Callable[[], object]:
    def run() -> None:
        for url in urls:
            try:  # noqa: SIM105 -- `suppress` would cost as much as what is measured
                function(url)
            except ValueError:  # some rivals refuse some URLs
                pass

    return run


def measure(made: Sequence[Scenario], rounds: int) -> None:
    """Measure all scenarios in turns: a busy moment hits them alike."""
    together = [
        Contender(f"{place}|{each.name}", each.run, each.urls, each.threads)
        for place, scenario in enumerate(made)
        for each in scenario.contenders
    ]
    for name, seconds in best_seconds_per_url(together, rounds).items():
        place, _, contender = name.partition("|")
        made[int(place)].seconds_per_url[contender] = seconds


def measure_loading(rounds: int) -> dict[str, float]:
    """Return the seconds that a file of 100,000 rules takes: bare, with evidence, where most need another."""
    raw = list(rules_of(10_000, 10))
    proof = {"when": "2030-01-01T00:00:00Z", "how": "held-out"}
    numbers = {"support": 120, "false_positives": 1, "fpr": 0.0083, "fpr_upper": 0.0211, "saves": 87}
    pair = ["http://www.shop.test/section1/some-title/1", "http://www.shop.test/s1/1"]
    evidence = {
        "status": "active",
        "learned_by": "rewrite",
        **numbers,
        "examples": [pair],
        "validated": proof,
    }
    first: dict[str, str] = {}
    needs = [
        {"needs": [first[rule["site"]]]} if first.setdefault(rule["site"], name) != name else {}
        for rule, name in zip(raw, RuleSet(raw).ids, strict=True)
    ]
    needing = [rule | more for rule, more in zip(raw, needs, strict=True)]
    contenders = []
    for kind, rules in zip(LOADED, (raw, [rule | evidence for rule in raw], needing), strict=True):
        data = RuleSet(rules).dumps()
        contenders += [
            Contender(f"{LOAD}, {kind}", lambda data=data: RuleSet.loads(data).compile(), 1),  # type: ignore[misc]
            Contender(f"{JSON_LOAD}, {kind}", lambda data=data: json.loads(data), 1),  # type: ignore[misc]
        ]
    return best_seconds_per_url(contenders, rounds)


def targets_of(made: Sequence[Scenario], loading: dict[str, float]) -> list[dict[str, Any]]:
    """Return each figure to reach, and what was reached."""
    main = next(scenario for scenario in made if "rules each, hit" in scenario.name)
    few, *_, many = (scenario for scenario in made if "hit at random" in scenario.name)
    growth = {name: many.seconds_per_url[name] / few.seconds_per_url[name] for name in (ONE, BATCH)}
    load = max(loading[f"{LOAD}, {kind}"] / loading[f"{JSON_LOAD}, {kind}"] for kind in LOADED)
    rows = [
        (f"one URL, {main.name}, × {W3LIB}", main.times(ONE, W3LIB), 10.0, "at least"),
        (f"batch, {main.name}, × {CAN_ADA}", main.times(BATCH, CAN_ADA), 1.0, "at least"),
        ("batch, 2 threads × 1 thread", main.times(BATCH_2, ON_CLOCK), 1.7, "at least"),
        ("the same in processor time of the calling thread", main.times(CALLER, BATCH), 1.7, "at least"),
        (f"one URL, {many.name}, time over that of 1 site", growth[ONE], 1.3, "at most"),
        (f"batch, {many.name}, time over that of 1 site", growth[BATCH], 2.0, "at most"),
        (f"load and compile 100,000 rules, × {JSON_LOAD}", load, 2.0, "at most"),
    ]
    return [
        {
            "name": name,
            "reached": round(reached, 2),
            "bound": f"{word} {bound:g}",
            "met": reached >= bound if word == "at least" else reached <= bound,
        }
        for name, reached, bound, word in rows
    ]


def table_of(made: Sequence[Scenario]) -> Table:
    """Return the nanoseconds for one URL, a scenario a row."""
    names = [name for name in HEADINGS if any(name in scenario.seconds_per_url for scenario in made)]
    table = Table(title="ns per URL", title_justify="left", box=None)
    table.add_column("scenario", overflow="fold")
    for name in names:
        table.add_column(HEADINGS[name], justify="right", no_wrap=True)
    for scenario in made:
        seconds = scenario.seconds_per_url
        table.add_row(
            scenario.name, *(f"{seconds[name] * 1e9:,.0f}" if name in seconds else "" for name in names)
        )
    return table


def main() -> None:
    """Measure, and print tables, or everything as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.apply", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--urls", type=int, default=20_000, help="so many in each scenario")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many counts")
    parser.add_argument("--quick", action="store_true", help="fewer sites, to try the benchmark itself")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    options = parser.parse_args()

    made = scenarios(options.urls, quick=options.quick)
    measure(made, options.rounds)
    loading = measure_loading(options.rounds)
    targets = targets_of(made, loading)
    console = Console(quiet=options.json)
    if hasattr(os, "getloadavg"):
        console.print(f"{machine()}; others kept {os.getloadavg()[0]:.1f} processors busy in the last minute")
    console.print(table_of(made))
    for name, seconds in loading.items():
        console.print(f"{seconds:6.3f} s  {name}, 100,000 rules")
    for target in targets:
        verdict = "reached" if target["met"] else "MISSED"
        console.print(f"{verdict}: {target['name']}: {target['reached']:g} ({target['bound']})")
    if options.json:
        figures = [
            {
                "scenario": scenario.name,
                "ns_per_url": {
                    name: round(value * 1e9, 1) for name, value in scenario.seconds_per_url.items()
                },
            }
            for scenario in made
        ]
        told = {"machine": machine(), "targets": targets, "loading_seconds": loading, "scenarios": figures}
        print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
