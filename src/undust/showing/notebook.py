"""Small tables for notebooks: text in, escaped HTML out, no script and no style sheet."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CODE = "font-family:monospace;overflow-wrap:anywhere;unicode-bidi:bidi-override;direction:ltr"
_MARKS = {"=": "{}", "-": "<del>{}</del>", "+": "<ins>{}</ins>"}


class HtmlText(str):
    """Text that is HTML already."""

    __slots__ = ()


def code(text: str) -> HtmlText:
    """Return a URL or a pattern as code; line breaks stay."""
    lines = "<br>".join(map(escape, text.split("\n")))
    return HtmlText(f'<code style="{CODE}">{lines}</code>')


def change(pieces: Iterable[tuple[str, str]]) -> HtmlText:
    """Return what turns one URL into another, with what goes struck out and what comes underlined."""
    shown = "".join(_MARKS[mark].format(escape(text)) for mark, text in pieces)
    return HtmlText(f'<code style="{CODE}">{shown}</code>')


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with a caption."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    words = f"<caption>{escape(caption)}</caption>"
    return f"<div><table>{words}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{text if isinstance(text, HtmlText) else escape(text)}</td>'
