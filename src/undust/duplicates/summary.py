"""What was found, added up over sites: counts, reasons, and what was not trusted.

A summary travels with the rows of a site through any engine, as one row of JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from undust.duplicates.clusters import SCHEMA
from undust.duplicates.distrust import Distrusted
from undust.duplicates.nodes import Counts
from undust.duplicates.telling import told

if TYPE_CHECKING:
    from undust.duplicates.clusters import SiteClusters

WITH_NOTES = SCHEMA.append(pa.field("note", pa.string()))
"""The rows of sites on their way through an engine: those with a note are summaries, and no URLs."""

MOST_KEPT = 200
"""Groups that are kept with their examples; all are counted."""


@dataclass(slots=True)
class Summary:
    """Counts of one site, or of many added up."""

    sites: int = 0
    urls: int = 0
    clusters: int = 0
    largest: int = 0
    """URLs in the largest cluster."""
    known: int = 0
    """URLs with evidence that can be compared; two of them in different clusters are known to differ."""
    not_urls: int = 0
    counts: Counts = field(default_factory=Counts)
    evidence: Counter[str] = field(default_factory=Counter)
    """URLs that each kind of evidence joins with others."""
    distrusted_groups: Counter[str] = field(default_factory=Counter)
    distrusted_urls: Counter[str] = field(default_factory=Counter)
    distrusted: list[tuple[str, Distrusted]] = field(default_factory=list)
    """The largest groups, each with its site."""

    @property
    def duplicates(self) -> int:
        """How many URLs could be spared."""
        return self.urls - self.clusters

    @classmethod
    def of(cls, found: SiteClusters) -> Summary:
        """Return the summary of one site."""
        summary = cls(
            sites=1,
            urls=len(found.urls),
            clusters=found.cluster_count,
            largest=int(found.sizes.max(initial=0)),
            known=int(found.known[found.node].sum()),
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

    def to_json(self) -> str:
        """Return the summary as text that `from_json` reads."""
        told = {name: getattr(self, name) for name in self.__slots__}
        told["counts"] = asdict(self.counts)
        told["distrusted"] = [(site, asdict(group)) for site, group in self.distrusted]
        return json.dumps(told, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Summary:
        """Return the summary that was written."""
        told: dict[str, Any] = json.loads(text)
        told["counts"] = Counts(**told["counts"])
        for name in ("evidence", "distrusted_groups", "distrusted_urls"):
            told[name] = Counter(told[name])
        told["distrusted"] = [
            (site, Distrusted(**(group | {"examples": tuple(group["examples"])})))
            for site, group in told["distrusted"]
        ]
        return cls(**told)

    def text(self, width: int = 100) -> str:
        """Return what a person is told, in lines of at most `width` characters."""
        return told(self, width)

    def as_json(self) -> dict[str, Any]:
        """Return what programs are told."""
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


def with_note(site: str, clusters: pa.Table, summary: Summary) -> pa.Table:
    """Return the rows of a site followed by its summary."""
    rows = clusters.append_column(WITH_NOTES.field("note"), pa.nulls(len(clusters), pa.string()))
    note = {"site": [site], "url": [""], "cluster": [-1], "evidence": [None], "size": [0]}
    return pa.concat_tables(
        [rows.cast(WITH_NOTES), pa.table(note | {"note": [summary.to_json()]}, WITH_NOTES)]
    )


def _counted(reasons: pa.Array) -> list[tuple[str, int]]:
    counts = reasons.drop_null().value_counts()
    return sorted((count["values"], count["counts"]) for count in counts.to_pylist())


def _weight(found: tuple[str, Distrusted]) -> tuple[int, str, str, str]:
    site, group = found
    return -group.urls, site, group.kind, group.about
