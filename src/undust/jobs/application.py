"""One thing done to every URL of what a person has: a list, a table with a column of them, or records.

Everything goes block by block and in order, so that memory stays the same however long the input. Lines
and values stay bytes all the way: a URL in a strange encoding is the core's business, not Python's.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import WrongUsage
from undust.files.streams import STANDARD
from undust.jobs.mapping import JoinedLines, Tally, cells_of, keeping_rows, map_lines
from undust.jobs.urls_input import LISTS, OUTPUTS, UrlsInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from undust.files.change import Cell, Write, WriteRows
    from undust.jobs.mapping import Happened, UrlMapping
    from undust.reading.formats import Format, Reading
    from undust.reading.formats.files import LookedInto

LINES = "lines"
_LINE_WITH_PATH = re.compile(rb"^/", re.MULTILINE)


class OutputOptions(NamedTuple):
    """What is written."""

    format: str | None = None
    """Lines or a table; None: a table stays the table it is, and all else becomes lines."""
    into: str | None = None
    """The column for the results, if the person named it."""
    default_into: str = "canonical_url"
    only_changed: bool = False

    @property
    def column(self) -> str:
        """The column for the results."""
        return self.into or self.default_into


@dataclass
class Application:
    """One run: what is done to URLs, what is read and written, and what was counted."""

    mapping: UrlMapping
    input: UrlsInput = field(default_factory=UrlsInput)
    output: OutputOptions = field(default_factory=OutputOptions)
    stats: bool = False
    tell: Callable[[str], object] = len
    """Called with each file from which some records were not read."""
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        """Take the base as bytes; raise if it is not a URL."""
        base = self.input.options.base_url() if self.input.base else None
        self._base = (base or "").encode()

    def run(self, paths: Sequence[str], write: Write) -> None:
        """Read the files and write the results."""
        if len(paths) > 1:
            self._require_no_table(paths)
        looked, source = self.input.look(paths[0])
        if source.is_table:
            _require_same(source, self.output.format)
            self._run_table(looked, source, write)
            return
        self._require_no_column(looked, source)
        if self.output.format in {None, LINES}:
            self._run_lines(looked, source, paths[1:], JoinedLines(write))
        else:
            self._run_new_table(looked, source, paths[1:], write)

    def _require_no_table(self, paths: Sequence[str]) -> None:
        """Raise before any work if one of several files is a table."""
        for path in paths:
            if path != STANDARD and self.input.look(path)[1].is_table:
                message = "tables have columns of their own, so give one FILE at a time"
                raise WrongUsage(message)

    def _require_no_column(self, looked: LookedInto, source: Format) -> None:
        is_list = self.output.format in {None, LINES}
        for option, value in (("--column", self.input.column), ("--into", self.output.into)):
            if is_list and value is not None and looked.head:
                kind = "plain lines" if source.name == LISTS else source.name
                message = f"{looked.name} has no columns, as it is {kind}; leave out {option}"
                raise WrongUsage(message)

    def _files(
        self, looked: LookedInto, source: Format, rest: Sequence[str]
    ) -> Iterator[tuple[LookedInto, Format]]:
        """Give the files with their formats; each is opened when the one before has been read."""
        yield looked, source
        for path in rest:
            looked, source = self.input.look(path)
            if source.is_table:
                message = "tables have columns of their own, so give one FILE at a time"
                raise WrongUsage(message)
            yield looked, source

    def _run_lines(
        self, looked: LookedInto, source: Format, rest: Sequence[str], output: JoinedLines
    ) -> None:
        for each, kind in self._files(looked, source, rest):
            output.begin_file()
            if kind.name == LISTS:
                with self._judged(each, kind):
                    keeps_long = not self.output.only_changed
                    map_lines(each.blocks(), self._applied, output.write, self.tally, keeps_long=keeps_long)
            else:
                self._run_records(each, kind, lambda _, new: output.write(_as_lines(new)))

    def _run_new_table(self, looked: LookedInto, source: Format, rest: Sequence[str], write: Write) -> None:
        from undust.files.change import new_table  # noqa: PLC0415 -- for new tables only

        names = (self.input.column or "url", self.output.column)
        with new_table(self.output.format or LINES, names, write) as write_rows:
            for each, kind in self._files(looked, source, rest):
                if kind.name == LISTS:
                    with self._judged(each, kind):
                        self._list_to_table(each, write_rows)
                else:
                    self._run_records(each, kind, write_rows)

    def _list_to_table(self, looked: LookedInto, write_rows: WriteRows) -> None:
        from undust.files.change import LONGEST_ROW  # noqa: PLC0415 -- for tables only

        def work(data: bytes) -> bytes:
            before, after = self._pairs(data)
            write_rows(_texts(before), _texts(after))
            return b""

        map_lines(looked.blocks(), work, len, self.tally, keeps_long=False, longest_line=LONGEST_ROW)

    @contextmanager
    def _judged(self, looked: LookedInto, source: Format, column: list[str] | None = None) -> Iterator[None]:
        """Raise, when a file has been read, if most of it are not URLs."""
        before = self.tally.fit()
        yield
        name = column[0] if column else None
        self.input.require_fit(looked, source, self.tally.fit().since(before), name)

    def _applied(self, data: bytes) -> bytes:
        """Return whole lines as they become."""
        if self.output.only_changed:
            _, after = self._pairs(data)
            return b"".join(line + b"\n" for line in after)
        out = self._asked(data)
        if self.stats:
            self.tally.add_lines(data, out)
        return out

    def _asked(self, data: bytes) -> bytes:
        if self._base:
            data = _LINE_WITH_PATH.sub(self._base + b"/", data)
        out, count, happened = keeping_rows(self.mapping.lines, data)
        self.tally.add(count, happened)
        if happened.not_urls:
            self.tally.look_at(_lines_of(data))
        return out

    def _pairs(self, data: bytes) -> tuple[list[bytes], list[bytes]]:
        """Return whole lines and what becomes of them, one by one; only the changed ones if so asked."""
        before, after = _lines_of(data), _lines_of(self._asked(data))
        if self.stats:
            self.tally.add_texts(before, after)
        if self.output.only_changed:
            chosen = [old != new for old, new in zip(before, after, strict=True)]
            return list(compress(before, chosen)), list(compress(after, chosen))
        return before, after

    def _run_table(self, looked: LookedInto, source: Format, write: Write) -> None:
        chosen: list[str] = []
        choose = self.input.choose(looked.name)

        def remembered(header: Sequence[str], url_like: Sequence[str]) -> str:
            chosen[:] = [choose(header, url_like)]
            return chosen[0]

        is_lines = self.output.format == LINES
        with self._judged(looked, source, chosen):
            if source.name == "parquet":
                self._run_parquet(looked, source, remembered, write)
                return
            from undust.files.change import TableChange  # noqa: PLC0415 -- for tables only
            from undust.reading.formats.files import change_table  # noqa: PLC0415

            only_changed = self.output.only_changed
            # What is asked for as lines is written by the work; the table itself goes nowhere.
            change = TableChange(
                looked.name,
                remembered,
                self.input.column,
                self.output.column,
                work=self._cells_as_lines(write) if is_lines else self._cells,
                write=len if is_lines else write,
                drops_rows=only_changed or is_lines,
                only_changed=only_changed,
                work_lines=self._lines_as_lines(write) if is_lines else self._cell_lines,
            )
            change_table(looked, source, change)

    def _cell_lines(self, data: bytes) -> bytes:
        """Return what becomes of a column of URLs, given as lines."""
        asked = _LINE_WITH_PATH.sub(self._base + b"/", data) if self._base else data
        out, count, happened = self.mapping.lines(asked)
        self.tally.add(count, happened)
        if happened.not_urls:
            self.tally.look_at(_lines_of(asked))
        if self.stats:
            self.tally.add_lines(data, out)
        return out

    def _lines_as_lines(self, write: Write) -> Callable[[bytes], None]:
        def work(data: bytes) -> None:
            out = self._cell_lines(data)
            if not self.output.only_changed:
                write(out)
                return
            both = zip(_lines_of(data), _lines_of(out), strict=True)
            write(b"".join(new + b"\n" for old, new in both if old != new))

        return work

    def _cells(self, cells: Sequence[Cell]) -> tuple[Sequence[Cell], Sequence[bool] | None]:
        """Return what becomes of a column of URLs, and which rows are to be written."""
        if not cells:
            return [], None
        known = [b"" if cell is None else cell for cell in cells]
        asked = [self._base + cell if cell[:1] == b"/" else cell for cell in known] if self._base else known
        results, happened = cells_of(self.mapping.lines, asked)
        absent = cells.count(None)
        self.tally.add(len(cells), happened, absent=absent)
        self.tally.absent += absent
        if happened.not_urls:
            self.tally.look_at(asked)
            self.tally.blank -= absent
        if self.stats:
            is_there = [cell is not None for cell in cells]
            self.tally.add_texts(compress(known, is_there), compress(results, is_there))
        chosen = None
        if self.output.only_changed:
            chosen = [old != new for old, new in zip(known, results, strict=True)]
        if absent:
            return [None if old is None else new for old, new in zip(cells, results, strict=True)], chosen
        return results, chosen

    def _cells_as_lines(
        self, write: Write
    ) -> Callable[[Sequence[Cell]], tuple[Sequence[Cell], Sequence[bool] | None]]:
        def work(cells: Sequence[Cell]) -> tuple[Sequence[Cell], Sequence[bool]]:
            results, chosen = self._cells(cells)
            kept = results if chosen is None else list(compress(results, chosen))
            write(b"".join((text or b"").translate(None, b"\r\n") + b"\n" for text in kept))
            return results, [False] * len(results)

        return work

    def _run_parquet(
        self,
        looked: LookedInto,
        source: Format,
        choose: Callable[[Sequence[str], Sequence[str]], str],
        write: Write,
    ) -> None:
        from undust.files.parquet import ColumnChange, change_parquet, read_column  # noqa: PLC0415 -- slow

        with looked.opened(source) as file:
            if self.output.format == LINES:
                for column in read_column(file, looked.name, choose):
                    new, chosen = self._column(column)
                    write(_as_lines((new if chosen is None else new.filter(chosen)).to_pylist()))
                return
            drops_rows = self.output.only_changed
            change = ColumnChange(
                looked.name, choose, self.output.column, self._column, write, drops_rows=drops_rows
            )
            change_parquet(file, change)

    def _column(self, urls: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """Return what becomes of a column of URLs, and which rows are to be written."""
        import pyarrow.compute as pc  # noqa: PLC0415 -- slow to load, and lists do without

        asked = urls
        if self._base:
            is_path = pc.starts_with(urls, "/")
            asked = pc.if_else(is_path, pc.binary_join_element_wise(self._base.decode(), urls, ""), urls)
        results, happened = self.mapping.column(asked)
        self._count(asked, results, happened)
        if not self.output.only_changed:
            return results, None
        return results, pc.fill_null(pc.not_equal(urls, results), False)  # noqa: FBT003 -- the value

    def _count(self, urls: pa.Array, results: pa.Array, happened: Happened) -> None:
        self.tally.add(len(urls), happened)
        if happened.not_urls:
            self.tally.look_at(list(_bytes_of(urls.to_pylist())))
        # A row without a value is neither a URL nor anything else.
        self.tally.absent += urls.null_count
        if self.stats:
            self.tally.add_columns(urls, results)

    def _run_records(self, looked: LookedInto, source: Format, write_rows: WriteRows) -> None:
        """Write the URL of each record of a log, an archive or a sitemap."""
        from undust.reading.formats import Reading  # noqa: PLC0415
        from undust.reading.formats.files import records_of  # noqa: PLC0415 -- for records only

        reading = Reading(looked.name, self.input.options)
        for batch in records_of(looked, source, reading):
            urls = batch.column("url")
            results, chosen = self._column(urls)
            if chosen is not None:
                urls, results = urls.filter(chosen), results.filter(chosen)
            write_rows(urls.to_pylist(), results.to_pylist())
        self._note(looked, source, reading)

    def _note(self, looked: LookedInto, source: Format, reading: Reading) -> None:
        """Count and report the records that were not read; raise if they are too many."""
        skipped = sum(records.count for records in reading.skipped.values())
        passed_over = sum(records.count for records in reading.passed_over.values())
        self.tally.records_skipped += skipped
        self.tally.records_passed_over += passed_over
        self.input.require_records(looked, source, reading.rows + passed_over, skipped)
        if skipped or passed_over:
            self.tell(str(reading.report()))


def _require_same(source: Format, target: str | None) -> None:
    if target not in {None, LINES, source.name}:
        same = (
            f"--output-format {source.name} or lines"
            if source.name in OUTPUTS
            else "no --output-format, or lines,"
        )
        message = f"a table keeps its format: {same} for this FILE, not {target}"
        raise WrongUsage(message)


def _lines_of(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _as_lines(texts: Sequence[str | None]) -> bytes:
    return "".join(f"{text or ''}\n" for text in texts).encode("utf-8", "surrogateescape")


def _texts(lines: list[bytes]) -> list[str]:
    return [line.removesuffix(b"\r").decode("utf-8", "replace") for line in lines]


def _bytes_of(texts: Sequence[str | None]) -> Iterator[bytes]:
    return (text.encode() for text in texts if text is not None)
