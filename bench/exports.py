"""Every export of learned rules: how many rules each target takes, and whether it does what the rules do.

    python -m bench.exports                      learn the rules of all labelled sites, then export them
    python -m bench.exports --rules FOLDER       rule files that were learned before, FOLDER/NAME.json
    python -m bench.exports --before old.json    also the share of the rules of an earlier run that are left
    python -m bench.exports --json               one JSON object: what each target took of each site

The exports that run here (Python's `re`, Perl, Java, DuckDB) are carried out on 2,000 URLs of each site, and
compared with the canonical form by the exported rules.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import undust
from bench.common import data_folder, machine
from bench.sites import KINDS, site
from tests.exchange.exports import applied
from undust import RuleSet, normalize
from undust.exchange.exports import EXPORTERS, export

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from undust.exchange.exports import Exported

URLS = 2_000


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
    return undust.load(path) if path and path.exists() else undust.learn(seen)


def some_urls(seen: pa.Table) -> list[str]:
    """Return URLs of a site in standard form, from all over the table."""
    urls = sorted({normalize(url) for url in seen.column("url").to_pylist()})
    step = max(1, len(urls) // URLS)
    return [url for url in urls[::step] if url.startswith("http") and "@" not in url][:URLS]


def wrong(target: str, exported: Exported, urls: list[str], folder: Path) -> int | None:
    """Return how many URLs get another answer than by the rules, or None if the host does not run here."""
    if target == "regex":
        answers = [applied.by_python(exported.text, urls), applied.by_perl(exported.text, urls, folder)]
    elif target == "sql":
        answers = [applied.by_duckdb(exported.text, urls)]
    elif target in {"nutch", "heritrix"}:
        answers = [applied.by_java(exported.text, urls, folder)]
    else:
        return None
    wanted: list[str] = RuleSet(exported.rules).compile().batch(urls).to_pylist()
    return sum(one != other for found in answers for one, other in zip(found, wanted, strict=True))


def measured(told: argparse.Namespace) -> dict[str, dict[str, dict[str, Any]]]:
    """Return for each site and target the exported rules, the wrong answers and the processor time."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, seen in sites():
            rules, urls = rules_of(name, seen, told.rules), some_urls(seen)
            found[name] = {}
            for target in EXPORTERS:
                start = process_time()
                exported = export(rules, target.name)
                spent = process_time() - start
                found[name][target.name] = {
                    "active": exported.effect.active,
                    "rules": [rule.id for rule in exported.rules],
                    "wrong": None if told.quick else wrong(target.name, exported, urls, Path(folder)),
                    "seconds": round(spent, 3),
                }
            print(f"{name}: {len(rules)} rules", file=sys.stderr)
    return found


def print_table(found: dict[str, dict[str, dict[str, Any]]], before: dict[str, Any]) -> None:
    """Print one line a target."""
    print(f"{machine()}\n\n| target | active | exported | still of before | wrong answers | s |")
    print(f"| --- |{' ---: |' * 5}")
    for target in EXPORTERS:
        rows = {name: targets[target.name] for name, targets in found.items()}
        old = {
            (name, each)
            for name, targets in before.items()
            for each in targets.get(target.name, {}).get("rules", ())
        }
        new = {(name, each) for name, row in rows.items() for each in row["rules"]}
        answers = [row["wrong"] for row in rows.values() if row["wrong"] is not None]
        print(
            f"| `{target.name}` | {sum(row['active'] for row in rows.values()):,} | {len(new):,} "
            f"| {f'{len(old & new):,} of {len(old):,}' if old else ''} "
            f"| {sum(answers) if answers else ''} | {sum(row['seconds'] for row in rows.values()):.1f} |"
        )


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rules", type=Path, help="a folder of rule files to use instead of learning")
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
