"""Tables 3 to 7 of Dasgupta, Kumar and Sasturkar on generated and real sites, beside what they print.

As in the paper: URLs without a duplicate are left out; clusters fall into training and test by the toss of
a coin; R1 is learned from clusters of 2 to 9 URLs, R2 from larger ones, R3 is both, all with a fan-out of
10, and R4 is R3 with 30. The reduction of rules on URLs is one less the share of different keys left.
"""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

import undust
from bench.common import data_folder
from bench.sites import site
from undust import _core
from undust.learners.rewrite import RewriteOptions, learn_from
from undust.learners.rewrite.maps import Maps, hashes_of, maps_of, offsets_of, spans, sums
from undust.learners.rewrite.measures import Sites, measure
from undust.learners.rewrite.qualified import Qualified, Wanted
from undust.learners.rewrite.wording import Wording, entries_of
from undust.rules import RuleSet
from undust.selection import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from undust.learners.rewrite.wording import RuleClass
    from undust.rules import Rule

    Bools = NDArray[np.bool_]

SMALL = 9
"""Up to so many URLs a cluster is small."""
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
}


class Said(NamedTuple):
    """A rule, its class, and its false positives on the test half, if it has pairs there at all."""

    rule: Rule
    kind: RuleClass
    fpr: float
    is_tested: bool


class Half:
    """One site as the paper takes it: without single URLs, in two halves, clusters small and large."""

    def __init__(self, labelled: pa.Table) -> None:
        found = max(undust.find_duplicates(labelled).sites, key=lambda each: len(each.node_urls))
        found = found.keeps(found.sizes > 1)
        self.name = found.site
        self.maps = maps_of(found)
        self.measured = Measured(found)
        nodes = np.flatnonzero(found.cluster_of_node >= 0)
        self.rows = np.searchsorted(nodes, self.maps.nodes)
        self.is_small = np.bincount(self.maps.clusters)[self.maps.clusters] <= SMALL
        self.is_test = hashes_of(self.maps.clusters, 7, 7) % np.uint64(2) == 1

    def learned(self, fanout: int, chosen: Bools) -> list[Said]:
        """Return what is learned from some of the training half."""
        options = RewriteOptions(fanout=fanout)
        learned = learn_from(part(self.maps, chosen & ~self.is_test), options)
        kept = Qualified.of(learned, Wanted(2, 1.0, is_typed=False, is_measured=False))
        on_test = measure(Sites(part(self.maps, self.is_test)), kept.rules)
        words = Wording(self.name, learned.maps, learned.pairs, options.constant_share)
        said: dict[str, Said] = {}
        for at in sorted(kept.general, key=lambda at: (on_test.fpr[at], -kept.measured.same[at], at)):
            entries = entries_of(kept.rules, at)
            rule = words.rule(entries, kept.support(at))
            if rule is not None:
                found = Said(rule, words.rule_class(entries), float(on_test.fpr[at]), on_test.pairs[at] > 0)
                said.setdefault(str(rule), found)
        return list(said.values())

    def learn_all(self) -> dict[str, list[Said]]:
        """Return the rule sets of the paper, and remember what each rule does."""
        small, large = self.is_small, ~self.is_small
        sets = {
            "R1": self.learned(10, small),
            "R2": self.learned(10, large),
            "R4": [*self.learned(30, small), *self.learned(30, large)],
        }
        sets["R3"] = [*sets["R1"], *sets["R2"]]
        sets = {name: _once(rules) for name, rules in sets.items()}
        every = {str(each.rule): each.rule for rules in sets.values() for each in rules}
        images = self.measured.images([[rule] for rule in every.values()])
        self.images = dict(zip(every, images, strict=True))
        return sets

    def left(self, rules: Iterable[Said], chosen: Bools) -> tuple[int, int]:
        """Return how many URLs there are among the chosen, and how many when those of one image are one.

        The paper does not say in which order rules are applied, and rules that lead to and fro undo each
        other in any order: so a URL and what becomes of it under any rule count as one.
        """
        done = [self.images[str(each.rule)] for each in rules]
        is_chosen = np.zeros(len(self.measured.urls), np.bool_)
        is_chosen[self.rows[chosen]] = True
        rows = np.concatenate([np.zeros(0, np.int64), *(each[0] for each in done)])
        image = np.concatenate([np.zeros(0, np.int64), *(each[1] for each in done)])
        rows, image = rows[is_chosen[rows]], image[is_chosen[rows]]
        count = max(len(is_chosen), int(image.max(initial=0)) + 1)
        part = pa.array(_core.components(rows, image, count)).to_numpy()
        return int(is_chosen.sum()), len(np.unique(part[: len(is_chosen)][is_chosen]))

    def left_in_a_row(self, rules: Iterable[Said]) -> tuple[int, int]:
        """Return the same for all URLs where rules are applied one after the other, the best first."""
        keys = RuleSet([each.rule for each in rules]).compile().batch(self.measured.urls, keys=True)
        return len(keys), len(keys.unique())

    def in_lines(self, least: int) -> int:
        """Return how many URLs differ from so many, itself counted, of their page at one key only."""
        hashes = hashes_of(self.maps.keys, self.maps.values, 0)
        lengths = np.diff(self.maps.offsets)
        row = np.repeat(np.arange(len(lengths)), lengths)
        residual = sums(hashes, self.maps.offsets)[row] - hashes
        residual += hashes_of(self.maps.keys, self.maps.clusters[row], 1)
        _, place, count = np.unique(residual, return_inverse=True, return_counts=True)
        return len(np.unique(row[count[place.reshape(-1)] >= least]))


def part(maps: Maps, kept: Bools) -> Maps:
    """Return some rows of maps."""
    rows = np.flatnonzero(kept)
    lengths = np.diff(maps.offsets)[rows]
    entries = spans(maps.offsets[rows], lengths)
    return replace(
        maps,
        offsets=offsets_of(lengths),
        keys=maps.keys[entries],
        values=maps.values[entries],
        nodes=maps.nodes[rows],
        clusters=maps.clusters[rows],
        known=maps.known[rows],
    )


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
        return 1 - self.after[name] / max(1, self.before[name])

    def share(self, name: str, *kinds: str) -> float:
        """Return the share of classes in a set of rules."""
        return sum(self.rules[f"{name} {kind}"] for kind in kinds) / max(1, self.rules[name])


def tables(urls: int, kinds: Iterable[str]) -> dict[str, Any]:
    """Return figures of generated sites, of real ones if they are there, and the published ones."""
    columns = {"generated": figures(Half(labels) for labels in generated(kinds, urls))}
    if any(True for _ in real()):
        columns["real"] = figures(Half(labels) for labels in real())
    names = columns["generated"]
    columns["paper"] = {name: PUBLISHED.get(name, "not to be had") for name in names}
    return {name: {column: _short(values[name]) for column, values in columns.items()} for name in names}


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


def figures(halves: Iterable[Half]) -> dict[str, Any]:
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
    for kinds in ("DUST", "IRP"):
        parts = tuple(counts.reduction(f"{kinds} {which}") for which in ("small", "large", "all"))
        ours[f"{kinds} on small, large, all"] = parts
    ours["rules with fan-out 10, 30"] = (counts.rules["R3"], counts.rules["R4"])
    for percent in (5, 10, 20):
        for name, fanout in (("R3", 10), ("R4", 30)):
            found = (counts.rules[f"{name} {percent}"], counts.reduction(f"{name} {percent}"))
            ours[f"fpr <= {percent} %, fan-out {fanout}: rules, reduction"] = found
    ours["sites, URLs"] = (counts.rules["sites"], counts.before["R3 all"])
    ours["duplicates among these"] = counts.reduction("pages")
    ours["URLs in small clusters"] = counts.before["R1 small"] / max(1, counts.before["R3 all"])
    ours["URLs in lines of 11, of 31"] = (counts.reduction("lines of 11"), counts.reduction("lines of 31"))
    ours["R3, rules with pairs on test"] = counts.rules["R3 tested"] / max(1, counts.rules["R3"])
    ours["R3, rules one after the other"] = counts.reduction("R3 in a row")
    return ours


def _add(counts: Sums, half: Half) -> None:
    everywhere = np.ones(len(half.maps), np.bool_)
    small, large = half.is_small, ~half.is_small
    sets = half.learn_all()
    for name, rules in sets.items():
        counts.rules[name] += len(rules)
        counts.rules.update(f"{name} {each.kind}" for each in rules)
    counts.rules.update({"sites": 1, "R3 tested": sum(each.is_tested for each in sets["R3"])})
    counts.add("pages", (len(half.maps), len(np.unique(half.maps.clusters))))
    for least in (11, 31):
        counts.add(f"lines of {least}", (len(half.maps), len(half.maps) - half.in_lines(least)))
    counts.add("R3 in a row", half.left_in_a_row(sets["R3"]))
    counts.add("R3 test", half.left(sets["R3"], half.is_test))
    counts.add("R3 all", half.left(sets["R3"], everywhere))
    counts.add("R1 small", half.left(sets["R1"], small))
    counts.add("R1 large", half.left(sets["R1"], large))
    for kind in ("DUST", "IRP"):
        of_kind = [each for each in sets["R3"] if each.kind == kind]
        for which, chosen in (("small", small), ("large", large), ("all", everywhere)):
            counts.add(f"{kind} {which}", half.left(of_kind, chosen))
    for name in ("R3", "R4"):
        for percent in (5, 10, 20):
            good = [each for each in sets[name] if each.fpr <= percent / 100]
            counts.rules[f"{name} {percent}"] += len(good)
            counts.add(f"{name} {percent}", half.left(good, everywhere))


def _once(rules: list[Said]) -> list[Said]:
    found: dict[str, Said] = {}
    for each in sorted(rules, key=lambda each: each.fpr):
        found.setdefault(str(each.rule), each)
    return list(found.values())


def _short(value: Any) -> str:  # noqa: ANN401 -- a share, a count, or several
    if isinstance(value, tuple):
        return ", ".join(map(_short, value))
    return f"{value:.0%}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
