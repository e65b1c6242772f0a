"""Every published measure of a canonicalizer, defined in one place; `counts` counts what they are made of.

The papers measure different things under equal names and equal things under different names. Here each count
has one field of `Measures` and each rate one property, so that a table can show them side by side. A *page*
is a cluster of URLs that show one content, singletons included; an *image* is what a canonicalizer makes of a
URL.

    PT  Lei et al., WWW 2010      RW  Dasgupta et al., KDD 2008      DB  DustBuster
    DU  DUSTER                    US  Soon and Lee 2009

`Ranking` says how good a learner's candidates are, before any selection: qualified rate, precision@k.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from undust.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts of one site, or of many added up; the rates are properties of the counts."""

    urls: int = 0
    """Distinct URLs before (N)."""
    canonical_urls: int = 0
    """Distinct images (N')."""
    clusters: int = 0
    """Pages (C)."""
    joined_clusters: int = 0
    """Pages left when those that share an image count as one (C'): false merges cannot raise it."""
    sketches: int = 0
    """Distinct contents by their sketches; the pages where there are no sketches."""
    support_pairs: int = 0
    """Pairs of URLs with one image."""
    false_positive_pairs: int = 0
    """… of two pages."""
    merged_urls: int = 0
    """URLs that share their image with another."""
    misplaced_urls: int = 0
    """URLs that do not belong to the page most URLs of their image belong to."""
    lost_pages: int = 0
    """Pages that lie under another page's image, counted once for each such image."""
    lost_unlike: int = 0
    """… and are not near copies of it, by their sketches."""
    duplicate_clusters: int = 0
    """Pages with two URLs or more."""
    collapsed_clusters: int = 0
    """… whose URLs all have one image."""

    def __add__(self, other: Measures) -> Measures:
        """Return the counts of both, as micro averages need them."""
        return Measures(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def removable(self) -> int:
        """How many URLs a perfect canonicalizer would remove (P of US)."""
        return self.urls - self.clusters

    @property
    def removed_urls(self) -> int:
        """How many URLs this one removed."""
        return self.urls - self.canonical_urls

    @property
    def compression_rate(self) -> float:
        """PT eq. 1; the reduction ratio of RW and the discovered redundancy of DB."""
        return share(self.removed_urls, self.urls)

    @property
    def duplicate_rate(self) -> float:
        """Share of URLs that are not needed, before."""
        return share(self.removable, self.urls)

    @property
    def dup_reduction_rate(self) -> float:
        """PT eq. 2: how much of the duplicate rate is removed."""
        if self.removable == 0:
            return 0.0
        return 1 - (1 - share(self.joined_clusters, self.canonical_urls)) / self.duplicate_rate

    @property
    def coverage(self) -> float:
        """DB: share of the duplicates, by their sketches, that are removed."""
        duplicates = self.urls - self.sketches
        return share(duplicates - (self.canonical_urls - self.sketches), duplicates)

    @property
    def fpr(self) -> float:
        """PT eq. 3: share of false pairs among the pairs sent to one URL."""
        return share(self.false_positive_pairs, self.support_pairs)

    @property
    def url_fpr(self) -> float:
        """Share of the merged URLs that are of another page; unlike pairs it does not grow with the group."""
        return share(self.misplaced_urls, self.merged_urls)

    @property
    def lost_content_rate(self) -> float:
        """Share of pages that a crawler would lose."""
        return share(self.lost_pages, self.clusters)

    @property
    def removed(self) -> float:
        """Removed URLs of no other page, per removable URL; merged near copies can lift it over 1."""
        return share(max(0, self.removed_urls - self.lost_unlike), self.removable)

    @property
    def lost(self) -> float:
        """Share of pages merged into a different one, near copies forgiven."""
        return share(self.lost_unlike, self.clusters)

    @property
    def cluster_reduction(self) -> float:
        """DU: share of the duplicate clusters collapsed to one URL."""
        return share(self.collapsed_clusters, self.duplicate_clusters)

    @property
    def contingency(self) -> Contingency:
        """US: the removed URLs, right and wrong, and those kept."""
        false_positives = self.clusters - self.joined_clusters
        true_positives = self.removed_urls - false_positives
        return Contingency(
            true_positives=true_positives,
            false_negatives=self.removable - true_positives,
            false_positives=false_positives,
            true_negatives=self.joined_clusters,
        )

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Return the 95 % confidence interval of every rate.

        Two rates do not count independent things themselves. Of pairs, one wrong URL in a group of n makes
        n - 1: the interval of `fpr` is that of the URL-level rate scaled to it, as wide as the URLs allow.
        `dup_reduction_rate` compares two duplicate rates: the one before is taken as it is.
        """
        found = {name: interval(*hits_of_trials) for name, hits_of_trials in self._counted().items()}
        found["reduction_ratio"] = found["compression_rate"]
        found["fpr"] = self._fpr_interval(found["url_fpr"])
        found["dup_reduction_rate"] = self._dup_reduction_interval()
        return found

    def interval_of(self, name: str) -> tuple[float, float]:
        """Return the 95 % confidence interval of one rate that counts independent things."""
        return interval(*self._counted()[name])

    def _counted(self) -> dict[str, tuple[int, int]]:
        """Return of each rate what was counted, and among how many."""
        table = self.contingency
        return {
            "compression_rate": (self.removed_urls, self.urls),
            "duplicate_rate": (self.removable, self.urls),
            "coverage": (max(0, self.removed_urls), max(0, self.urls - self.sketches)),
            "url_fpr": (self.misplaced_urls, self.merged_urls),
            "lost_content_rate": (self.lost_pages, self.clusters),
            "removed": (max(0, self.removed_urls - self.lost_unlike), self.removable),
            "lost": (self.lost_unlike, self.clusters),
            "cluster_reduction": (self.collapsed_clusters, self.duplicate_clusters),
            "sensitivity": (table.true_positives, table.true_positives + table.false_negatives),
            "specificity": (table.true_negatives, table.true_negatives + table.false_positives),
            "precision": (table.true_positives, table.true_positives + table.false_positives),
            "accuracy": (table.true_positives + table.true_negatives, self.urls),
        }

    def _fpr_interval(self, of_urls: tuple[float, float]) -> tuple[float, float]:
        low, high = of_urls
        scale = share(self.fpr, self.url_fpr) if self.url_fpr else 1.0
        return min(1.0, low * scale), min(1.0, max(self.fpr, high * scale))

    def _dup_reduction_interval(self) -> tuple[float, float]:
        if self.removable == 0:
            return 0.0, 1.0
        low, high = interval(self.canonical_urls - self.joined_clusters, self.canonical_urls)
        return 1 - high / self.duplicate_rate, 1 - low / self.duplicate_rate


@dataclass(frozen=True, slots=True)
class Contingency:
    """A two-by-two table, counted per URL as Soon and Lee do."""

    true_positives: int
    false_negatives: int
    false_positives: int
    true_negatives: int

    @property
    def sensitivity(self) -> float:
        """Share of the duplicates that were removed."""
        return share(self.true_positives, self.true_positives + self.false_negatives)

    @property
    def specificity(self) -> float:
        """Share of the pages that were kept."""
        return share(self.true_negatives, self.true_negatives + self.false_positives)

    @property
    def precision(self) -> float:
        """Share of the removed that were duplicates."""
        return share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def accuracy(self) -> float:
        """Share of right decisions."""
        right = self.true_positives + self.true_negatives
        return share(right, right + self.false_positives + self.false_negatives)


def share(part: float, whole: float) -> float:
    """Return part / whole, and 0 of nothing."""
    return part / whole if whole else 0.0


def mean(rate: Callable[[Measures], float], sites: Collection[Measures]) -> float:
    """Return the macro average of a rate: each site counts the same, however large."""
    return share(sum(map(rate, sites)), len(sites))


@dataclass(frozen=True)
class Ranking:
    """Which candidates turned out valid, the likeliest first."""

    valid: tuple[bool, ...] = ()

    @classmethod
    def either_way(cls, candidates: Iterable[tuple[Hashable, Hashable, bool]]) -> Ranking:
        """Return the ranking of rules given as (from, to, valid), a rule and its reverse as one.

        DustBuster counts a likely rule as right if it is valid in at least one direction.
        """
        found: dict[frozenset[Hashable], bool] = {}
        for source, target, is_valid in candidates:
            both = frozenset((source, target))
            found[both] = found.get(both, False) or is_valid
        return cls(tuple(found.values()))

    def __add__(self, other: Ranking) -> Ranking:
        """Return both, as if one learner had proposed them site by site."""
        return Ranking(self.valid + other.valid)

    @property
    def qualified_rate(self) -> float:
        """Share of the candidates that are valid (PT, DU)."""
        return share(sum(self.valid), len(self.valid))

    @property
    def interval(self) -> tuple[float, float]:
        """Of the qualified rate, with 95 % confidence."""
        return interval(sum(self.valid), len(self.valid))

    def precision_at(self, k: int) -> float:
        """Share of the valid among the first k (DB); of all, where there are fewer."""
        return share(sum(self.valid[:k]), len(self.valid[:k]))

    def interval_at(self, k: int) -> tuple[float, float]:
        """Of the precision at k, with 95 % confidence."""
        return interval(sum(self.valid[:k]), len(self.valid[:k]))


def interleaved(rankings: Sequence[Ranking]) -> Ranking:
    """Return one ranking of several sites: first the best of each, then the second best of each."""
    longest = max((len(ranking.valid) for ranking in rankings), default=0)
    return Ranking(
        tuple(r.valid[place] for place in range(longest) for r in rankings if place < len(r.valid))
    )
