"""Tables 3 to 7 of Dasgupta, Kumar and Sasturkar on generated sites, beside what they print.

As in the paper: URLs without a duplicate are left out; clusters fall into training and test by the toss of
a coin; R1 is learned from clusters of 2 to 9 URLs, R2 from larger ones, R3 is both, all with a fan-out of
10, and R4 is R3 with 30. The reduction of rules on URLs is one less the share of different keys left.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

import undust
from bench.sites import KINDS, site
from undust.learners.rewrite import RewriteOptions, learn_from
from undust.learners.rewrite.maps import Maps, hashes_of, maps_of, offsets_of, spans
from undust.learners.rewrite.measures import Sites, measure
from undust.learners.rewrite.qualified import Qualified, Wanted
from undust.learners.rewrite.wording import Wording, entries_of
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    """A rule, its class, and its false positives on the test half."""

    rule: Rule
    kind: RuleClass
    fpr: float


class Half:
    """One site as the paper takes it: without single URLs, in two halves, clusters small and large."""

    def __init__(self, kind: str, urls: int) -> None:
        truth = site(kind, urls, seed=1).truth()
        table = pa.table({"url": truth["url"], "cluster": truth["page"].cast(pa.string())})
        found = undust.find_duplicates(table).sites[0]
        self.name = found.site
        every = maps_of(found)
        sizes = np.bincount(every.clusters)[every.clusters]
        self.maps = part(every, sizes > 1)
        self.urls = found.node_urls.take(pa.array(self.maps.nodes))
        self.is_small = sizes[sizes > 1] <= SMALL
        self.is_test = hashes_of(self.maps.clusters, 7, 7) % np.uint64(2) == 1

    def learned(self, fanout: int, chosen: Bools) -> list[Said]:
        """Return what is learned from some of the training half."""
        options = RewriteOptions(fanout=fanout)
        learned = learn_from(part(self.maps, chosen & ~self.is_test), options)
        kept = Qualified.of(learned, Wanted(2, 1.0, is_typed=False, is_measured=False))
        fpr = measure(Sites(part(self.maps, self.is_test)), kept.rules).fpr
        words = Wording(self.name, learned.maps, learned.pairs, options.constant_share)
        said: dict[str, Said] = {}
        for at in sorted(kept.general, key=lambda at: (fpr[at], -kept.measured.same[at], at)):
            entries = entries_of(kept.rules, at)
            rule = words.rule(entries, kept.support(at))
            if rule is not None:
                said.setdefault(str(rule), Said(rule, words.rule_class(entries), float(fpr[at])))
        return list(said.values())

    def left(self, rules: Iterable[Said], chosen: Bools) -> tuple[int, int]:
        """Return how many URLs there are among the chosen, and how many are left by their keys."""
        urls = self.urls.take(pa.array(np.flatnonzero(chosen)))
        keys = RuleSet([each.rule for each in rules]).compile().batch(urls, keys=True)
        return len(urls), len(keys.unique())


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


def tables(urls: int) -> dict[str, Any]:
    """Return our figures and theirs, name by name."""
    sums = Sums()
    for kind in KINDS:
        _add(sums, Half(kind, urls))
    ours: dict[str, Any] = {
        "R3 on test": sums.reduction("R3 test"),
        "R3 on training and test": sums.reduction("R3 all"),
        "R1 on clusters of 2 to 9": sums.reduction("R1 small"),
        "R1 on larger clusters": sums.reduction("R1 large"),
        "R1, share of DUST": sums.share("R1", "DUST"),
        "R2, share of IRP and REGX": sums.share("R2", "IRP", "REGX"),
    }
    for kinds in ("DUST", "IRP"):
        parts = tuple(sums.reduction(f"{kinds} {which}") for which in ("small", "large", "all"))
        ours[f"{kinds} on small, large, all"] = parts
    ours["rules with fan-out 10, 30"] = (sums.rules["R3"], sums.rules["R4"])
    for percent in (5, 10, 20):
        for name, fanout in (("R3", 10), ("R4", 30)):
            found = (sums.rules[f"{name} {percent}"], sums.reduction(f"{name} {percent}"))
            ours[f"fpr <= {percent} %, fan-out {fanout}: rules, reduction"] = found
    theirs = {name: PUBLISHED.get(name, "not to be had") for name in ours}
    return {name: {"ours": _short(value), "paper": _short(theirs[name])} for name, value in ours.items()}


def _add(sums: Sums, half: Half) -> None:
    everywhere = np.ones(len(half.maps), np.bool_)
    small, large = half.is_small, ~half.is_small
    sets = {
        "R1": half.learned(10, small),
        "R2": half.learned(10, large),
        "R4": half.learned(30, small) + half.learned(30, large),
    }
    sets = {name: _once(rules) for name, rules in sets.items()}
    sets["R3"] = _once([*sets["R1"], *sets["R2"]])
    for name, rules in sets.items():
        sums.rules[name] += len(rules)
        sums.rules.update(f"{name} {each.kind}" for each in rules)
    sums.add("R3 test", half.left(sets["R3"], half.is_test))
    sums.add("R3 all", half.left(sets["R3"], everywhere))
    sums.add("R1 small", half.left(sets["R1"], small))
    sums.add("R1 large", half.left(sets["R1"], large))
    for kind in ("DUST", "IRP"):
        of_kind = [each for each in sets["R3"] if each.kind == kind]
        for which, chosen in (("small", small), ("large", large), ("all", everywhere)):
            sums.add(f"{kind} {which}", half.left(of_kind, chosen))
    for name in ("R3", "R4"):
        for percent in (5, 10, 20):
            good = [each for each in sets[name] if each.fpr <= percent / 100]
            sums.rules[f"{name} {percent}"] += len(good)
            sums.add(f"{name} {percent}", half.left(good, everywhere))


def _once(rules: list[Said]) -> list[Said]:
    found: dict[str, Said] = {}
    for each in sorted(rules, key=lambda each: each.fpr):
        found.setdefault(str(each.rule), each)
    return list(found.values())


def _short(value: Any) -> str:  # noqa: ANN401 -- a share, a count, or several
    if isinstance(value, tuple):
        return ", ".join(map(_short, value))
    return f"{value:.0%}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
