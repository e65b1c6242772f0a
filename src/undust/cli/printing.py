"""Coloured tables on a terminal, plain ones of a fixed width in a pipe."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rich.console import RenderableType

PIPE_WIDTH = 100


def show(*pieces: RenderableType, wrap: bool = True) -> None:
    """Print to stdout; without `wrap`, a line is as long as what it says."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    out = io.StringIO()
    console = Console(
        file=out,
        width=None if is_terminal else PIPE_WIDTH,
        force_terminal=is_terminal,
        color_system="auto" if is_terminal else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not wrap,
    )
    for piece in pieces:
        console.print(piece)
    # Through click, so that a closed pipe or a full disk ends like everywhere else.
    text = out.getvalue()
    click.echo(text if is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()), nl=False)


def show_lines(lines: Callable[[int, Callable[[str, str], str]], Iterable[str]]) -> None:
    """Print the lines that `lines(width, styled)` gives, coloured on a terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH

    def styled(text: str, style: str) -> str:
        return click.style(text, bold=style == "bold" or None, dim=style == "dim" or None)

    for line in lines(width, styled if is_terminal else lambda text, _style: text):
        click.echo(line)
