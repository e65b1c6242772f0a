"""The offline twin: answers from what a crawl has kept, instead of from the network."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from undust.asking.answers import FIRST_ERROR, FIRST_REDIRECT, Answer
from undust.urls import normalize

if TYPE_CHECKING:
    import pyarrow as pa

    from undust.asking.answers import Why

NOT_THERE = "the archive does not hold it"


class RecordedAnswers:
    """Observations that answer like a site: the first sighting of a URL first, then the next one."""

    is_live = False

    def __init__(self, seen: pa.Table) -> None:
        urls = normalize(seen.column("url").combine_chunks())
        kept = seen.select(["status", "size", "digest", "sketch", "redirect", "time"]).append_column(
            "url", urls
        )
        # Sightings without a time come in the order in which they were read.
        kept = kept.append_column("row", [np.arange(len(kept))])
        order = pc.sort_indices(kept, [("url", "ascending"), ("time", "ascending"), ("row", "ascending")])
        self._rows = kept.take(order).combine_chunks()
        self._urls = self._rows.column("url").combine_chunks()

    def fetch(self, url: str, turn: int, why: Why) -> Answer:
        """Return what was seen of a URL when it was visited for the `turn`-th time after the first."""
        key = self._urls.__getitem__
        rows = range(len(self._urls))
        place = bisect_left(rows, url, key=lambda row: key(row).as_py()) + turn
        if place >= bisect_right(rows, url, key=lambda row: key(row).as_py()):
            return Answer(url, turn, why, problem=NOT_THERE)
        row = {name: self._rows.column(name)[place].as_py() for name in self._rows.column_names}
        status = row["status"]
        is_moved = status is not None and FIRST_REDIRECT <= status < FIRST_ERROR
        sketch = row["sketch"]
        return Answer(
            url,
            turn,
            why,
            time=row["time"].timestamp() if row["time"] else 0.0,
            status=status,
            redirect=normalize(row["redirect"]) if is_moved and row["redirect"] else None,
            size=row["size"],
            digest=row["digest"],
            sketch=None if sketch is None else np.array(sketch, np.uint32),
        )

    def close(self) -> None:
        """Do nothing; the tables are in memory."""
