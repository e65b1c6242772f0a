"""Rules by alignment: speed beside the plain algorithm, growth, a giant cluster, the table of the paper.

    python -m bench.alignment                          the table of the paper, on small sites
    python -m bench.alignment speed growth giant       only these parts
    python -m bench.alignment table --urls 12000       candidates, valid ones and clusters reduced
    python -m bench.alignment decisions aligners       what the paper leaves open, each the other way

The oracle aligns some clusters of the same run, since all of them would take it hours; its time for one URL
is compared with the learner's for all.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

import undust
from bench.alignment_tables import PUBLISHED, decisions, table
from bench.common import machine
from tests.oracles import alignment as oracle
from tests.oracles import alignment_rules as rules_oracle
from undust.files.temporary import peak_memory_bytes
from undust.proposing.papers.alignment import AlignmentOptions, propose_by_alignment
from undust.proposing.papers.alignment.groups import align, groups_of

if TYPE_CHECKING:
    from undust.judging.verdict import Proposal
    from undust.pages.clustering import SiteClusters
    from undust.proposing.papers.alignment.groups import Aligned

PARTS = ("speed", "growth", "giant", "aligners", "table", "decisions")
BY_DEFAULT = ("table",)
"""What the paper has; the rest is asked for by name. Some minutes on two cores."""
FASTER, SLOWER, GIANT_BYTES = 30, 5.0, 2 << 30
"""What is to be reached: times the oracle; time from n to 4n; the memory of the giant."""
FORMS = (
    "http://www.site.test/{topic}/{title}-{page}.html",
    "http://site.test/{topic}/{title}-{page}.html",
    "https://www.site.test/{topic}/{title}-{page}.html",
    "http://www.site.test/{topic}/{title}-{page}.html?sid={session}",
    "http://www.site.test/{topic}/{title}-{page}.html?utm_source={source}&utm_medium=mail",
    "http://www.site.test/{topic}/{page}",
    "http://www.site.test/show.php?id={page}",
    "http://www.site.test/show.php?sid={session}&id={page}",
    "http://www.site.test/show.php?id={page}&print=1",
    "http://m.site.test/{topic}/{page}",
    "http://www.site.test/{topic}/{other}-{page}.html",
    "http://www.site.test/index.php?route={topic}/view&id={page}",
)
WORDS = (
    *("alpha", "bravo", "carbon", "delta", "ember", "falcon", "gamma"),
    *("harbor", "island", "jasmin", "karma", "lemon", "mango", "nectar"),
)


def made(clusters: int, smallest: int = 3, largest: int = 10) -> SiteClusters:
    """Return a site with so many clusters of so many URLs."""
    chance = np.random.default_rng(clusters)
    urls, pages = [], []
    for page, size in enumerate(chance.integers(smallest, largest + 1, clusters).tolist()):
        words = [WORDS[at] for at in chance.integers(0, len(WORDS), 5).tolist()]
        for form in chance.permutation(len(FORMS))[: min(size, len(FORMS))].tolist():
            text = FORMS[form].format(
                topic=words[0],
                title=f"{words[1]}-{words[2]}",
                other=f"{words[3]}-{words[4]}",
                page=page,
                session=f"{int(chance.integers(1 << 30)):x}",
                source=words[1],
            )
            urls.append(text)
            pages.append(page)
        for extra in range(size - len(FORMS)):
            urls.append(FORMS[3].format(topic=words[0], title=words[1], page=page, session=extra))
            pages.append(page)
    seen = pa.table({"url": urls, "cluster": pa.array(pages).cast(pa.string())})
    return undust.find_duplicates(seen).sites[0]


def timed(site: SiteClusters, options: AlignmentOptions) -> tuple[Proposal, float]:
    """Return what is proposed, and the seconds of processor time."""
    gc.collect()
    started = time.process_time()
    proposal = propose_by_alignment(site, options)
    return proposal, time.process_time() - started


def samples_of(site: SiteClusters, clusters: int) -> list[rules_oracle.Sample]:
    """Return the first clusters of a site as the oracle takes them."""
    urls = site.node_urls.to_pylist()
    by_cluster: dict[int, list[str]] = {}
    for url, cluster in zip(urls, site.cluster_of_node.tolist(), strict=True):
        if 0 <= cluster < clusters:
            by_cluster.setdefault(cluster, []).append(url)
    return list(by_cluster.items())


def speed(clusters: int, compared: int) -> dict[str, Any]:
    """All clusters by the learner, some by the oracle; on those, both must find the same."""
    site = made(clusters)
    options = AlignmentOptions()
    proposal, seconds = timed(site, options)
    few = site.keeps(np.arange(site.cluster_count) < compared)
    samples = samples_of(few, compared)
    started = time.process_time()
    expected, _ = rules_oracle.learn(samples, few.site, oracle.Settings())
    slow = time.process_time() - started
    found = propose_by_alignment(few, options)
    if sorted(each.support for each in found.candidates) != sorted(pairs for _, pairs in expected.values()):
        sys.exit("the oracle and the learner do not find the same")
    urls = len(site.node_urls)
    times = (slow / sum(len(each) for _, each in samples)) / (seconds / urls)
    return {
        "clusters": clusters,
        "urls": urls,
        "candidates": len(proposal.candidates),
        "learner s": seconds,
        "oracle s": slow,
        "oracle's clusters": compared,
        "oracle s for all": slow / compared * clusters,
        "times": times,
        "to reach": FASTER,
    }


def growth(clusters: int) -> dict[str, Any]:
    """From n to 4n clusters."""
    seconds = {count: timed(made(count), AlignmentOptions())[1] for count in (clusters, 4 * clusters)}
    few, many = seconds.values()
    return {"clusters": clusters, "n s": few, "4n s": many, "time": many / few, "time to reach": SLOWER}


def giant(size: int) -> dict[str, Any]:
    """One cluster of so many URLs, beside ordinary ones."""
    urls = [f"http://www.site.test/show.php?sid={number:x}&id=7" for number in range(size)]
    small = [
        f"http://www.site.test/show.php?{sid}id={page}" for page in range(20, 60) for sid in ("", "sid=1f&")
    ]
    pages = ["7"] * size + [str(page) for page in range(20, 60) for _ in range(2)]
    site = undust.find_duplicates(pa.table({"url": urls + small, "cluster": pages})).sites[0]
    proposal, seconds = timed(site, AlignmentOptions())
    return {
        "urls": size,
        "seconds": seconds,
        "peak bytes": peak_memory_bytes(),
        "to reach": GIANT_BYTES,
        "best rule": proposal.candidates[0].text,
        "cut": dict(proposal.cut),
    }


def aligners(clusters: int) -> dict[str, Any]:
    """Plain, anchored and banded alignment of the same groups: time, score lost, columns that differ."""
    site = made(clusters)
    found: dict[str, Aligned] = {}
    seconds: dict[str, float] = {}
    for _ in range(2):
        for aligner in ("plain", "anchored", "banded"):
            options = replace(AlignmentOptions(), aligner=aligner)
            groups = groups_of(site, options)
            started = time.process_time()
            found[aligner] = align(groups, options)
            seconds[aligner] = min(seconds.get(aligner, 1e9), time.process_time() - started)
    plain = found["plain"]
    rules = {name: propose_by_alignment(site, AlignmentOptions(aligner=name)).candidates for name in found}
    texts = {name: {each.text for each in several} for name, several in rules.items()}
    return {
        name: {
            "seconds": seconds[name],
            "times plain": seconds["plain"] / seconds[name],
            "last score, share of plain": float(each.scores.sum() / plain.scores.sum()),
            "groups with other columns": float((each.widths != plain.widths).mean()),
            "rules": len(texts[name]),
            "rules that plain has too": len(texts[name] & texts["plain"]),
        }
        for name, each in found.items()
    }


def show(name: str, figures: dict[str, Any], indent: str = "") -> None:
    """Print figures as a person reads them."""
    print(f"{indent}{name}")
    for what, value in figures.items():
        if isinstance(value, dict):
            show(what, value, indent + "  ")
        elif isinstance(value, float):
            print(f"{indent}  {what:28} {value:,.3f}")
        else:
            print(
                f"{indent}  {what:28} {value:,}" if isinstance(value, int) else f"{indent}  {what:28} {value}"
            )


def show_rows(rows: dict[str, dict[str, Any]]) -> None:
    """Print a table of methods or decisions."""
    names = (
        ("candidates", 11),
        ("valid", 7),
        ("rate", 7),
        ("reduced", 9),
        ("to one", 8),
        ("lost", 7),
        ("s", 7),
    )
    print(" " * 30 + "".join(f"{name:>{wide}}" for name, wide in names))
    for name, row in rows.items():
        shares = "".join(
            f"{row[what]:>{wide}.1%}" for what, wide in (("rate", 7), ("reduced", 9), ("to one", 8))
        )
        said = f"{name:30} {row['candidates']:>10,} {row['valid']:>6,}{shares}"
        print(f"{said}{row['lost']:>7.2%}{row.get('seconds', 0):>7.1f}")
        for max_fpr, swept in row.get("sweep", {}).items():
            print(
                f"  fpr_max {max_fpr:<20} {'':>10} {swept['valid']:>6,}{'':7}{swept['reduced']:>9.1%}", end=""
            )
            print(f"{swept['to one']:>8.1%}{swept['lost']:>7.2%}")
    for name, (candidates, valid, rate, reduced) in PUBLISHED.items():
        if name in rows:
            said = "" if reduced is None else f"{reduced:>9.1%}"
            print(f"{'published, ' + name:30} {candidates:>10,} {valid:>6,}{rate:>7.1%}{said}")


def main() -> None:
    """Run the parts that were asked for; fail if a bound was not kept."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; without any, {BY_DEFAULT[0]}")
    ask.add_argument("--urls", type=int, default=3_000, help="of each site, for table and decisions")
    ask.add_argument("--clusters", type=int, default=100_000, help="for speed")
    ask.add_argument("--compared", type=int, default=20, help="clusters for the oracle")
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    if unknown := set(told.parts) - set(PARTS):
        ask.error(f"there is no part called {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    work = {
        "speed": lambda: speed(told.clusters, told.compared),
        "growth": lambda: growth(told.clusters // 4),
        "giant": lambda: giant(300_000),
        "aligners": lambda: aligners(told.clusters // 10),
        "table": lambda: table(told.urls),
        "decisions": lambda: decisions(told.urls),
    }
    figures: dict[str, Any] = {part: work[part]() for part in told.parts or BY_DEFAULT}
    if told.json:
        print(json.dumps(figures))
    else:
        print(machine())
        for name, part in figures.items():
            show_rows(part) if name in {"table", "decisions"} else show(name, part)
    _fail_if_missed(figures)


def _fail_if_missed(figures: dict[str, Any]) -> None:
    if "speed" in figures and figures["speed"]["times"] < FASTER:
        sys.exit(f"only {figures['speed']['times']:.1f} times the oracle")
    if "growth" in figures and figures["growth"]["time"] > SLOWER:
        sys.exit(f"four times the URLs take {figures['growth']['time']:.1f} × the time")
    if "giant" in figures and figures["giant"]["peak bytes"] > GIANT_BYTES:
        sys.exit(f"the giant cluster took {figures['giant']['peak bytes']:,} bytes")


if __name__ == "__main__":
    main()
