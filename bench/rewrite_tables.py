"""Tables 3 to 7 of Dasgupta, Kumar and Sasturkar on generated and real sites, beside what they print.

As in the paper: URLs without a duplicate are left out; clusters fall into training and test by the toss of
a coin; R1 is learned from clusters of 2 to 9 URLs, R2 from larger ones, R3 is both, all with a fan-out of
10, and R4 is R3 with 30. The reduction of rules on URLs is one less the share of different keys left.
"""

from __future__ import annotations

import gzip
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from bench.common import data_folder
from bench.rewrite_halves import Halves
from bench.sites import site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CLASSES = ("DUST", "IRP", "REGX")
SUPPORTS = (2, 10, 30)
"""Bounds on the support that show what the share of classes depends on."""
PUBLISHED = {
    "R3 on test": 0.55,
    "R3 on training and test": 0.60,
    "R1 on clusters of 2 to 9": 0.33,
    "R1 on larger clusters": 0.16,
    "R1, share of DUST": 0.81,
    "R2, share of IRP and REGX": 0.91,
    "DUST on small, large, all": (0.29, 0.14, 0.22),
    "IRP on small, large, all": (0.41, 0.56, 0.48),
    "rules with fan-out 10, 30": (240_260, 31_363),
    "fpr <= 5 %, fan-out 10: rules, reduction": (166_000, 0.21),
    "fpr <= 5 %, fan-out 30: rules, reduction": (21_000, 0.16),
    "sites, URLs": (360, 7_800_000),
}


class Sums:
    """Counts of all sites together."""

    def __init__(self) -> None:
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()

    def add(self, name: str, counts: tuple[int, int]) -> None:
        """Add URLs before and after."""
        self.before[name] += counts[0]
        self.after[name] += counts[1]

    def reduction(self, name: str) -> float:
        """Return one less what is left."""
        return 1 - self.after[name] / self.before[name] if self.before[name] else 0.0

    def share(self, name: str, *kinds: str) -> float:
        """Return the share of classes in a set of rules."""
        return sum(self.rules[f"{name} {kind}"] for kind in kinds) / max(1, self.rules[name])


def tables(urls: int, kinds: Iterable[str]) -> dict[str, Any]:
    """Return figures of generated sites, of real ones if they are there, and the published ones."""
    columns = {"generated": figures(Halves(labels) for labels in generated(kinds, urls))}
    if any(True for _ in real()):
        columns["real"] = figures(Halves(labels) for labels in real())
    names = columns["generated"]
    columns["paper"] = {name: PUBLISHED.get(name, "not published") for name in names}
    return {name: {column: in_words(values[name]) for column, values in columns.items()} for name in names}


def generated(kinds: Iterable[str], urls: int) -> Iterator[pa.Table]:
    """Yield the URLs of a site of each kind and the page of each."""
    for kind in kinds:
        truth = site(kind, urls, seed=1).truth()
        yield pa.table({"url": truth["url"], "cluster": truth["page"].cast(pa.string())})


def real() -> Iterator[pa.Table]:
    """Yield the same of the real crawls, if there is the folder with them."""
    for path in sorted(data_folder().glob("crawls/*.labels.tsv.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            next(lines)
            rows = [line.rstrip("\n").split("\t") for line in lines]
        yield pa.table({"url": [url for url, _ in rows], "cluster": [page for _, page in rows]})


def figures(halves: Iterable[Halves]) -> dict[str, Any]:
    """Return the figures of the tables for some sites together, and what explains them."""
    counts = Sums()
    for half in halves:
        _add(counts, half)
    ours: dict[str, Any] = {
        "R3 on test": counts.reduction("R3 test"),
        "R3 on training and test": counts.reduction("R3 all"),
        "R1 on clusters of 2 to 9": counts.reduction("R1 small"),
        "R1 on larger clusters": counts.reduction("R1 large"),
        "R1, share of DUST": counts.share("R1", "DUST"),
        "R2, share of IRP and REGX": counts.share("R2", "IRP", "REGX"),
    }
    for name in ("R1", "R2", "R3"):
        ours[f"{name}, shares of DUST, IRP, REGX"] = tuple(counts.share(name, kind) for kind in CLASSES)
    for kind in CLASSES:
        parts = tuple(counts.reduction(f"{kind} {which}") for which in ("small", "large", "all"))
        ours[f"{kind} on small, large, all"] = parts
    ours["rules with fan-out 10, 30"] = (counts.rules["R3"], counts.rules["R4"])
    for percent in (5, 10, 20):
        for name, fanout in (("R3", 10), ("R4", 30)):
            found = (counts.rules[f"{name} {percent}"], counts.reduction(f"{name} {percent}"))
            ours[f"fpr <= {percent} %, fan-out {fanout}: rules, reduction"] = found
    for kind in CLASSES:
        ours[f"fpr <= 5 %, fan-out 10: {kind} alone"] = counts.reduction(f"{kind} 5")
    shares = tuple(counts.share(f"R1 of {least}", "DUST") for least in SUPPORTS)
    ours[f"R1, share of DUST with minS {', '.join(map(str, SUPPORTS))}"] = shares
    ours["sites, URLs"] = (counts.rules["sites"], counts.before["R3 all"])
    ours["duplicates among these"] = counts.reduction("pages")
    ours["URLs in small clusters"] = counts.before["R1 small"] / max(1, counts.before["R3 all"])
    ours["R3, rules that can be fetched"] = counts.rules["R3 to fetch"] / max(1, counts.rules["R3"])
    ours["R3, rules one after the other"] = counts.reduction("R3 in a row")
    return ours


def _add(counts: Sums, half: Halves) -> None:
    everywhere = np.ones(len(half.maps), np.bool_)
    small, large = half.is_small, ~half.is_small
    sets = half.learn_all()
    known = half.learned(10, small, min(SUPPORTS))
    for least in SUPPORTS:
        sets[f"R1 of {least}"] = [each for each in known if each.support >= least]
    for name, rules in sets.items():
        counts.rules[name] += len(rules)
        counts.rules.update(f"{name} {each.kind}" for each in rules)
    counts.rules.update({"sites": 1, "R3 to fetch": sum(each.can_fetch for each in sets["R3"])})
    counts.add("pages", (len(half.maps), len(np.unique(half.maps.clusters))))
    counts.add("R3 in a row", half.left_in_a_row(sets["R3"]))
    counts.add("R3 test", half.left(sets["R3"], half.is_test))
    counts.add("R3 all", half.left(sets["R3"], everywhere))
    counts.add("R1 small", half.left(sets["R1"], small))
    counts.add("R1 large", half.left(sets["R1"], large))
    for kind in CLASSES:
        of_kind = [each for each in sets["R3"] if each.kind == kind]
        for which, chosen in (("small", small), ("large", large), ("all", everywhere)):
            counts.add(f"{kind} {which}", half.left(of_kind, chosen))
        counts.add(f"{kind} 5", half.left(half.within(of_kind, 0.05), everywhere))
    for name in ("R3", "R4"):
        for percent in (5, 10, 20):
            good = half.within(sets[name], percent / 100)
            counts.rules[f"{name} {percent}"] += len(good)
            counts.add(f"{name} {percent}", half.left(good, everywhere))


def in_words(value: Any) -> str:  # noqa: ANN401 -- a share, a count, or several
    """Return a figure as it is printed."""
    if isinstance(value, tuple):
        return ", ".join(map(in_words, value))
    return f"{value:.0%}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
