"""A list of URLs and what became of them, as a table of two columns."""

from __future__ import annotations

import csv
import io
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from undust.files.change import Write

    Names = tuple[str, str]

    WriteRows = Callable[[list[str], list[str]], None]


@contextmanager
def new_table(kind: str, columns: Names, write: Write) -> Iterator[WriteRows]:
    """Give a function that writes rows: the URLs, and the results beside them."""
    if kind == "jsonl":
        yield lambda urls, results: _write_json_lines(urls, results, columns, write)
    elif kind == "csv":
        write(csv_text([list(columns)]))
        yield lambda urls, results: _write_csv(urls, results, write)
    else:
        with _parquet(columns, write) as write_rows:
            yield write_rows


def _write_json_lines(urls: list[str], results: list[str], columns: Names, write: Write) -> None:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(urls, results, strict=True))
    write("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode())


def _write_csv(urls: list[str], results: list[str], write: Write) -> None:
    write(csv_text(map(list, zip(urls, results, strict=True))))


@contextmanager
def _parquet(columns: Names, write: Write) -> Iterator[WriteRows]:
    import pyarrow as pa  # noqa: PLC0415 -- slow to load, and seldom needed

    from undust.files.writing import writing_parquet  # noqa: PLC0415

    schema = pa.schema([(name, pa.string()) for name in columns])
    with writing_parquet(schema, write) as write_batch:

        def write_rows(urls: list[str], results: list[str]) -> None:
            if urls:
                write_batch(pa.record_batch([pa.array(urls), pa.array(results)], schema=schema))

        yield write_rows


def csv_text(rows: Iterable[list[str]]) -> bytes:
    """Return rows as lines of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")
