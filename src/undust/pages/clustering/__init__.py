"""Which URLs show the same page, and how we know: one site's observations to its clusters."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from undust.pages.clustering.clusters import CLUSTER_SCHEMA, SiteClusters, clusters_from
from undust.pages.clustering.distrust import Distrusted, Judge, components
from undust.pages.clustering.evidence import (
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
from undust.pages.clustering.nodes import nodes_of
from undust.pages.clustering.shapes import Shapes
from undust.pages.clustering.summary import WITH_NOTES, Duplicates, Summary, from_note, with_note

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

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
