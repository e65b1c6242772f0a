"""How results appear to people: counts, texts safe for a terminal, plain tables, objects that others draw.

A rule set prints as a table, and a notebook shows it as HTML, yet `rules` does not import `showing`. The
front door (`undust/__init__.py`) says which function draws which object; it is loaded at first use, so
that a crawler never loads a table.

rich comes with `undust[learn]`. `explain` and `rules` are part of the base, so they work without it: the few
shapes that they print are here under the names and with the arguments that rich has for them (texts made of
pieces, rows in columns, one thing below the other), and styles are left out.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in the front door, which loads this file
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Self

_GAP = "  "
_NARROWEST = 8
DRAWERS: dict[tuple[str, str], str] = {}
"""By class and form (`text`, `html`): the module and the function that draws it, as `module:function`."""


def drawn(kind: str, form: str, value: object) -> str:
    """Return an object of a kind as a text of a form."""
    module, _, function = DRAWERS[kind, form].partition(":")
    return str(getattr(import_module(module), function)(value))


def in_per_cent(share: float) -> str:
    """Return a share in per cent, with two digits that matter.

    >>> in_per_cent(0.00381), in_per_cent(0.0999), in_per_cent(0.4712), in_per_cent(1.0)
    ('0.38 %', '10 %', '47 %', '100 %')
    """
    return f"{float(f'{100 * share:.2g}'):g} %"


def how_many(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> how_many(1200, "URL"), how_many(1, "more form"), how_many(0, "site")
    ('1,200 URLs', '1 more form', '0 sites')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def printable(text: str, *, keep: str = "") -> str:
    r"""Return a text with line feeds, escape sequences and all else that a terminal would obey written out.

    >>> print(printable("caf\u00e9\n\x1b[31m"))
    café\n\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def harmless(text: str) -> str:
    """Return the same for a text of several lines, which stay lines."""
    return printable(text, keep="\n\t")


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
    from textwrap import wrap  # noqa: PLC0415 -- slow to load, and only where rich is missing

    for line in text.split("\n"):
        if width is None or len(line) <= width:
            yield line
        else:
            yield from wrap(line, width, drop_whitespace=False, break_on_hyphens=False)
