"""How fast URLs are parsed, normalized and viewed, beside the libraries that people use.

    python -m bench.normalize [--urls 20000] [--rounds 5] [--json]

None of the others does exactly the same work: w3lib, courlan and url-normalize also change what
only a site can decide, yarl, ada_url and can_ada parse and print. The table says who takes how
long for one URL, not who is right. URLs that some contender refuses are left out for all.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import undust
from bench.common import Contender, best_seconds_per_url, machine, url_lists
from undust import _core
from undust.urls import KeyValueView, TokenView, Url, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

W3LIB = "w3lib.url.canonicalize_url"
CAN_ADA = "can_ada.parse"
ONE = "undust.normalize"
BATCH = "undust.normalize(column)"

RIVALS = {
    W3LIB: ("w3lib.url", "canonicalize_url"),
    "courlan.normalize_url": ("courlan", "normalize_url"),
    "url_normalize.url_normalize": ("url_normalize", "url_normalize"),
    "yarl.URL": ("yarl", "URL"),
    "ada_url.normalize_url": ("ada_url", "normalize_url"),
    "ada_url.URL": ("ada_url", "URL"),
    CAN_ADA: ("can_ada", "parse"),
}
OURS_ONE_BY_ONE: dict[str, Callable[[str], Any]] = {
    ONE: undust.normalize,
    "undust Url.parse": Url.parse,
    "undust site_of": site_of,
}
TARGETS = ((ONE, W3LIB, 20.0), (BATCH, CAN_ADA, 1.0))

# Codes are made for batches; a view of one URL is for reading, so fewer of them tell enough.
VIEWED_ONE_BY_ONE = 200


@dataclass(frozen=True)
class Result:
    """The best times on one list of URLs."""

    list_name: str
    urls: int
    left_out: int
    seconds_per_url: dict[str, float]

    def times(self, name: str, other: str) -> float:
        """Return how many times faster `name` is than `other`."""
        return self.seconds_per_url[other] / self.seconds_per_url[name]

    def as_json(self) -> dict[str, Any]:
        """Return the figures under plain names."""
        return {
            "list": self.list_name,
            "urls": self.urls,
            "left_out": self.left_out,
            "rows": [
                {
                    "name": name,
                    "ns_per_url": round(seconds * 1e9, 1),
                    "times_w3lib": round(self.times(name, W3LIB), 3),
                    "times_can_ada": round(self.times(name, CAN_ADA), 3),
                }
                for name, seconds in self.seconds_per_url.items()
            ],
        }


def rivals() -> dict[str, Callable[[str], Any]]:
    """Return the functions to compare with, by name."""
    return {name: getattr(import_module(module), function) for name, (module, function) in RIVALS.items()}


def accepted_by_all(urls: Sequence[str], functions: Sequence[Callable[[str], Any]]) -> list[str]:
    """Return the URLs that no function refuses."""

    def is_accepted(url: str) -> bool:
        try:
            for function in functions:
                function(url)
        except Exception:  # noqa: BLE001 -- each library has its own
            return False
        return True

    return [url for url in urls if is_accepted(url)]


def measure(list_name: str, all_urls: Sequence[str], rounds: int) -> Result:
    """Return the times of everybody on one list."""
    theirs = rivals()
    urls = accepted_by_all(all_urls, list(theirs.values()))
    contenders = [
        Contender(name, _loop(function, urls), len(urls))
        for name, function in {**OURS_ONE_BY_ONE, **theirs}.items()
    ]
    contenders += _batches(urls) + _readable_views(urls[:VIEWED_ONE_BY_ONE])
    best = best_seconds_per_url(contenders, rounds)
    return Result(list_name, len(urls), len(all_urls) - len(urls), best)


def _loop(function: Callable[[str], Any], urls: Sequence[str]) -> Callable[[], object]:
    def run() -> None:
        for url in urls:
            function(url)

    return run


def _batches(urls: list[str]) -> list[Contender]:
    column = pa.array(urls, pa.string())
    normal = undust.normalize(column)
    lines = "\n".join(urls).encode()
    runs: dict[str, Callable[[], object]] = {
        BATCH: lambda: undust.normalize(column),
        "undust lines of a file": lambda: _core.normalize_lines(lines),
        "undust site_of(column)": lambda: site_of(column),
        "undust TokenView.of": lambda: TokenView.of(normal),
        "undust KeyValueView.of": lambda: KeyValueView.of(normal),
    }
    return [
        *(Contender(name, run, len(urls)) for name, run in runs.items()),
        Contender(f"{BATCH}, 2 threads", lambda: undust.normalize(column, threads=2), len(urls), threads=2),
    ]


def _readable_views(urls: Sequence[str]) -> list[Contender]:
    functions: dict[str, Callable[[str], Any]] = {
        "undust TokenView, one URL": lambda url: TokenView.of([url]).tokens(0),
        "undust KeyValueView, one URL": lambda url: KeyValueView.of([url]).pairs(0),
    }
    return [Contender(name, _loop(function, urls), len(urls)) for name, function in functions.items()]


def table_of(result: Result) -> Table:
    """Return the figures as a table, fastest first."""
    title = f"{result.list_name}: {result.urls:,} URLs"
    if result.left_out:
        title += f" ({result.left_out:,} left out)"
    table = Table(title=title, title_justify="left")
    table.add_column("contender", no_wrap=True)
    for heading in ("ns per URL", "× w3lib", "× can_ada"):
        table.add_column(heading, justify="right")
    for name, seconds in sorted(result.seconds_per_url.items(), key=lambda row: (row[1], row[0])):
        table.add_row(
            name,
            f"{seconds * 1e9:,.0f}",
            f"{result.times(name, W3LIB):,.2f}",
            f"{result.times(name, CAN_ADA):,.2f}",
            style="bold" if name in {ONE, BATCH} else None,
        )
    return table


def targets_of(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return each figure to reach with what was reached on each list."""
    return [
        {
            "name": name,
            "against": other,
            "reach": reach,
            "reached": {result.list_name: round(result.times(name, other), 2) for result in results},
            "met": all(result.times(name, other) >= reach for result in results),
        }
        for name, other, reach in TARGETS
    ]


def main() -> None:
    """Measure, and print a table for each list, or everything as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.normalize", description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=20_000, help="at most so many of each list")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many counts")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    options = parser.parse_args()

    results = []
    console = Console(quiet=options.json)
    for name, urls in url_lists(options.urls).items():
        results.append(measure(name, urls, options.rounds))
        console.print(table_of(results[-1]))
    targets = targets_of(results)
    for target in targets:
        reached = ", ".join(f"{times:.1f} × on {name}" for name, times in target["reached"].items())
        verdict = "reached" if target["met"] else "MISSED"
        console.print(f"{verdict}: {target['name']} ≥ {target['reach']:g} × {target['against']}: {reached}")
    if options.json:
        figures = [result.as_json() for result in results]
        print(json.dumps({"machine": machine(), "targets": targets, "lists": figures}, indent=2))


if __name__ == "__main__":
    main()
