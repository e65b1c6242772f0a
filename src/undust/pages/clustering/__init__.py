"""Which URLs show the same page, and how we know: the clusters of a site, and all sites added up.

`Duplicates` holds all sites of a job with their clusters. A summary adds up counts, reasons and what was not
trusted, as text and as JSON. It travels through an engine with the rows of its site, as one row of JSON.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.display import how_many
from undust.pages.clustering.clusters import CLUSTER_SCHEMA, SiteClusters, clusters_from
from undust.pages.clustering.distrust import Distrusted, Judge, components
from undust.pages.clustering.evidence import (
    EVIDENCE_KINDS,
    Declaration,
    by_blocks,
    by_canonical,
    by_declaration,
    by_digest,
    by_label,
    by_redirect,
    by_sketch,
    evidence_of,
)
from undust.pages.clustering.false_clusters import VALUES
from undust.pages.clustering.nodes import SightingCounts, nodes_of
from undust.pages.clustering.shapes import Shapes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


MOST_KEPT = 200
"""Groups that are kept with their examples; all are counted."""
GROUPS_TOLD = 3
"""Of each kind; the others are counted."""


@dataclass(slots=True)
class Summary:
    """Counts of one site, or of many added up."""

    sites: int = 0
    urls: int = 0
    clusters: int = 0
    largest: int = 0
    """URLs in the largest cluster."""
    known: int = 0
    """URLs with content that can be compared, their own or their cluster's; only of these is it known that
    they differ."""
    not_urls: int = 0
    counts: SightingCounts = field(default_factory=SightingCounts)
    evidence: Counter[str] = field(default_factory=Counter)
    """URLs that each kind of evidence joins with others."""
    distrusted_groups: Counter[str] = field(default_factory=Counter)
    distrusted_urls: Counter[str] = field(default_factory=Counter)
    distrusted: list[tuple[str, Distrusted]] = field(default_factory=list)
    """The largest groups, each with its site."""

    @property
    def duplicates(self) -> int:
        """How many URLs are duplicates."""
        return self.urls - self.clusters

    @classmethod
    def of(cls, found: SiteClusters) -> Summary:
        """Return the summary of one site."""
        summary = cls(
            sites=1,
            urls=len(found.urls),
            clusters=found.cluster_count,
            largest=int(found.sizes.max(initial=0)),
            known=int(found.known[found.speakers[found.node]].sum()),
            counts=found.counts,
        )
        for reasons, count in _counted(found.evidence):
            for reason in reasons.split("+"):
                summary.evidence[reason] += count
        for distrusted in found.found:
            summary.distrusted_groups[distrusted.kind] += 1
            summary.distrusted_urls[distrusted.kind] += distrusted.urls
            summary.distrusted.append((found.site, distrusted))
        return summary

    def add(self, other: Summary) -> None:
        """Add the counts of other sites."""
        for name in ("sites", "urls", "clusters", "known", "not_urls"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.largest = max(self.largest, other.largest)
        self.counts += other.counts
        self.evidence += other.evidence
        self.distrusted_groups += other.distrusted_groups
        self.distrusted_urls += other.distrusted_urls
        together = sorted([*self.distrusted, *other.distrusted], key=_weight)
        self.distrusted = together[:MOST_KEPT]

    def text(self, width: int = 100) -> str:
        """Return the summary for people, in lines of at most `width` characters."""
        parts = [_headline(self), _evidence(self), _distrusted(self, width), _left_out(self)]
        return "\n\n".join("\n".join(_wrapped(part, width)) for part in parts if part)

    def as_json(self) -> dict[str, Any]:
        """Return the summary for programs."""
        return {
            "sites": self.sites,
            "urls": self.urls,
            "clusters": self.clusters,
            "duplicates": self.duplicates,
            "largest_cluster": self.largest,
            "comparable_urls": self.known,
            "evidence": dict(sorted(self.evidence.items())),
            "distrusted": [{"site": site} | asdict(group) for site, group in self.distrusted],
            "distrusted_urls": dict(sorted(self.distrusted_urls.items())),
            "sightings": self.counts.sightings,
            "failed": self.counts.failed,
            "not_urls": self.not_urls,
            "changing": self.counts.changing,
            "leaving": self.counts.leaving,
            "odd_sketches": self.counts.odd_sketches,
        }


def _counted(reasons: pa.Array) -> list[tuple[str, int]]:
    counts = reasons.drop_null().value_counts()
    return sorted((count["values"], count["counts"]) for count in counts.to_pylist())


def _weight(found: tuple[str, Distrusted]) -> tuple[int, str, str, str]:
    site, group = found
    return -group.urls, site, group.kind, group.about


def _headline(summary: Summary) -> list[str]:
    share = summary.duplicates / summary.urls if summary.urls else 0.0
    line = f"{how_many(summary.urls, 'URL')} of {how_many(summary.sites, 'site')}"
    line += f" in {how_many(summary.clusters, 'cluster')}"
    if summary.duplicates:
        line += (
            f": {how_many(summary.duplicates, 'duplicate')} ({share:.0%}), "
            f"up to {summary.largest:,} URLs in one cluster"
        )
    return [line, *_unknown(summary)]


def _unknown(summary: Summary) -> Iterator[str]:
    if not summary.known and summary.urls:
        yield "content to compare: none; only sizes, where known, can show that pages differ"
    elif summary.known < summary.urls:
        known = f"{how_many(summary.known, 'URL')} ({summary.known / summary.urls:.0%})"
        yield f"content to compare: {known}; of the others only sizes can show that they differ"


def _evidence(summary: Summary) -> list[str]:
    rows = [
        (kind, f"{summary.evidence[kind]:,}", EVIDENCE_KINDS[kind])
        for kind in EVIDENCE_KINDS
        if summary.evidence[kind]
    ]
    if not rows:
        return []
    width = max(4, *(len(count) for _, count, _ in rows))
    lines = [f"{'evidence':<10} {'URLs':>{width}}"]
    return lines + [f"{kind:<10} {count:>{width}}  {meaning}" for kind, count, meaning in rows]


def _distrusted(summary: Summary, width: int) -> list[str]:
    lines = []
    for kind, urls in sorted(summary.distrusted_urls.items(), key=lambda item: (-item[1], item[0])):
        groups = [(site, group) for site, group in summary.distrusted if group.kind == kind]
        count = summary.distrusted_groups[kind]
        lines.append(f"  {kind}: {how_many(urls, 'URL')}" + (f" in {count:,} groups" if count > 1 else ""))
        for site, group in groups[:GROUPS_TOLD]:
            lines += _group(site, group, width)
        if count > GROUPS_TOLD:
            lines.append(f"    … and {how_many(count - GROUPS_TOLD, 'more group')}")
    return ["not trusted, and not used", *lines] if lines else []


def _group(site: str, group: Distrusted, width: int) -> Iterator[str]:
    yield f"    {site}: {how_many(group.urls, 'URL')}, {group.why}"
    if group.about:
        yield _cut(f"      → {group.about}", width)
    for example in group.examples:
        first, *rest = example.split(" → ")
        yield _cut(f"      {first}", width)
        yield from (_cut(f"        → {target}", width) for target in rest)


def _left_out(summary: Summary) -> list[str]:
    counts = summary.counts
    parts = {
        "sightings with a 4xx or 5xx": counts.failed,
        "rows that are not URLs": summary.not_urls,
        "redirects to other sites": counts.leaving,
        "sketches of another size": counts.odd_sketches,
        "URLs' earlier contents (the latest counts)": counts.changing,
    }
    lines = [f"  {count:,} {name}" for name, count in parts.items() if count]
    return ["left out", *lines] if lines else []


def _wrapped(lines: list[str], width: int) -> Iterator[str]:
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        yield from textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False,
            drop_whitespace=True, replace_whitespace=False,
        )  # fmt: skip


def _cut(line: str, width: int) -> str:
    # Strangers made these URLs; a terminal must not obey them.
    safe = "".join(char if char.isprintable() else "�" for char in line)
    return safe if len(safe) <= width else f"{safe[: width - 1]}…"


@dataclass(frozen=True, eq=False, repr=False)
class Duplicates:
    """The clusters of each site, in the order of the sites; any Arrow library can take them as a table."""

    sites: tuple[SiteClusters, ...]
    not_urls: int = 0

    def __len__(self) -> int:
        return self.summary.urls

    def __iter__(self) -> Iterator[SiteClusters]:
        return iter(self.sites)

    def __getitem__(self, site: str) -> SiteClusters:
        for found in self.sites:
            if found.site == site:
                return found
        raise KeyError(site)

    @cached_property
    def summary(self) -> Summary:
        """The counts over all sites, and what was not trusted."""
        summary = Summary(not_urls=self.not_urls)
        for found in self.sites:
            summary.add(Summary.of(found))
        return summary

    def table(self) -> pa.Table:
        """Return all URLs with their clusters, in the columns of `duplicates.clusters.SCHEMA`."""
        return pa.concat_tables(
            [CLUSTER_SCHEMA.empty_table(), *(found.table().cast(CLUSTER_SCHEMA) for found in self.sites)]
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table().__arrow_c_stream__(requested_schema)

    def split(self, held_out: float, seed: int = 0, purpose: str = "") -> tuple[Duplicates, Duplicates]:
        """Return two parts that share no cluster, the second with about `held_out` of the clusters."""
        if not 0 <= held_out <= 1:
            message = f"held_out is a share between 0 and 1, not {held_out}"
            raise ValueError(message)
        parts = [found.split(held_out, seed, purpose) for found in self.sites]
        return Duplicates(tuple(part for part, _ in parts)), Duplicates(tuple(part for _, part in parts))

    def __str__(self) -> str:
        return self.summary.text()

    def __repr__(self) -> str:
        summary = self.summary
        return (
            f"<Duplicates: {summary.urls:,} URLs of {how_many(summary.sites, 'site')} "
            f"in {summary.clusters:,} clusters, {how_many(summary.duplicates, 'duplicate')}>"
        )


WITH_NOTES = CLUSTER_SCHEMA.append(pa.field("note", pa.string()))
"""The rows of sites on their way through an engine: those with a note are summaries, and no URLs."""


def with_note(site: str, clusters: pa.Table, summary: Summary) -> pa.Table:
    """Return the rows of a site followed by its summary."""
    rows = clusters.append_column(WITH_NOTES.field("note"), pa.nulls(len(clusters), pa.string()))
    note = {
        "site": [site],
        "url": [""],
        "cluster": [-1],
        "evidence": [None],
        "size": [0],
        "probability": [None],
    }
    return pa.concat_tables(
        [rows.cast(WITH_NOTES), pa.table(note | {"note": [note_of(summary)]}, WITH_NOTES)]
    )


def note_of(summary: Summary) -> str:
    """Return the summary as text that `from_note` reads."""
    told = {field.name: getattr(summary, field.name) for field in fields(summary)}
    told["counts"] = asdict(summary.counts)
    told["distrusted"] = [(site, asdict(group)) for site, group in summary.distrusted]
    return json.dumps(told, ensure_ascii=False)


def from_note(text: str) -> Summary:
    """Return the summary that was written."""
    told: dict[str, Any] = json.loads(text)
    told["counts"] = SightingCounts(**told["counts"])
    for name in ("evidence", "distrusted_groups", "distrusted_urls"):
        told[name] = Counter(told[name])
    told["distrusted"] = [
        (site, Distrusted(**(group | {"examples": tuple(group["examples"])})))
        for site, group in told["distrusted"]
    ]
    return Summary(**told)


__all__ = [
    "WITH_NOTES",
    "Declaration",
    "Distrusted",
    "Duplicates",
    "SiteClusters",
    "Summary",
    "find_in_site",
    "from_note",
    "rows_of_site",
]


def find_in_site(
    observations: pa.Table,
    site: str,
    declarations: Iterable[Declaration] = (),
    glue_values: int = VALUES,
    threads: int = 1,
) -> SiteClusters:
    """Return the clusters of one site, all of whose observations are given."""
    nodes = nodes_of(observations, site, threads)
    shapes = cache(lambda: Shapes.of(nodes.urls))
    evidence = evidence_of(nodes, shapes)
    judge = Judge(nodes, shapes, evidence, glue_values)
    alike = by_blocks(nodes, evidence) if evidence.has_blocks else by_sketch(nodes)
    accepted = judge.hear_content([by_digest(nodes), alike])
    for statement in (by_declaration(nodes, declarations), by_canonical(nodes), by_redirect(nodes)):
        accepted.append(judge.hear_statement(statement, accepted))
    labels = by_label(nodes)
    edges = [labels, *judge.hear_labels(labels, accepted)]
    page = components(edges, len(nodes))
    trusted = evidence.trusting(nodes.has_content & judge.is_trusted)
    return clusters_from(nodes, page, edges, judge, trusted)


def rows_of_site(
    site: str, observations: pa.Table, declarations: Iterable[Declaration] = (), glue_values: int = VALUES
) -> pa.Table:
    """Return the clusters of one site as rows of `WITH_NOTES`; the empty site holds what is not a URL."""
    if not site:
        return with_note(site, CLUSTER_SCHEMA.empty_table(), Summary(not_urls=len(observations)))
    found = find_in_site(observations, site, declarations, glue_values)
    return with_note(site, found.table(), Summary.of(found))
