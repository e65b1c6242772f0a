"""Judge learning and clustering on archived pages of real sites, and pages that look alike but are not one.

    python -m bench.raw.judge                      all sites under three seeds
    python -m bench.raw.judge hms freetz --seeds 0 two sites, one half
    python -m bench.raw.judge --method edits       another learner
    python -m bench.raw.judge --alike              different pages that look alike: how many are merged

removed and lost are those of pages that were not seen in learning, by key. Recall and precision are those of
the clusters of the seen half, a page with n URLs counting n - 1 times. The sites are in the folder `raw` of
the real data (UNDUST_DATA).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import undust
from bench.raw.alike import print_alike
from bench.raw.sites import LabelledArchive, archives
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIGURES = ("removed", "lost", "recall", "precision")


def judged(archive: LabelledArchive, seed: int, method: str) -> dict[str, float]:
    """Return the figures of one site."""
    seen, unseen = archive.half(seed)
    key = undust.learn(seen, methods=method).compile().key
    removed, lost = removed_and_lost([(page, key(url)) for url, page in unseen.items()])
    (site,) = sorted(undust.find_duplicates(seen), key=lambda each: -len(each.urls))[:1]
    cluster = dict(zip(map(normalize, site.urls.to_pylist()), site.cluster.tolist(), strict=True))
    known = {url: archive.page_of[url] for url in cluster if url in archive.page_of}
    clusters = {url: str(cluster[url]) for url in known}
    return {
        "removed": removed,
        "lost": lost,
        "recall": share_joined(known, clusters),
        "precision": share_joined(clusters, known),
    }


def removed_and_lost(urls: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Return the share of duplicates removed and of pages lost, from the page and the key of each URL.

    >>> removed_and_lost([("a", "x"), ("a", "x"), ("a", "y"), ("b", "y")])
    (0.5, 0.5)
    """
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for page, key in urls:
        groups[key][page] += 1
    pages = len({page for page, _ in urls})
    lost = sum(len(group) - 1 for group in groups.values())
    duplicates = len(urls) - pages
    return max(0, len(urls) - len(groups) - lost) / max(duplicates, 1), lost / max(pages, 1)


def share_joined(group: Mapping[str, str], by: Mapping[str, str]) -> float:
    """Return which share of the links from the first URL of each group to its others `by` has too.

    >>> share_joined({"a": "1", "b": "1", "c": "1"}, {"a": "x", "b": "x", "c": "y"})
    0.5
    """
    first: dict[str, str] = {}
    links = [(first[page], url) for url, page in group.items() if first.setdefault(page, url) != url]
    return sum(by[one] == by[other] for one, other in links) / len(links) if links else 1.0


def main() -> None:
    """Judge, and print a table."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.raw.judge",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("sites", nargs="*", metavar="SITE")
    ask.add_argument("--seeds", nargs="*", type=int, default=[0, 1, 2])
    ask.add_argument("--method", default="undust", help="the learner")
    ask.add_argument("--alike", action="store_true", help="different pages that look alike instead")
    told = ask.parse_args()
    found = list(archives(told.sites))
    if not found:
        sys.exit("there are no archived sites; name the folder of real data in UNDUST_DATA")
    if told.alike:
        sys.exit(print_alike(found))
    print(f"| seed | site | {' | '.join(FIGURES)} |\n| ---: | --- |{' ---: |' * len(FIGURES)}")
    means = []
    for seed in told.seeds:
        rows = {archive.name: judged(archive, seed, told.method) for archive in found}
        rows["mean"] = {name: sum(row[name] for row in rows.values()) / len(rows) for name in FIGURES}
        means.append(rows["mean"])
        for site, row in rows.items():
            print(f"| {seed} | {site} | {_cells(row)} |", flush=True)
    total = {name: sum(row[name] for row in means) / len(means) for name in FIGURES}
    print(f"| all | mean | {_cells(total)} |")


def _cells(row: Mapping[str, float]) -> str:
    return " | ".join(f"{row[name]:.2%}" for name in FIGURES)


if __name__ == "__main__":
    main()
