"""A summary on its way through an engine: it travels with the rows of its site, as one row of JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields
from typing import Any

import pyarrow as pa

from undust.pages.clustering.clusters import CLUSTER_SCHEMA
from undust.pages.clustering.distrust import Distrusted
from undust.pages.clustering.nodes import SightingCounts
from undust.pages.clustering.summary import Summary

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
