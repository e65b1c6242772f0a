"""Observations to clusters, in memory or through an engine, and to the trees of URL schemes."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.engines import SITE
from undust.errors import UndustError
from undust.files.streams import STANDARD
from undust.files.writing import format_of
from undust.jobs.read import with_site
from undust.pages.clustering import WITH_NOTES, Duplicates, Summary, find_in_site, from_note, rows_of_site
from undust.pages.clustering.clusters import CLUSTER_SCHEMA as CLUSTERS
from undust.pages.clustering.evidence import declared_in_header, declared_in_robots
from undust.pages.clustering.false_clusters import VALUES
from undust.reading.observations import Observations, Statement, sites_in, table_of
from undust.showing.tree import SiteTree, site_tree
from undust.urls import Url, normalize, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from undust.engines import Engine
    from undust.pages.clustering import Declaration, SiteClusters
    from undust.urls.pattern_tree import Salience


def find_duplicates(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    declarations: Iterable[Declaration] = (),
    glue_values: int = VALUES,
) -> Duplicates:
    """Return which URLs are one page, site by site, each with the reason.

    Args:
        seen: What `read` returned, or any Arrow table with a column `url`.
        declarations: What sites say about their own parameters (Clean-param, No-Vary-Search), besides
            what `read` found.
        glue_values: A group of URLs with this many values of a part that matters is suspicious.

    """
    by_site = _declared(chain(declarations, _said_in(seen)))
    found, not_urls = [], 0
    for site, rows in sites_in(table_with_site(seen)):
        if site:
            found.append(find_in_site(rows, site, by_site.get(site, ()), glue_values))
        else:
            not_urls = len(rows)
    return Duplicates(tuple(found), not_urls)


def url_trees(
    seen: Any,  # noqa: ANN401 -- any Arrow object
    *,
    most: int = 5,
    site: str | None = None,
    salience: Salience = "node",
    least: int | None = None,
) -> tuple[tuple[SiteTree, ...], int]:
    """Return the URL schemes of the largest sites as trees, the largest first, and how many sites there are.

    Args:
        seen: What `read` returned, or any Arrow table with a column `url`.
        most: The largest number of sites.
        site: One site by its name instead.
        salience: Whose frequencies keep a value apart: those of its key in a `node`, or of the whole `site`.
        least: How many URLs such a value has at least; the square root of their number by default.

    """
    table = table_with_site(seen)
    counted = pc.value_counts(table.column(SITE).combine_chunks())
    sizes = {each["values"].as_py(): each["counts"].as_py() for each in counted}
    sizes.pop("", None)
    ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
    if site is not None and site not in sizes:
        there = f"the largest is {ranked[0]}" if ranked else "there is no URL in it"
        message = f"there is no site '{site}' in the input; {there}"
        raise UndustError(message)
    chosen = [site] if site is not None else ranked[:most]
    rows = table.filter(pc.is_in(table.column(SITE), pa.array(chosen, table.schema.field(SITE).type)))
    found = {each.site: each for each in find_duplicates(Observations(rows, (), _statements(seen)))}
    return tuple(tree_of(found[name], salience, least) for name in chosen if name in found), len(sizes)


def _statements(seen: object) -> tuple[Statement, ...]:
    return seen.statements if isinstance(seen, Observations) else ()


def tree_of(found: SiteClusters, salience: Salience = "node", least: int | None = None) -> SiteTree:
    """Return the URL scheme of one site as a tree."""
    nodes = np.flatnonzero(found.cluster_of_node >= 0)
    cluster = found.cluster_of_node[nodes]
    can_tell = bool(found.known[nodes].any()) or found.cluster_count < len(nodes)
    urls = found.node_urls.take(pa.array(nodes))
    return site_tree(found.site, urls, cluster if can_tell else None, salience, least)


def write_clusters(  # noqa: PLR0913 -- one for each thing that a person may say
    seen: Any,  # noqa: ANN401 -- any Arrow object
    path: str | None,
    engine: Engine,
    *,
    format: str | None = None,  # noqa: A002 -- the name of the option
    declarations: Iterable[Declaration] = (),
    glue_values: int = VALUES,
) -> Summary:
    """Do what `find_duplicates` does for more than fits into memory; write the clusters to a file.

    Without a path nothing is written. The file has the columns site, url, cluster, evidence and size.
    """
    is_sited = isinstance(seen, Observations) and SITE in seen.table.schema.names
    declared = _declared(chain(declarations, _said_in(seen)))
    function = partial(_rows_of_site, declared=declared, glue_values=glue_values)
    rows = engine.map_sites(seen.table if is_sited else table_with_site(seen), function, WITH_NOTES)
    summary = Summary()
    clusters = _without_notes(pa.RecordBatchReader.from_stream(rows), summary)
    if path is None:
        for _ in clusters:
            pass
    else:
        engine.write(pa.RecordBatchReader.from_batches(CLUSTERS, clusters), path, format)
    return summary


def format_to_write(path: str) -> str:
    """Return the format of a file that clusters are written to, by its name; JSON lines for stdout."""
    return "jsonl" if path == STANDARD else format_of(path)


def _rows_of_site(
    site: str, rows: pa.Table, declared: Mapping[str, tuple[Declaration, ...]], glue_values: int
) -> pa.Table:
    return rows_of_site(site, rows, declared.get(site, ()), glue_values)


def _without_notes(rows: pa.RecordBatchReader, summary: Summary) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        notes = batch.column("note")
        for note in notes.drop_null().to_pylist():
            summary.add(from_note(note))
        # An engine may not keep which columns are never null; some formats write that down.
        yield batch.filter(pc.is_null(notes)).select(CLUSTERS.names).cast(CLUSTERS)


def table_with_site(seen: Any) -> pa.Table:  # noqa: ANN401 -- any Arrow object
    """Return observations as a table with the site of each."""
    return with_site(table_of(seen.table if isinstance(seen, Observations) else seen))


def declared_in(seen: object) -> dict[str, tuple[Declaration, ...]]:
    """Return what sites say about their own parameters in the files that were read, by site."""
    return _declared(_said_in(seen))


def _said_in(seen: object) -> Iterator[Declaration]:
    """Yield what sites say in the files that were read."""
    for statement in seen.statements if isinstance(seen, Observations) else ():
        url = Url.parse(normalize(statement.url))
        if url and statement.kind == "Clean-param":
            yield from declared_in_robots(url.host, statement.text)
        elif url and (declaration := declared_in_header(url.host, url.path, statement.text)):
            yield declaration


def _declared(declarations: Iterable[Declaration]) -> dict[str, tuple[Declaration, ...]]:
    by_host: dict[str, list[Declaration]] = {}
    for declaration in declarations:
        by_host.setdefault(declaration.host, []).append(declaration)
    by_site: dict[str, list[Declaration]] = {}
    for host, own in by_host.items():
        by_site.setdefault(site_of(f"http://{host}/") or "", []).extend(own)
    return {site: tuple(own) for site, own in by_site.items()}


def split(duplicates: Duplicates, held_out: float = 0.3, *, seed: int = 0) -> tuple[Duplicates, Duplicates]:
    """Return two parts that share no cluster, to learn from one and to prove on the other.

    Which part a cluster falls into depends on its smallest URL alone, so that more data moves nothing.
    """
    return duplicates.split(held_out, seed)
