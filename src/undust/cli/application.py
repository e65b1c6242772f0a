"""Rules applied to what a person has: a list of URLs, or a table with a column of them.

Everything goes block by block and in order, so that memory stays the same however long the input. Lines
stay bytes all the way: a URL in a strange encoding is the core's business, not Python's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, compress
from typing import TYPE_CHECKING

import click

from undust.cli import tables
from undust.cli.outputs import new_table
from undust.cli.tally import Tally
from undust.files.streams import Chunk, Holds, line_chunks, read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.cli.tables import ColumnNames, Write
    from undust.rules import Canonicalizer


@dataclass
class Application:
    """One run: how the rules are applied, and what was counted."""

    canonicalizer: Canonicalizer
    columns: ColumnNames
    keys: bool
    only_changed: bool
    stats: bool
    threads: int
    tally: Tally = field(default_factory=Tally)

    def run(
        self, paths: Sequence[str], input_format: str | None, output_format: str | None, write: Write
    ) -> None:
        """Read the files and write the results."""
        source = input_format or tables.format_of_name(paths[0])
        blocks: Iterator[bytes] = iter(())
        if source != "parquet":
            blocks = read_blocks(paths[0])
            if source is None and output_format not in {None, "lines"}:
                start = _first_line(blocks)
                blocks = chain([start], blocks)
                source = tables.format_of_content(start, self.columns.read)
        source = source or "lines"
        target = output_format or source
        if source == "lines":
            self._run_list(chain([blocks], map(read_blocks, paths[1:])), target, write)
        else:
            _require_one_table(paths, source, target)
            self._run_table(paths[0], blocks, source, target, write)

    def _run_list(self, streams: Iterable[Iterable[bytes]], target: str, write: Write) -> None:
        if target == "lines":
            self._lines_to_lines(streams, write)
            return
        with new_table(target, self.columns, write) as write_rows:
            for blocks in streams:
                for chunk in line_chunks(blocks, tables.LONGEST_ROW):
                    if chunk.holds is Holds.LINES:
                        before, after = self._pairs(chunk.data)
                        write_rows(_texts(before), _texts(after))
                    else:
                        self._count_long_line(chunk)

    def _lines_to_lines(self, streams: Iterable[Iterable[bytes]], write: Write) -> None:
        is_line_open = False
        for blocks in streams:
            if is_line_open:  # the file before has no line feed at its end
                write(b"\n")
            is_line_open = False
            for chunk in line_chunks(blocks):
                if chunk.holds is Holds.LINES:
                    data = self._applied(chunk.data)
                else:
                    self._count_long_line(chunk)
                    data = b"" if self.only_changed else chunk.data
                if data:
                    write(data)
                    is_line_open = not data.endswith(b"\n")

    def _count_long_line(self, chunk: Chunk) -> None:
        is_new = chunk.holds is Holds.LONG_LINE
        self.tally.urls += is_new
        self.tally.too_long += is_new

    def _applied(self, data: bytes) -> bytes:
        """Return whole lines as the rules make them."""
        if self.only_changed:
            _, after = self._pairs(data)
            return b"".join(line + b"\n" for line in after)
        out = self._asked(data)
        if self.stats:
            self.tally.add_texts(_lines_of(data), _lines_of(out))
        return out

    def _asked(self, data: bytes) -> bytes:
        out, count, counts = self.canonicalizer.lines(
            data, keys=self.keys, threads=self.threads, uses=self.stats
        )
        self.tally.add(count, counts)
        return out

    def _pairs(self, data: bytes) -> tuple[list[bytes], list[bytes]]:
        """Return whole lines and what becomes of them, one by one; only the changed ones if so asked."""
        before, after = _lines_of(data), _lines_of(self._asked(data))
        if self.stats:
            self.tally.add_texts(before, after)
        if self.only_changed:
            chosen = [old != new for old, new in zip(before, after, strict=True)]
            return list(compress(before, chosen)), list(compress(after, chosen))
        return before, after

    def _run_table(self, path: str, blocks: Iterable[bytes], source: str, target: str, write: Write) -> None:
        work: tables.Work = self._column
        if target == "lines":
            work, write = self._lines_instead(write), len  # the table itself goes nowhere
        if source == "jsonl":
            tables.map_json_lines(path, blocks, self.columns, work, write)
        elif source == "csv":
            tables.map_csv(path, blocks, self.columns, work, write)
        else:
            from undust.cli.parquet import map_parquet  # noqa: PLC0415 -- loads pyarrow, which is slow

            map_parquet(path, self.columns, work, write)

    def _column(self, urls: list[str | None]) -> tuple[list[str | None], list[bool]]:
        """Return what becomes of a column of URLs, and which rows are to be written."""
        import pyarrow as pa  # noqa: PLC0415 -- slow to load, and lists do without

        # JSON may hold half of a surrogate pair, which is no text for anybody else.
        known = [None if url is None else url.encode("utf-8", "replace").decode() for url in urls]
        column, counts = self.canonicalizer.counted_batch(
            pa.array(known, pa.string()), keys=self.keys, threads=self.threads, uses=self.stats
        )
        results: list[str | None] = column.to_pylist()
        self.tally.add(len(urls), counts)
        if self.stats:
            self.tally.add_texts(_bytes_of(known), _bytes_of(results))
        return results, [not self.only_changed or old != new for old, new in zip(known, results, strict=True)]

    def _lines_instead(self, write: Write) -> tables.Work:
        def work(urls: list[str | None]) -> tuple[list[str | None], list[bool]]:
            results, chosen = self._column(urls)
            write(b"".join((text or "").encode() + b"\n" for text in compress(results, chosen)))
            return results, [False] * len(results)

        return work


def _first_line(blocks: Iterator[bytes]) -> bytes:
    start = b""
    while b"\n" not in start and len(start) < tables.LONGEST_HEADER and (block := next(blocks, b"")):
        start += block
    return start


def _require_one_table(paths: Sequence[str], source: str, target: str) -> None:
    if len(paths) > 1:
        message = "tables have columns of their own, so give one FILE at a time"
        raise click.UsageError(message)
    if target not in {source, "lines"}:
        message = f"a table keeps its format: --output-format {source} or lines for this FILE, not {target}"
        raise click.UsageError(message)


def _lines_of(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _texts(lines: list[bytes]) -> list[str]:
    return [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]


def _bytes_of(texts: Iterable[str | None]) -> Iterator[bytes]:
    return (text.encode() for text in texts if text is not None)
