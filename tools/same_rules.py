"""Whether a change of the code leaves the rules alone: one digest for the rules of each site.

python -m tools.same_rules > before.txt              at the commit before the change
python -m tools.same_rules --against before.txt      after it; says what differs, and then ends with 1

The labelled sites of the data folder are learned, the generated kinds, and all kinds as one crawl
(for the rules across sites); with `--spark` a selection of them on Spark too, which must give the
digests of the local engine. Single methods learn from the smaller sites. Only public names are used,
so that the script runs at any commit.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import undust
from bench.common import data_folder
from bench.sites import KINDS, site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

URLS = 2_000
"""URLs of each generated site; enough for rules of every form."""
METHODS = ("substring", "rewrite", "tree", "alignment")
SMALL_BYTES = 40_000
"""Files up to this size are learned on Spark and by single methods too."""


def main() -> int:
    """Print the digests; 1 if they are not those of a file."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--against", metavar="FILE", help="digests of another commit")
    ask.add_argument("--spark", action="store_true", help="learn a selection on Spark too")
    ask.add_argument("--only", default="", metavar="TEXT", help="only sites whose names have this")
    given = ask.parse_args()
    found = {}
    for name, rules in learned(given.only, spark=given.spark):
        found[name] = f"{hashlib.sha256(rules.dumps()).hexdigest()[:32]} {len(rules)}"
        print(name, found[name], flush=True)
    return 0 if given.against is None else compared(found, Path(given.against))


def learned(only: str, *, spark: bool) -> Iterator[tuple[str, undust.RuleSet]]:
    """Yield the name of each job and the rules that it gives."""
    with ExitStack() as stack:
        engine = stack.enter_context(spark_engine()) if spark else None
        for name, (is_small, read) in inputs().items():
            if only not in name:
                continue
            seen = read()
            yield f"{name} local", undust.learn(seen, threads=2)
            if is_small:
                yield from ((f"{name} {method}", undust.learn(seen, methods=method)) for method in METHODS)
            if is_small and engine:
                yield f"{name} spark", undust.learn(seen, engine=engine)


def spark_engine() -> undust.SparkEngine:
    """Return Spark on the two cores of this machine."""
    return undust.SparkEngine.started(memory=None, threads=2, folder=None, master="local[2]")


def inputs() -> dict[str, tuple[bool, Callable[[], Any]]]:
    """Return by name whether an input is small, and what reads or makes it."""
    found: dict[str, tuple[bool, Callable[[], Any]]] = {}
    for labels in sorted(data_folder().glob("*/*.labels.tsv.gz")):
        name = labels.name.removesuffix(".labels.tsv.gz")
        for path in (labels.with_name(f"{name}.jsonl.gz"), labels.with_name(f"{name}.warc.gz")):
            if path.exists():
                is_small = path.stat().st_size <= SMALL_BYTES
                found[f"{path.parent.name}/{name}"] = (is_small, partial(undust.read, str(path)))
    for kind in KINDS:
        found[f"generated/{kind}"] = (True, site(kind, urls=URLS, seed=1).observations)
    found["generated/all"] = (False, all_kinds)
    return found


def all_kinds() -> pa.Table:
    """Return two sites of each kind in one table, for the rules across sites."""
    return pa.concat_tables(
        site(kind, urls=URLS // 4, seed=seed).observations() for kind in KINDS for seed in (1, 2)
    )


def compared(found: dict[str, str], path: Path) -> int:
    """Print what differs from the digests in a file; 1 if anything does."""
    lines = path.read_text(encoding="utf-8").splitlines()
    before = {line.rsplit(" ", 2)[0]: line.split(" ", 2)[2] for line in lines}
    common = [name for name in found if name in before]
    wrong = [name for name in common if found[name] != before[name]]
    for name in wrong:
        print(f"{name}: {before[name]} before, {found[name]} now", file=sys.stderr)
    print(f"{len(common) - len(wrong)} of {len(common)} are the same bytes", file=sys.stderr)
    return 1 if wrong or not common else 0


if __name__ == "__main__":
    sys.exit(main())
