"""How good every method is: `compare` over generated sites of every kind, and over real ones where there are.

    python -m bench.quality                              tables; generated sites of 3,000 URLs each
    python -m bench.quality --kinds forum shop --json    one JSON object a line
    python -m bench.quality --methods standard tree --urls 10000 --noise 0.1
    python -m bench.quality --methods substring --max-fpr 0 0.01 0.05 0.1    a line for each bound
    python -m bench.quality --methods tree --option tree.least=5
    python -m bench.quality --alone                      single learners believed as their papers believe them

Methods see what a crawl saw (digests, sketches, redirects, rel=canonical) of some of the pages, and are
judged by the truth about the others. The folder of real sites may hold a judge of its own, `judge.py`: then
real sites are split as it splits them, and it has to agree with every figure that both measure.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import math
import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import undust
from bench.common import data_folder, machine
from bench.quality_verdict import as_json, print_verdicts, verdicts
from bench.sites import KINDS, Crawl, site
from undust.learning.single_methods import Job
from undust.measuring import Labelled, Measures
from undust.measuring.compare import compare_methods, judged_part, methods_named, with_labels, without_urls
from undust.measuring.judged import labelled_from_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from undust.measuring.compare import MethodRow


@dataclass(frozen=True)
class Case:
    """One site: what a crawl saw of it, and which page each URL truly shows."""

    group: str
    name: str
    seen: pa.Table
    labels: pa.Table
    is_real: bool = False


@dataclass(frozen=True, eq=False)
class Checked(Labelled):
    """Labelled URLs whose figures have a second judge."""

    judge: ModuleType

    def measured_by(self, images: pa.Array) -> Measures:
        """Return the measures, or end if the other judge sees something else."""
        found = super().measured_by(images)
        urls = self.urls.to_pylist()
        pages = dict(zip(urls, self.pages, strict=True))
        theirs = self.judge.measure(pages, dict(zip(urls, images.to_pylist(), strict=True)), self.sketches)
        ours = {"urls": found.urls, "pages": found.clusters, "removed": found.removed, "lost": found.lost}
        if not self.sketches:  # with sketches, only the other judge forgives pairs of near copies
            ours["fpr"] = found.fpr
        for name, value in ours.items():
            if not math.isclose(value, theirs[name], abs_tol=1e-12):
                sys.exit(f"{self.site}: {name} is {value} here and {theirs[name]} for the other judge")
        return found


def generated(kinds: Iterable[str], urls: int, seed: int, crawl: Crawl) -> Iterator[Case]:
    """Yield a site of each kind."""
    for kind in kinds:
        made = site(kind, urls=urls, seed=seed)
        truth = made.truth(crawl)
        labels = pa.table({"url": truth["url"], "cluster": truth["page"].cast(pa.string())})
        yield Case("generated", kind, made.observations(crawl), labels)


def real(folders: Iterable[str]) -> Iterator[Case]:
    """Yield the labelled sites of the data folder, if there is one."""
    for group in folders:
        for path in sorted((data_folder() / group).glob("*.jsonl.gz")):
            name = path.name.partition(".")[0]
            with gzip.open(path.with_name(f"{name}.labels.tsv.gz"), "rt", encoding="utf-8") as lines:
                next(lines)
                rows = [line.rstrip("\n").split("\t") for line in lines]
            labels = pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})
            yield Case(group, name, undust.read(path).table, labels, is_real=True)


def other_judge() -> ModuleType | None:
    """Return the judge beside the real sites."""
    path = data_folder() / "judge.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("judge", path)
    assert spec is not None  # noqa: S101 -- for the type checker; the file is there
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def halves(
    case: Case, seed: int, judge: ModuleType | None, *, is_swapped: bool = False
) -> tuple[pa.Table, list[Labelled]]:
    """Return what may be learned from, and the pages that nothing of the former shows; or the other way."""
    seen = case.seen.drop_columns("cluster")
    known, _ = labelled_from_labels(with_labels(seen, case.labels))
    if judge and case.is_real:
        parts = [one.only(np.array([judge.unseen(case.name, page) for page in one.pages])) for one in known]
        judged = [part for part in parts if part.pages]
    else:
        judged = judged_part(known, 0.5, seed)
    if is_swapped:
        first = {one.site: set(one.pages) for one in judged}
        rest = [
            one.only(np.array([page not in first.get(one.site, ()) for page in one.pages])) for one in known
        ]
        judged = [part for part in rest if part.pages]
    test = [Checked(one.site, one.urls, one.pages, one.sketches, judge) if judge else one for one in judged]
    return without_urls(seen, judged), test


def rows_of(case: Case, told: argparse.Namespace, judge: ModuleType | None) -> tuple[MethodRow, ...]:
    """Return what every method does to the pages of a site that it did not see."""
    training, test = halves(case, told.seed, judge)
    return compare_methods(
        undust.find_duplicates(training),
        test,
        methods_named(told.methods),
        Job((), dict(told.option), seed=told.seed, alone=told.alone),
        bounds=told.max_fpr,
    )


def name_of(row: MethodRow, bounds: list[float]) -> str:
    """Return what a table calls a row."""
    is_one = row.max_fpr is None or len(bounds) == 1
    return row.method if is_one else f"{row.method} ≤ {row.max_fpr:g}"


def figures(row: MethodRow) -> dict[str, Any]:
    """Return the figures of a row that tables and JSON show."""
    total, own = row.total, row.total_as_published
    return {
        "method": row.method,
        "max_fpr": row.max_fpr,
        **{
            name: getattr(total, name)
            for name in ("urls", "clusters", "removed", "lost", "fpr", "compression_rate")
        },
        "published_removed": None if own is None else own.removed,
        "published_lost": None if own is None else own.lost,
        "rules": row.rules,
        "candidates": row.candidates,
        "valid": row.valid,
        "seconds": row.seconds,
        "peak_memory_bytes": row.peak_memory_bytes,
    }


def print_averages(group: str, rows: dict[str, list[MethodRow]]) -> None:
    """Print one line a method: the mean over sites, all URLs together, and the cost."""
    sites = len(next(iter(rows.values())))
    print(f"\n### {group}: {sites} sites\n")
    print(
        "| method | removed | lost | fpr | removed, all URLs | lost, all URLs | rules | valid of tried | s |"
    )
    print(f"| --- |{' ---: |' * 8}")
    for method, some in rows.items():
        totals = [row.total for row in some]
        macro = [
            float(np.mean([getattr(one, name) for one in totals])) for name in ("removed", "lost", "fpr")
        ]
        micro = sum(totals, Measures())
        tried, valid = (sum(getattr(row, name) for row in some) for name in ("candidates", "valid"))
        share = f"{valid:,} of {tried:,}" if some[0].max_fpr is not None else ""
        rules = f"{np.mean([row.rules for row in some]):.0f}" if share else ""
        print(
            f"| `{method}` | {macro[0]:.1%} | {macro[1]:.2%} | {macro[2]:.2%} | {micro.removed:.1%} "
            f"| {micro.lost:.2%} | {rules} | {share} | {np.mean([row.seconds for row in some]):.1f} |"
        )


def print_sites(group: str, rows: dict[str, list[MethodRow]], names: list[str]) -> None:
    """Print removed and lost of every method on every site."""
    print(f"\n{group}, site by site: removed / lost in per cent\n")
    print(f"| method | {' | '.join(names)} |")
    print(f"| --- |{' ---: |' * len(names)}")
    for method, some in rows.items():
        cells = (f"{100 * row.total.removed:.0f} / {100 * row.total.lost:.1f}" for row in some)
        print(f"| `{method}` | {' | '.join(cells)} |")


def main() -> None:
    """Compare, and print tables or JSON."""
    told = _options().parse_args()
    crawl = Crawl(noise=told.noise, coverage=told.coverage)
    cases = chain(
        generated(told.kinds, told.urls, told.seed, crawl), real(() if told.generated else told.folders)
    )
    judge = other_judge()
    found: dict[str, dict[str, list[MethodRow]]] = defaultdict(lambda: defaultdict(list))
    names: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        started = perf_counter()
        names[case.group].append(case.name)
        for row in rows_of(case, told, judge):
            found[case.group][name_of(row, told.max_fpr)].append(row)
            if told.json:
                print(json.dumps({"group": case.group, "site": case.name} | figures(row)), flush=True)
        print(f"{case.group} {case.name}: {perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    told_apart = {group: list(verdicts(group, rows, names[group])) for group, rows in found.items()}
    if told.json:
        for group, each in ((group, each) for group, some in told_apart.items() for each in some):
            print(json.dumps({"group": group} | as_json(each)))
        return
    print(f"{machine()}; generated sites of {told.urls:,} URLs, {told.noise:.0%} of the pages mislabelled")
    print("a second judge agreed with every figure" if judge else "there was no second judge")
    for group, rows in found.items():
        print_averages(group, rows)
        print_sites(group, rows, names[group])
        print_verdicts(told_apart[group])


def _named_option(said: str) -> tuple[str, object]:
    name, _, value = said.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _options() -> argparse.ArgumentParser:
    ask = argparse.ArgumentParser(
        prog="python -m bench.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--kinds", nargs="*", default=list(KINDS), choices=KINDS, metavar="KIND", help="[all]")
    ask.add_argument("--methods", nargs="*", metavar="NAME", help="[all]")
    ask.add_argument("--urls", type=int, default=3_000, help="of each generated site [%(default)s]")
    ask.add_argument("--max-fpr", nargs="*", type=float, default=[0.01], help="bounds of proofs [0.01]")
    ask.add_argument("--noise", type=float, default=0.02, help="share of mislabelled pages [%(default)s]")
    ask.add_argument("--coverage", type=float, default=0.5, help="share of URLs seen [%(default)s]")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument(
        "--alone", action="store_true", help="prove each candidate of single learners alone, as the papers do"
    )
    ask.add_argument(
        "--option",
        action="append",
        default=[],
        type=_named_option,
        metavar="LEARNER.X=Y",
        help="an option of a learner, as in tree.least=5; may be repeated",
    )
    ask.add_argument("--generated", action="store_true", help="leave real sites out")
    ask.add_argument(
        "--folders", nargs="*", default=["crawls", "mirrors"], help="of real sites [%(default)s]"
    )
    ask.add_argument("--json", action="store_true", help="one JSON object a line")
    return ask


if __name__ == "__main__":
    main()
