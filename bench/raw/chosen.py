"""Limits of the clustering, chosen on some archived sites and judged on the others.

    python -m bench.raw.chosen               every way to choose on half of the sites
    python -m bench.raw.chosen --seed 1      with other halves of the pages

A limit that was chosen with all sites in view may fit them and no others. So each way of halving the sites
chooses the title's share and the share of twins on one half (the best recall among those with a precision of
at least 97 %; the best precision if there is none), and is judged on the other. Beside it: the limits as
shipped.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

import undust
from bench.raw.judge import share_joined
from bench.raw.sites import archives
from undust.pages.clustering import near_copies
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.raw.sites import LabelledArchive

TITLES = (0.8, 0.9, 1.0)
TWINS = (0.3, 0.5, 0.7)
LEAST_PRECISION = 0.97


class Limits(NamedTuple):
    """What is chosen."""

    title: float
    twins: float


class Joined(NamedTuple):
    """How well the clusters of a site, or of several on the mean, agree with its labels."""

    recall: float
    precision: float


def shipped() -> Limits:
    """Return the limits that undust has; of limits that do equally well, these are chosen."""
    return Limits(near_copies.TITLE, near_copies.TWINS)


def clustered(archive: LabelledArchive, seed: int, limits: Limits) -> Joined:
    """Cluster half of the pages of a site under some limits."""
    seen, _ = archive.half(seed)
    with (
        mock.patch.object(near_copies, "TITLE", limits.title),
        mock.patch.object(near_copies, "TWINS", limits.twins),
    ):
        (site,) = sorted(undust.find_duplicates(seen), key=lambda each: -len(each.urls))[:1]
    cluster = dict(zip(map(normalize, site.urls.to_pylist()), map(str, site.cluster.tolist()), strict=True))
    known = {url: archive.page_of[url] for url in cluster if url in archive.page_of}
    clusters = {url: cluster[url] for url in known}
    return Joined(share_joined(known, clusters), share_joined(clusters, known))


def mean(each: Sequence[Joined]) -> Joined:
    """Return the mean of several sites.

    >>> mean([Joined(1.0, 0.5), Joined(0.5, 0.5)])
    Joined(recall=0.75, precision=0.5)
    """
    return Joined(*(sum(values) / len(each) for values in zip(*each, strict=True)))


def best(seen: dict[Limits, dict[str, Joined]], sites: Sequence[str]) -> Limits:
    """Return the limits that do best on some sites.

    >>> seen = {Limits(1, 1): {"a": Joined(0.5, 0.99)}, Limits(0, 0): {"a": Joined(0.9, 0.5)}}
    >>> best(seen, ["a"])
    Limits(title=1, twins=1)
    """

    def worth(limits: Limits) -> tuple[bool, float, float, bool]:
        found = mean([seen[limits][site] for site in sites])
        is_precise = found.precision >= LEAST_PRECISION
        is_shipped = limits == shipped()
        return is_precise, found.recall if is_precise else found.precision, found.precision, is_shipped

    return max(seen, key=worth)


def main() -> None:
    """Cluster under all limits, and print a table."""
    ask = argparse.ArgumentParser(
        prog="python -m bench.raw.chosen",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    ask.add_argument("--seed", type=int, default=0)
    told = ask.parse_args()
    found = list(archives([]))
    if not found:
        sys.exit("there are no archived sites; name the folder of real data in UNDUST_DATA")
    names = [archive.name for archive in found]
    seen: dict[Limits, dict[str, Joined]] = {}
    print("| title | twins | recall | precision |\n| ---: | ---: | ---: | ---: |")
    for limits in itertools.starmap(Limits, itertools.product(TITLES, TWINS)):
        seen[limits] = {archive.name: clustered(archive, told.seed, limits) for archive in found}
        all_sites = mean(list(seen[limits].values()))
        print(f"| {limits.title} | {limits.twins} | {_cells(all_sites)} |", flush=True)

    chosen, fixed, picks = [], [], []
    for sites in itertools.combinations(names, len(names) // 2):
        others = [name for name in names if name not in sites]
        picks.append(best(seen, sites))
        chosen.append(mean([seen[picks[-1]][name] for name in others]))
        fixed.append(mean([seen[shipped()][name] for name in others]))
    print(f"\n{len(picks)} ways to choose on half of the sites, judged on the others\n")
    print("| limits | recall | precision | worst recall | worst precision |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, rows in (("chosen on the other half", chosen), ("as shipped", fixed)):
        worst = Joined(*(min(values) for values in zip(*rows, strict=True)))
        print(f"| {name} | {_cells(mean(rows))} | {_cells(worst)} |")
    share = sum(pick == shipped() for pick in picks) / len(picks)
    print(f"\nThe choice is the shipped pair in {share:.0%} of the ways.")


def _cells(row: Joined) -> str:
    return " | ".join(f"{value:.1%}" for value in row)


if __name__ == "__main__":
    main()
