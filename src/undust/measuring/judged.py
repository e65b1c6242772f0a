"""A rule set against labelled URLs: in total, by site, by class of rule and by rule.

URLs are compared by key, as a crawler compares them. The measures of a single rule are those of a
set that holds this rule and the `keep` rules before it, less what standard normalization merges
anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.display import drawn
from undust.errors import UndustError
from undust.measuring.counts import LabelledPages, coded, measure_images
from undust.measuring.measures import Measures, mean
from undust.pages.clustering.nodes import changed_texts
from undust.rules import RuleSet
from undust.rules.compiled import rules_in_effect
from undust.statistics import Totals
from undust.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from undust.pages.clustering import Duplicates
    from undust.rules import Rule

FIRST_ERROR = 400
"""The first status that says that there is no page."""
_CLASSES = ("substitution", "irrelevant component", "general")
"""Of rules: tokens for tokens; some part is removed or masked; parts are moved (Dasgupta et al.)."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """The distinct URLs of one site, the page that each shows, and one sketch a page where known."""

    site: str
    urls: pa.Array
    pages: tuple[str, ...]
    sketches: Mapping[str, Sequence[int]]

    @cached_property
    def known(self) -> LabelledPages:
        """The pages as numbers."""
        return LabelledPages.of(self.pages, self.sketches)

    @cached_property
    def in_duplicates(self) -> NDArray[np.bool_]:
        """Which URLs are of pages that have two or more."""
        page = self.known.codes
        return np.asarray(np.bincount(page)[page] > 1)

    def without_singletons(self) -> Labelled:
        """Return only the URLs of pages that have two or more, as Dasgupta et al. judge."""
        return self.only(self.in_duplicates)

    def only(self, chosen: NDArray[np.bool_]) -> Labelled:
        """Return some of the URLs."""
        rows = np.flatnonzero(chosen)
        pages = tuple(self.pages[row] for row in rows)
        return Labelled(self.site, self.urls.take(pa.array(rows)), pages, self.sketches)

    def measured(self, rules: RuleSet, threads: int = 1) -> Measures:
        """Return what the rules do to these URLs."""
        work = partial(rules.compile().batch, keys=True, threads=threads)
        return self.measured_by(changed_texts(self.urls, work))

    def measured_by(self, images: pa.Array) -> Measures:
        """Return what was done to these URLs, given what became of each."""
        return measure_images(self.known, images)


@dataclass(frozen=True)
class RuleRow:
    """One rule, or one class of rules: alone, on the sites it applies to."""

    name: str
    kind: str
    measures: Measures
    """With these rules alone."""
    saved: int
    """URLs removed beyond standard normalization."""
    lost: int
    """Pages merged into an unlike one beyond standard normalization."""


@dataclass(frozen=True)
class Evaluation:
    """What a rule set does to labelled URLs."""

    total: Measures
    """All sites added up (micro)."""
    duplicates_only: Measures
    """The same without pages that have one URL only."""
    sites: Mapping[str, Measures]
    classes: tuple[RuleRow, ...]
    rules: tuple[RuleRow, ...]
    unlabelled: int
    """URLs whose page is not known; they are not judged."""
    active: int
    """Rules that are switched on."""
    totals: Mapping[str, Totals]
    """By site, those with no judged URL included: the counts that are shown everywhere."""

    @property
    def all_totals(self) -> Totals:
        """The counts of all sites together."""
        return sum(self.totals.values(), Totals())

    def macro(self, rate: Callable[[Measures], float]) -> float:
        """Return the mean of a rate over the sites."""
        return mean(rate, self.sites.values())

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return drawn("Evaluation", "html", self)


def has_labels(seen: pa.Table) -> bool:
    """Return whether a person's labels show the page of any URL."""
    return "cluster" in seen.column_names and seen.column("cluster").null_count < len(seen)


def labelled_from_labels(seen: pa.Table) -> tuple[list[Labelled], int]:
    """Return the URLs with a label of the person's, by site, and how many have none."""
    rows: dict[str, dict[str, str]] = {}
    sketches: dict[tuple[str, str], Sequence[int]] = {}
    unlabelled = set()
    table = seen.sort_by("url")
    nothing = [None] * len(table)
    columns = (
        table.column(name).to_pylist() if name in table.column_names else nothing
        for name in ("url", "cluster", "sketch")
    )
    for url, site, (label, sketch) in _with_sites(table, columns):
        if label is None or site is None:
            unlabelled.add(url)
            continue
        known = rows.setdefault(site, {})
        if known.setdefault(url, label) != label:
            message = (
                f"{url} has the labels '{known[url]}' and '{label}'; give each URL one value in 'cluster'"
            )
            raise UndustError(message)
        if sketch:
            sketches.setdefault((site, label), sketch)
    sites = [
        Labelled(
            site,
            pa.array(list(urls), pa.string()),
            tuple(urls.values()),
            {page: sketches[site, page] for page in set(urls.values()) if (site, page) in sketches},
        )
        for site, urls in sorted(rows.items())
    ]
    return sites, len(unlabelled - {url for urls in rows.values() for url in urls})


def _with_sites(table: pa.Table, columns: Iterable[list[Any]]) -> Iterable[tuple[str, str | None, list[Any]]]:
    urls, *others = columns
    sites = site_of(table.column("url")).to_pylist()
    return ((url, site, list(rest)) for url, site, *rest in zip(urls, sites, *others, strict=True))


def labelled_from_duplicates(duplicates: Duplicates) -> tuple[list[Labelled], int]:
    """Return the URLs whose page is known from evidence, by site, and the number of all others.

    That two URLs are equal after standard normalization is not evidence: normalization would judge itself.
    """
    sites, unlabelled = [], 0
    for found in duplicates:
        cluster = found.cluster
        told = np.zeros(found.cluster_count, np.bool_)
        told[found.cluster_of_node[found.known & (found.cluster_of_node >= 0)]] = True
        told |= found.nodes_of_cluster > 1
        rows = np.flatnonzero(told[cluster])
        unlabelled += len(cluster) - len(rows)
        if not len(rows):
            continue
        sketches: dict[str, Sequence[int]] = {}
        for node in np.flatnonzero((found.sketch_row >= 0) & (found.cluster_of_node >= 0)):
            sketches.setdefault(str(found.cluster_of_node[node]), found.sketches[found.sketch_row[node]])
        pages = tuple(str(number) for number in cluster[rows])
        urls = found.urls if len(rows) == len(cluster) else found.urls.take(pa.array(rows))
        sites.append(Labelled(found.site, urls, pages, sketches))
    return sites, unlabelled


def seen_by_site(seen: pa.Table) -> dict[str, pa.Array]:
    """Return the distinct URLs of each site that were ever answered with a page, as written, sorted."""
    if "status" in seen.column_names:
        seen = seen.filter(pc.less(pc.fill_null(seen.column("status"), 0), FIRST_ERROR))
    urls = pc.unique(seen.column("url").combine_chunks().cast(pa.large_string()))
    urls = urls.take(pc.sort_indices(urls))
    names, codes = coded(pc.fill_null(site_of(urls).cast(pa.string()), ""))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    parts = np.split(order, ends[:-1]) if len(names) else []
    return {
        name: urls.take(pa.array(part)) for name, part in zip(names.to_pylist(), parts, strict=True) if name
    }


def evaluate(
    rules: RuleSet,
    sites: Sequence[Labelled],
    unlabelled: int = 0,
    threads: int = 1,
    seen: Mapping[str, pa.Array] | None = None,
) -> Evaluation:
    """Return what a rule set does to the labelled URLs of some sites.

    Args:
        rules: What is judged.
        sites: The URLs whose page is known.
        unlabelled: How many others there are.
        threads: How many to use; the result is the same.
        seen: All URLs of each site, including those whose page is not known.

    """
    require_pages(sites)
    require_overlap(rules, sites)
    by_site = {site.site: site.measured(rules, threads) for site in sites}
    # Alone, a rule would miss what it needs.
    alone = Alone([replace(rule, needs=()) for rule in rules_in_effect(rules)], sites, threads)
    known = {site.site: site for site in sites}
    every = {site.site: site.urls for site in sites} | dict(seen or {})
    return Evaluation(
        total=sum(by_site.values(), Measures()),
        duplicates_only=sum(
            (site.without_singletons().measured(rules, threads) for site in sites), Measures()
        ),
        sites=by_site,
        classes=tuple(alone.group(name) for name in _CLASSES),
        rules=tuple(map(alone.rule, alone.acting)),
        unlabelled=unlabelled,
        active=len(alone.active),
        totals={
            name: totals_of(urls, known.get(name), rules, threads, (alone.plain.get(name), by_site.get(name)))
            for name, urls in sorted(every.items())
        },
    )


def totals_of(
    urls: pa.Array,
    labelled: Labelled | None,
    rules: RuleSet,
    threads: int = 1,
    measured: tuple[Measures | None, Measures | None] = (None, None),
) -> Totals:
    """Return the counts of one site, the only source of those that people are shown.

    Args:
        urls: All that were seen.
        labelled: Those whose page is known.
        rules: What is applied after standard normalization.
        threads: How many to use; the result is the same.
        measured: What normalization alone, and what the rules do to the labelled URLs, where that is known.

    """
    plain, ruled = Measures(), Measures()
    others = urls
    if labelled is not None:
        plain = measured[0] or labelled.measured(RuleSet(), threads)
        ruled = measured[1] or (labelled.measured(rules, threads) if len(rules) else plain)
        wide = labelled.urls.cast(urls.type)
        is_all = wide.equals(urls)
        others = urls.slice(0, 0) if is_all else urls.filter(pc.invert(pc.is_in(urls, value_set=wide)))
        urls = pa.concat_arrays([wide, others]) if len(others) else wide
    forms = [plain.canonical_urls, ruled.canonical_urls]
    if len(others):
        forms = [
            len(pc.unique(each.compile().batch(urls, keys=True, threads=threads)))
            for each in (RuleSet(), rules)
        ]
    return Totals(
        seen=len(urls),
        seen_normalized=forms[0],
        seen_left=forms[1],
        judged=ruled.urls,
        pages=ruled.clusters,
        normalized=plain.canonical_urls,
        left=ruled.canonical_urls,
        lost_by_normalization=plain.lost_unlike,
        lost=ruled.lost_unlike,
        merged_pages=ruled.lost_pages,
    )


def require_pages(sites: Sequence[Labelled]) -> None:
    """Raise if nothing is known to judge by."""
    if not sites:
        message = (
            "the input says of no URL which page it shows; it needs a column 'cluster', 'digest' or 'sketch'"
        )
        raise UndustError(message)


def class_of(rule: Rule) -> str:
    """Return which of `CLASSES` a rule belongs to."""
    if rule.kind == "replace":
        return _CLASSES[0]
    removes = "{*" in rule.source or ":any}" in (rule.target or "")
    return _CLASSES[1] if removes else _CLASSES[2]


class Alone:
    """What a rule, or a class of rules, does without the others; only the `keep` rules before it stay.

    A rule is run on its own site alone, so that many sites with a few rules each stay quick.
    """

    def __init__(self, active: list[Rule], sites: Sequence[Labelled], threads: int) -> None:
        self.active = active
        self.sites = {site.site: site for site in sites}
        self.threads = threads
        self.acting = [rule for rule in active if rule.kind != "keep"]
        self._place = {rule.id: place for place, rule in enumerate(active)}
        self._keeps: dict[str, list[int]] = {}
        for place, rule in enumerate(active):
            if rule.kind == "keep":
                self._keeps.setdefault(rule.site, []).append(place)
        self.plain = {site.site: site.measured(RuleSet(), threads) for site in sites}

    def rule(self, rule: Rule) -> RuleRow:
        """Return what one rule does."""
        return self._row([rule], str(rule), class_of(rule))

    def group(self, name: str) -> RuleRow:
        """Return what the rules of a class do together."""
        return self._row([rule for rule in self.acting if class_of(rule) == name], name, name)

    def _row(self, chosen: Sequence[Rule], name: str, kind: str) -> RuleRow:
        places = {self._place[rule.id] for rule in chosen}
        spoken_of = {rule.site for rule in chosen}
        last = max(places, default=-1)
        for site in self._keeps if "*" in spoken_of else {*spoken_of, "*"}:
            places |= {at for at in self._keeps.get(site, ()) if at < last}
        rules = [self.active[place] for place in sorted(places)]
        sites = list(self.sites) if "*" in spoken_of else sorted(spoken_of & set(self.sites))
        run = RuleSet(rules)
        after = sum((self.sites[site].measured(run, self.threads) for site in sites), Measures())
        before = sum((self.plain[site] for site in sites), Measures())
        saved = after.removed_urls - before.removed_urls
        return RuleRow(name, kind, after, saved, after.lost_unlike - before.lost_unlike)


def require_overlap(rules: RuleSet, sites: Sequence[Labelled]) -> None:
    """Raise if no rule is for a site of the input."""
    spoken_of = {rule.site for rule in rules}
    if "*" not in spoken_of:
        require_common_sites("rules", spoken_of, {site.site for site in sites})


def require_common_sites(what: str, spoken_of: set[str], seen: set[str]) -> None:
    """Raise if rules or labels are of other sites than the input."""
    if spoken_of and not spoken_of & seen:
        message = (
            f"the {what} are for {_some(spoken_of)} and the input is of {_some(seen)}; "
            f"give {what} and URLs of the same sites"
        )
        raise UndustError(message)


def _some(sites: set[str], most: int = 3) -> str:
    named = sorted(sites)
    more = f" and {len(named) - most:,} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more
