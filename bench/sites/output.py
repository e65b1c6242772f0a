"""Rows into files: observations, the truth beside them, an access log. A batch at a time, all in one pass."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from undust.files.streams import open_output
from undust.files.writing import format_of, write_batches
from undust.reading.observations import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bench.sites.rows import Rows

COLUMNS = tuple(name for name in SCHEMA.names if name != "cluster")


def write(
    rows: Iterable[Rows],
    output: str,
    *,
    labels: str | None = None,
    log: str | None = None,
    format: str | None = None,  # noqa: A002
) -> int:
    """Write observations, and if asked for labels and a log; return how many rows there were."""
    chosen = format or format_of(output)
    count = 0
    with ExitStack() as stack:
        sinks: list[Callable[[Rows], bytes]] = []
        writers = []
        for path, make, head in ((labels, label_lines, b"url\tcluster\n"), (log, log_lines, b"")):
            if path is not None:
                out = stack.enter_context(open_output(path))
                out.write(head)
                sinks.append(make)
                writers.append(out.write)

        def passing() -> Iterator[pa.RecordBatch]:
            nonlocal count
            for each in rows:
                count += each.observations.num_rows
                for sink, writer in zip(sinks, writers, strict=True):
                    writer(sink(each))
                yield _as_written(each.observations, chosen)

        write_batches(_schema(chosen), passing(), output, chosen)
    return count


def label_lines(rows: Rows) -> bytes:
    """Return a line for each row: the URL and its page."""
    return _lines(pc.binary_join_element_wise(rows.observations["url"], rows.page, "\t"))


def log_lines(rows: Rows) -> bytes:
    """Return a line of a combined log for each row, with the host before it.

    The request is for the whole URL, as a proxy sees it, for a site may have several hosts.
    """
    seen = rows.observations
    moment = pc.strftime(_seconds(seen["time"]), "[%d/%b/%Y:%H:%M:%S +0000]")
    return _lines(
        pc.binary_join_element_wise(
            "127.0.0.1 - - ", moment, ' "GET ', seen["url"], ' HTTP/1.1" ', seen["status"].cast(pa.string()),
            " ", seen["size"].cast(pa.string()), ' "-" "-"', "",
        )
    )  # fmt: skip


def _seconds(moments: pa.Array) -> pa.Array:
    return moments.cast(pa.timestamp("s", "UTC"))


def _lines(texts: pa.Array) -> bytes:
    return "".join(f"{line}\n" for line in texts.to_pylist()).encode()


def _schema(chosen: str) -> pa.Schema:
    fields = [SCHEMA.field(name) for name in COLUMNS]
    if chosen != "parquet":
        as_text = {"time": pa.string()} | ({"sketch": pa.string()} if chosen == "csv" else {})
        fields = [pa.field(each.name, as_text.get(each.name, each.type)) for each in fields]
    return pa.schema(fields)


def _as_written(batch: pa.RecordBatch, chosen: str) -> pa.RecordBatch:
    columns = {name: batch[name] for name in COLUMNS}
    if chosen != "parquet":
        columns["time"] = pc.strftime(_seconds(columns["time"]), "%Y-%m-%dT%H:%M:%SZ")
    if chosen == "csv":
        lists = columns["sketch"].to_pylist()
        columns["sketch"] = pa.array(
            [None if each is None else json.dumps(each) for each in lists], pa.string()
        )
    return pa.record_batch([columns[name] for name in COLUMNS], schema=_schema(chosen))
