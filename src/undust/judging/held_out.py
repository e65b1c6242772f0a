"""Against clusters that the learner never saw: each candidate is run over the URLs that were held out.

A candidate is compiled and run by the core, as it would be deployed; URLs with one image are compared by
what is known of their pages. Two URLs of one cluster are support; the main page of an image is the one
with most URLs, and whatever else lies under it was lost, unless it is a near copy. Where it is undecided,
nothing is counted for the candidate, and nothing against it.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.judging.verdict import Candidate, Verdict, VerdictLimits
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import SiteClusters
    from undust.rules import Canonicalizer, Rule

    Ints = NDArray[np.int64]

_DIFFERENT = -1
_EXAMPLES = 3
"""Kept of each candidate."""
PAIRS_AT_ONCE = 1 << 24
"""Of rules and URLs at most, if every rule changes every URL."""
IMAGES_AT_ONCE = 1 << 18
PROBED = 8
"""URLs that show whether a candidate grows without end."""


def prove_site(
    candidates: Sequence[Candidate],
    held_out: SiteClusters,
    demands: VerdictLimits | None = None,
    threads: int = 1,
) -> tuple[Verdict, ...]:
    """Return the verdict on each candidate of one site, in their order."""
    data = HeldOut(held_out, threads)
    return tuple(verdict.under(demands or VerdictLimits()) for verdict in data.measured(candidates))


class Together(NamedTuple):
    """What a whole set of rules does."""

    verdict: Verdict
    troubled: Ints
    """URLs, as places, under an image with a page that is lost."""
    endless: int
    """URLs that the rules would change without end, so that they are left as they are …"""
    unmoved: Ints
    """… and as places all that are, though some rule by itself changes them."""


class HeldOut:
    """The URLs of one site that no learner saw, ready to try many candidates on."""

    def __init__(self, site: SiteClusters, threads: int = 1) -> None:
        self.site = site
        self.threads = threads
        self.nodes = np.flatnonzero(site.cluster_of_node >= 0)
        self.urls = site.node_urls.take(pa.array(self.nodes))
        self.clusters = site.cluster_of_node[self.nodes]
        self.tells = site.known[site.speakers][self.nodes]

    def measured(self, candidates: Sequence[Candidate]) -> Iterator[Verdict]:
        """Yield what each candidate does to these URLs, not yet judged by any demand."""
        together = max(1, PAIRS_AT_ONCE // max(1, len(self.urls)))
        for start in range(0, len(candidates), together):
            some = candidates[start : start + together]
            for batch in self._batches(some, self._touched(some)):
                yield from self._verdicts(batch)

    def together(self, rules: Sequence[Rule]) -> Together:
        """Return what a set does to these URLs, with all its rules at work."""
        whole = Candidate(tuple({rule.id: rule for rule in rules}.values()), 0, "pairs")
        (rows,) = self._touched([whole])
        urls = self.urls.take(pa.array(rows))
        images, counts = RuleSet(whole.rules).compile().counted_batch(urls, keys=True, threads=self.threads)
        merged = self._merged(rows, self._codes(images))
        verdict = self._verdict(whole, rows, images, merged)
        return Together(verdict, merged.troubled, counts.unresolved, rows[~merged.is_moved])

    def only(self, rows: Ints) -> HeldOut:
        """Return some of these URLs, by their places."""
        some = copy(self)
        some.nodes, some.clusters, some.tells = self.nodes[rows], self.clusters[rows], self.tells[rows]
        some.urls = self.urls.take(pa.array(rows))
        return some

    def at_work(self, rules: Sequence[Rule]) -> Ints:
        """Return the number of a rule for each of these URLs that it changes by itself."""
        place = {rule.id: number for number, rule in reversed(list(enumerate(rules)))}
        once = [rule for number, rule in enumerate(rules) if place[rule.id] == number]
        _, numbers = RuleSet(once).compile().touched(self.urls, threads=self.threads)
        places: Ints = np.array([place[rule.id] for rule in once], np.int64)
        return places[np.asarray(numbers, np.int64)]

    def _touched(self, candidates: Sequence[Candidate]) -> Iterator[Ints]:
        """Yield for each candidate the URLs that one of its rules changes; most touch a few only."""
        rules = list({rule.id: rule for candidate in candidates for rule in candidate.rules}.values())
        place = {rule.id: number for number, rule in enumerate(rules)}
        rows, numbers = RuleSet(rules).compile().touched(self.urls, threads=self.threads)
        order = np.argsort(numbers.to_numpy(), kind="stable")
        by_rule = rows.to_numpy()[order]
        ends = np.searchsorted(numbers.to_numpy()[order], np.arange(len(rules) + 1))
        for candidate in candidates:
            places = [place[rule.id] for rule in candidate.rules]
            parts = [by_rule[ends[number] : ends[number + 1]] for number in places]
            yield parts[0] if len(parts) == 1 else np.unique(np.concatenate([by_rule[:0], *parts]))

    def _batches(
        self, candidates: Sequence[Candidate], touched: Iterable[Ints]
    ) -> Iterator[list[tuple[Candidate, Ints, pa.Array]]]:
        """Yield candidates with the URLs they touch and the images of those, some at a time."""
        batch, size = [], 0
        for candidate, touching in zip(candidates, touched, strict=True):
            canonicalizer = RuleSet(candidate.rules).compile()
            rows = touching[:0] if self._grows(canonicalizer, touching) else touching
            urls = self.urls.take(pa.array(rows))
            batch.append((candidate, rows, canonicalizer.batch(urls, keys=True, threads=self.threads)))
            size += len(rows)
            if size >= IMAGES_AT_ONCE:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _grows(self, canonicalizer: Canonicalizer, rows: Ints) -> bool:
        """Return whether URLs only become longer: then the canonicalizer gives up and leaves each as it is.

        A few are enough; asking for thousands would take hundreds of steps for each.
        """
        few = (
            rows[np.unique(np.linspace(0, max(0, len(rows) - 1), PROBED).astype(np.int64))]
            if len(rows)
            else rows
        )
        _, counts = canonicalizer.counted_batch(self.urls.take(pa.array(few)), keys=True)
        return 0 < len(few) == counts.unresolved

    def _verdicts(self, batch: list[tuple[Candidate, Ints, pa.Array]]) -> Iterator[Verdict]:
        codes = self._codes(pa.concat_arrays([images for _, _, images in batch]))
        start = 0
        for candidate, rows, images in batch:
            own = codes[start : start + len(rows)]
            yield self._verdict(candidate, rows, images, self._merged(rows, own))
            start += len(rows)

    def _codes(self, images: pa.Array) -> Ints:
        """Return the row of the URL that each image is, and beyond the rows one number for each other."""
        found = pc.index_in(images, value_set=self.urls)
        codes: Ints = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        new = images.filter(pc.is_null(found)).dictionary_encode().indices
        codes[codes < 0] = len(self.urls) + new.to_numpy(zero_copy_only=False)
        return codes

    def _merged(self, touched: Ints, codes: Ints) -> _Merged:
        is_moved = codes != touched
        moved, targets = touched[is_moved], codes[is_moved]
        # URLs that were there already, and stay, lie under their own image.
        there = np.setdiff1d(targets[targets < len(self.urls)], moved)
        rows, image = np.concatenate((moved, there)), np.concatenate((targets, there))
        image, size = np.unique(image, return_inverse=True, return_counts=True)[1:]
        merged = np.flatnonzero((size > 1)[image.reshape(-1)])
        rows = rows[merged]
        groups = _ClusterCounts(image.reshape(-1)[merged], self.clusters[rows], rows)
        relation = self.site.relation(self.nodes[groups.row], self.nodes[groups.main_row])
        return _Merged(is_moved, rows, groups, ~groups.is_main & (relation == _DIFFERENT))

    def _verdict(self, candidate: Candidate, touched: Ints, images: pa.Array, merged: _Merged) -> Verdict:
        is_moved, rows, groups, bad = merged
        if not is_moved.any():
            return Verdict(candidate)
        mute = ~groups.is_main & ~bad & ~(self.tells[groups.row] & self.tells[groups.main_row])
        support, false, unknown = groups.pairs(bad)
        several = groups.count > 1
        return Verdict(
            candidate,
            moved=int(is_moved.sum()),
            support=support,
            false_pairs=false,
            unknown_pairs=unknown,
            pages=len(np.unique(groups.cluster[several])),
            lost=int(bad.sum()),
            unknown=int(mute.sum()),
            saves=int((groups.count - 1).sum()),
            examples=self._examples(rows[several[groups.place]], touched[is_moved], images.filter(is_moved)),
        )

    def _examples(self, saved: Ints, moved: Ints, images: pa.Array) -> tuple[tuple[str, str], ...]:
        """Return a few URLs that it moved beside another of their page, from the start, middle and end."""
        shown = np.flatnonzero(np.isin(moved, saved))
        if not len(shown):
            return ()
        few = shown[np.unique(np.linspace(0, len(shown) - 1, _EXAMPLES).astype(np.int64))]
        urls = self.urls.take(pa.array(moved[few])).to_pylist()
        return tuple(zip(urls, images.take(pa.array(few)).to_pylist(), strict=True))


class _Merged(NamedTuple):
    """URLs that lie under one image with others."""

    is_moved: NDArray[np.bool_]
    """Of each URL that rules touch, whether it stands elsewhere then."""
    rows: Ints
    groups: _ClusterCounts
    bad: NDArray[np.bool_]
    """Of each combination of an image and a page, whether that page is lost."""

    @property
    def troubled(self) -> Ints:
        """The URLs under an image with a page that is lost."""
        groups = self.groups
        return np.unique(self.rows[np.isin(groups.group, groups.group[self.bad])[groups.place]])


class _ClusterCounts:
    """How many URLs of each cluster lie under each image: one row a combination, by image."""

    def __init__(self, image: Ints, cluster: Ints, row: Ints) -> None:
        wide = int(cluster.max(initial=0)) + 1
        rows, place, count = np.unique(image * wide + cluster, return_inverse=True, return_counts=True)
        self.image, self.cluster = rows // wide, rows % wide
        self.count = count
        order = np.lexsort((row, place.reshape(-1)))
        first = np.searchsorted(place.reshape(-1)[order], np.arange(len(rows)))
        self.row = row[order][first]
        """The smallest URL of each combination."""
        self.place: Ints = place.reshape(-1)
        """The combination of each URL."""
        best = np.lexsort((self.cluster, -count, self.image))
        starts = np.flatnonzero(np.diff(self.image[best], prepend=-1))
        main = best[starts]
        self.group = np.cumsum(np.diff(self.image, prepend=-1) != 0) - 1
        self.main_row = self.row[main[self.group]] if len(rows) else self.row
        self.is_main = np.zeros(len(rows), np.bool_)
        self.is_main[main] = True

    def pairs(self, bad: NDArray[np.bool_]) -> tuple[int, int, int]:
        """Return the pairs of URLs of one page, of different ones, and those that are undecided."""
        total = np.bincount(self.group, self.count).astype(np.int64)
        kept = total - np.bincount(self.group, np.where(bad, self.count, 0)).astype(np.int64)
        every, same = int(_pairs(total).sum()), int(_pairs(self.count).sum())
        false = every - int(_pairs(kept).sum()) - int(_pairs(self.count[bad]).sum())
        return same, false, every - same - false


def _pairs(counts: Ints) -> Ints:
    return counts * (counts - 1) // 2
