"""Logs added up: how often each URL was requested, on which day, by which client, and the bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from undust.measuring.counts import TRAFFIC
from undust.reading.formats.files import find_files, read_file
from undust.reading.formats.reading import Reading
from undust.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undust.reading.formats.reading import ReadOptions

LOG = "access-log"
_HELD = 64
"""Batches that are held before they are added up, so that a log of any length fits."""


def traffic_of(paths: Iterable[str], options: ReadOptions, format: str | None = None) -> pa.Table:  # noqa: A002
    """Return the requests in the logs among some files, as rows of `TRAFFIC`; other files give none."""
    held: list[pa.Table] = [TRAFFIC.empty_table()]
    for file in find_files(paths):
        reading = Reading(file.path, options, crawlers=[])
        for batch in read_file(file.path, reading, format):
            if reading.format != LOG or not reading.crawlers:
                break
            # Those of the batch that was given last are the last ones.
            held.append(_summed(_rows(batch, reading.crawlers[-1])))
            reading.crawlers.clear()
            if len(held) > _HELD:
                held = [_summed(pa.concat_tables(held))]
    return _summed(pa.concat_tables(held))


def _rows(batch: pa.RecordBatch, crawler: pa.Array) -> pa.Table:
    day = pc.divide(pc.cast(batch.column("time"), pa.timestamp("s", "UTC")).cast(pa.int64()), 86_400)
    columns = {
        "url": normalize(batch.column("url").cast(pa.large_string())),
        "crawler": crawler,
        "day": day.cast(pa.int32()),
        "requests": pa.array([1], pa.int64()).take(pa.array([0] * len(batch))),
        "bytes": pc.fill_null(batch.column("size"), 0).cast(pa.int64()),
    }
    return pa.table(columns).cast(TRAFFIC)


def _summed(rows: pa.Table) -> pa.Table:
    names = ["url", "crawler", "day"]
    total = rows.group_by(names).aggregate([("requests", "sum"), ("bytes", "sum")])
    named = total.rename_columns([*names, "requests", "bytes"]).cast(TRAFFIC)
    return named.sort_by([(name, "ascending") for name in names])
