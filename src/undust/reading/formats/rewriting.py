"""The same table written with one column changed, for every format that has columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import SourceError
from undust.files.delimited import Layout, change_delimited, raw_values
from undust.reading.formats.recognising import TAB, UTF8_MARK, delimiter_of, header_names, separator_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undust.files.writing import TableChange
    from undust.reading.formats import Format
    from undust.reading.formats.files import LookedInto

CDX_PLACE = 2
"""Where the URL is in a CDX line without a header, in every layout."""
CDX_NAMES = ("a", "url", "original")
"""What the URL of a CDX file without names of its own may be called."""
_CDX_MARK = re.compile(rb"\s*CDX[ \t]")


def change_table(looked: LookedInto, source: Format, change: TableChange) -> None:
    """Write a table that is not Parquet with the results in their column."""
    blocks = looked.blocks()
    if source.name == "csv":
        change_delimited(blocks, change, _table_layout(delimiter_of(_first_line(looked.head)), quotes=True))
    elif source.name == "tsv":
        change_delimited(blocks, change, _table_layout(TAB, quotes=False))
    elif source.name == "cdx":
        cdx = _Cdx(_first_line(looked.head), change)
        change_delimited(blocks, cdx.changed(), cdx.layout())
    elif source.name == "json":
        from undust.files.arrays import change_json_array  # noqa: PLC0415 -- for this format only

        change_json_array(blocks, change)
    else:
        from undust.files.objects import change_cdxj, change_json_lines  # noqa: PLC0415

        (change_cdxj if source.name == "cdxj" else change_json_lines)(blocks, change)


def _first_line(head: bytes) -> bytes:
    return head.removeprefix(UTF8_MARK).lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")


def _table_layout(delimiter: bytes, *, quotes: bool) -> Layout:
    def header(record: bytes) -> tuple[bytes, list[bytes]]:
        return b"", raw_values(record, delimiter) if quotes else record.split(delimiter)

    return Layout(delimiter, quotes, header)


class _Cdx(NamedTuple):
    """A CDX file: its header has letters or names, or it has none."""

    first: bytes
    change: TableChange

    @property
    def has_names(self) -> bool:
        """Whether its first line names the fields, as tables of CDX servers do."""
        return header_names(self.first) is not None and not _CDX_MARK.match(self.first)

    def layout(self) -> Layout:
        return Layout(
            separator_of(self.first) if header_names(self.first) else b" ",
            has_quotes=False,
            header=self._header,
            fixed=CDX_PLACE,
            fixed_names=CDX_NAMES,
            fills=False,
        )

    def _header(self, line: bytes) -> tuple[bytes, list[bytes]] | None:
        if header_names(line) is None:
            self._choose([], [])
            return None
        mark = _CDX_MARK.match(line)
        start = mark.end() if mark else 0
        return line[:start], line[start:].split(separator_of(line))

    def changed(self) -> TableChange:
        if self.has_names:
            return self.change
        is_url = self.change.written in CDX_NAMES
        return self.change._replace(choose=self._choose, written="a" if is_url else self.change.written)

    def _choose(self, header: Sequence[str], _: Sequence[str]) -> str:
        said = self.change.said
        if said is not None and said not in {*CDX_NAMES, *header}:
            self.change.choose(header or [CDX_NAMES[0]], [])  # raises: there is no such column
        if header and "a" not in header:
            message = f"{self.change.name}: its header names no field for the URL ('a'); fix the first line"
            raise SourceError(message)
        return "a" if said is None or said in CDX_NAMES else said
