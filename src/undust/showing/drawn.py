"""What tables and texts for the terminal are made of: rich if it is installed, else the same without colour.

rich comes with `undust[learn]`. `explain` and `rules` are part of the base, so they work without it: the few
shapes that they print are here under the names and with the arguments that rich has for them (texts made of
pieces, rows in columns, one thing below the other), and styles are left out.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Group", "RenderableType", "Table", "Text", "plain_lines"]

_GAP = "  "
_NARROWEST = 8


class PlainText:
    """A text that pieces are added to."""

    def __init__(self, text: str = "", style: str = "") -> None:  # noqa: ARG002 -- as rich has it
        self.plain = text

    def append(self, text: str, style: str = "") -> Self:  # noqa: ARG002
        """Add a piece."""
        self.plain += text
        return self

    def append_text(self, text: PlainText) -> Self:
        """Add another text."""
        self.plain += text.plain
        return self

    def __str__(self) -> str:
        return self.plain


class PlainTable:
    """Rows in columns; the last column takes the rest of the line, and is folded."""

    def __init__(self, **_: Any) -> None:  # noqa: ANN401 -- styles
        self._rows: list[list[str]] = []

    def add_column(self, name: str, **_: Any) -> None:  # noqa: ANN401 -- styles
        """Do nothing: the tables of the base have no heads."""

    def add_row(self, *cells: object) -> None:
        """Add a row."""
        self._rows.append(list(map(str, cells)))

    def lines(self, width: int | None) -> Iterator[str]:
        """Yield the rows as lines."""
        if not self._rows:
            return
        widths = [max(map(len, column)) for column in zip(*self._rows, strict=True)][:-1]
        left = sum(widths) + len(_GAP) * len(widths)
        for *cells, last in self._rows:
            start = "".join(cell.ljust(size) + _GAP for cell, size in zip(cells, widths, strict=True))
            for line in _folded(last, None if width is None else max(width - left, _NARROWEST)):
                yield (start + line).rstrip()
                start = " " * left


class PlainGroup:
    """Several things, one below the other."""

    def __init__(self, *pieces: object) -> None:
        self.pieces = pieces


def plain_lines(piece: object, width: int | None) -> Iterator[str]:
    """Yield the lines of a text, a table or a group; without a width, no line is folded."""
    if isinstance(piece, PlainGroup):
        for each in piece.pieces:
            yield from plain_lines(each, width)
    elif isinstance(piece, PlainTable):
        yield from piece.lines(width)
    else:
        yield from _folded(str(piece), width)


def _folded(text: str, width: int | None) -> Iterator[str]:
    for line in text.split("\n"):
        if width is None or len(line) <= width:
            yield line
        else:
            yield from wrap(line, width, drop_whitespace=False, break_on_hyphens=False)


if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text
else:
    try:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text
    except ModuleNotFoundError:
        Group, Table, Text = PlainGroup, PlainTable, PlainText
    RenderableType = object
