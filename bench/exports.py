"""Every export of learned rules: how many rules each target takes, and whether it does what the rules do.

    python -m bench.exports                      learn the rules of all labelled sites, then export them
    python -m bench.exports --rules FOLDER       rule files FOLDER/NAME.json; learned if missing
    python -m bench.exports --only NAME,NAME     these sites
    python -m bench.exports --before old.json    also the share of the rules of an earlier run that are left
    python -m bench.exports --json               one JSON object: what each target took of each site

The exports are carried out where that is installed (Python's `re`, Perl, Java, DuckDB, nginx, Apache,
duplicate-url-discarder) on 2,000 URLs of each site for which the target is exact, and compared with the
canonical form by the exported rules; where the system only compares URLs, with their key.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import pytest

import undust
from bench.common import data_folder, machine
from bench.sites import KINDS, site
from tests.exchange.exports import applied
from tests.exchange.exports.in_servers import by_server
from undust import RuleSet, normalize
from undust.exchange.exports import EXPORTERS, export

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from undust.exchange.exports import Exported

URLS = 2_000
NOT_EXACT = {
    "apache": r"[?&](?:&|$)",
    "duplicate-url-discarder": r"//[^/]*(?::|\./)|[?&](?:&|$)|\?.*;",
}
"""URLs for which a target says that it is not exact, where those are in standard form."""
HOSTS: dict[str, tuple[Callable[[str, list[str], Path], list[str]], ...]] = {
    "regex": (lambda text, urls, _: applied.by_python(text, urls), applied.by_perl),
    "sql": (lambda text, urls, _: applied.by_duckdb(text, urls),),
    "nutch": (applied.by_java,),
    "heritrix": (applied.by_java,),
    "nginx": (lambda text, urls, _: by_server("nginx", text, urls),),
    "apache": (lambda text, urls, _: by_server("apache2", text, urls),),
    "duplicate-url-discarder": (applied.by_duplicate_url_discarder,),
}
"""What carries out a file, by its target."""
SHOWN = 3
"""Wrong answers of a site and target that are printed."""


def sites() -> Iterator[tuple[str, pa.Table]]:
    """Yield what crawls saw of the real sites, if there are any, and of the generated ones."""
    for group in ("crawls", "mirrors"):
        for path in sorted((data_folder() / group).glob("*.jsonl.gz")):
            yield path.name.partition(".")[0], undust.read(path).table
    for kind in KINDS:
        yield f"gen-{kind}", site(kind, urls=3_000).observations()


def rules_of(name: str, seen: pa.Table, folder: Path | None) -> RuleSet:
    """Return the rules of a site: from a file, or learned now."""
    path = folder / f"{name}.json" if folder else None
    if path and path.exists():
        return undust.load(path)
    rules = undust.learn(seen)
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        rules.save(path)
    return rules


def some_urls(seen: pa.Table, target: str) -> list[str]:
    """Return URLs of a site in standard form for which a target is exact, from all over the table."""
    odd = re.compile(NOT_EXACT.get(target, "@"))
    urls = sorted({normalize(url) for url in seen.column("url").to_pylist()})
    fitting = [url for url in urls if url.startswith("http") and "@" not in url and not odd.search(url)]
    return fitting[:: max(1, len(fitting) // URLS)][:URLS]


def compared(target: str, exported: Exported, urls: list[str], folder: Path) -> tuple[int, list[str]] | None:
    """Return how many answers were compared, and those that the rules do not give; None without a host."""
    try:
        answers = [host(exported.text, urls, folder) for host in HOSTS.get(target, ())]
    except pytest.skip.Exception as error:
        print(f"{target}: {error}", file=sys.stderr)
        return None
    if not answers:
        return None
    # A system that only compares also has the rules for comparing, which change keys alone.
    fetches = next(each.fetches for each in EXPORTERS if each.name == target)
    wanted: list[str] = RuleSet(exported.rules).compile().batch(urls, keys=not fetches).to_pylist()
    wrong = [
        f"{url} -> {got}, by the rules {expected}"
        for found in answers
        for url, got, expected in zip(urls, found, wanted, strict=True)
        if got != expected
    ]
    return len(answers) * len(urls), wrong


def measured(told: argparse.Namespace) -> dict[str, dict[str, dict[str, Any]]]:
    """Return for each site and target the exported rules, the wrong answers and the processor time."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, seen in sites():
            if told.only and name not in told.only.split(","):
                continue
            rules = rules_of(name, seen, told.rules)
            found[name] = {}
            for target in EXPORTERS:
                start = process_time()
                exported = export(rules, target.name)
                spent = process_time() - start
                urls = [] if told.quick else some_urls(seen, target.name)
                answers = compared(target.name, exported, urls, Path(folder)) if urls else None
                for line in answers[1][:SHOWN] if answers else ():
                    print(f"{name}, {target.name}: {line}", file=sys.stderr)
                found[name][target.name] = {
                    "active": exported.effect.active,
                    "rules": [rule.id for rule in exported.rules],
                    "compared": answers and answers[0],
                    "wrong": answers and len(answers[1]),
                    "seconds": round(spent, 3),
                }
            print(f"{name}: {len(rules)} rules", file=sys.stderr)
    return found


def print_table(found: dict[str, dict[str, dict[str, Any]]], before: dict[str, Any]) -> None:
    """Print one line a target."""
    print(f"{machine()}\n\n| target | active | exported | still of before | compared | wrong | s |")
    print(f"| --- |{' ---: |' * 6}")
    for target in EXPORTERS:
        rows = {name: targets[target.name] for name, targets in found.items()}
        old = {
            (name, each)
            for name, targets in before.items()
            for each in targets.get(target.name, {}).get("rules", ())
        }
        new = {(name, each) for name, row in rows.items() for each in row["rules"]}
        answers = sum(row["compared"] or 0 for row in rows.values())
        wrong = sum(row["wrong"] or 0 for row in rows.values())
        print(
            f"| `{target.name}` | {sum(row['active'] for row in rows.values()):,} | {len(new):,} "
            f"| {f'{len(old & new):,} of {len(old):,}' if old else ''} "
            f"| {f'{answers:,} | {wrong:,}' if answers else ' | '} "
            f"| {sum(row['seconds'] for row in rows.values()):.1f} |"
        )


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=Path, help="a folder of rule files to use instead of learning")
    parser.add_argument("--only", help="names of sites, with commas between")
    parser.add_argument("--before", type=Path, help="the JSON of an earlier run")
    parser.add_argument("--quick", action="store_true", help="do not carry the exports out")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    told = parser.parse_args()
    found = measured(told)
    if told.json:
        print(json.dumps(found))
    else:
        before = json.loads(told.before.read_text(encoding="utf-8")) if told.before else {}
        print_table(found, before)


if __name__ == "__main__":
    main()
