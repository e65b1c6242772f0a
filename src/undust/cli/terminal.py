"""What a command prints: texts of strangers as they wrote them, and nothing that a terminal would obey.

A URL, a rule or a name may hold escape sequences that rewrite the screen, change the title or turn a line
around. Results in files and pipes are never touched; this module prints for people and programs. What goes to
stdout is the result, or the summary for programs, and never both.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from undust.errors import harmless, printable
from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import RenderableType
    from rich.segment import Segment


def say(text: object, *, err: bool = False) -> None:
    """Print text of one or several lines."""
    click.echo(harmless(str(text)), err=err)


def say_json(value: Any) -> None:  # noqa: ANN401 -- any JSON value
    """Print a value for programs on one line; what does not print is escaped, which means the same."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)
    click.echo(text)


def require_stdout_for_one(output: str | None, *, as_json: bool) -> None:
    """Refuse to write two things to stdout."""
    if as_json and output == STANDARD:
        message = "--json needs stdout for itself, so name a file with -o"
        raise click.UsageError(message)


@contextmanager
def destination(output: str | None, *, as_json: bool) -> Iterator[Callable[[bytes], object]]:
    """Give the function that writes the lines of a result; with `--json` and no file they go nowhere."""
    if as_json and output is None:
        yield len  # counted, not written
    else:
        with open_output(STANDARD if output is None else output) as opened:
            yield opened.write


PIPE_WIDTH = 100
MARKS = {"bold": "\x02", "dim": "\x03"}
_END = "\x04"
_STYLES = {"\x02": "\x1b[1m", "\x03": "\x1b[2m", _END: "\x1b[0m"}
"""Marks that lines carry for styles; who writes one into a URL makes a word bold, and that is all."""


def show(*pieces: RenderableType, wrap: bool = True) -> None:
    """Print to stdout; without `wrap`, a line is as long as its text."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    try:
        text = _coloured(pieces, is_terminal=is_terminal, wrap=wrap)
    except ModuleNotFoundError:  # rich is not part of the base
        text = _plain(pieces, shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH, wrap=wrap)
    # Through click, so that a closed pipe or a full disk ends like everywhere else.
    click.echo(text if is_terminal else "".join(f"{line.rstrip()}\n" for line in text.splitlines()), nl=False)


def _coloured(pieces: Iterable[RenderableType], *, is_terminal: bool, wrap: bool) -> str:
    from rich.console import Console  # noqa: PLC0415 -- slow to load, and not part of the base

    class HarmlessConsole(Console):
        """A console on which texts are shown and never obeyed; rich itself lets escape sequences through."""

        def _render_buffer(self, buffer: Iterable[Segment]) -> str:
            return super()._render_buffer(
                segment if segment.control else segment._replace(text=harmless(segment.text))
                for segment in buffer
            )

    out = io.StringIO()
    console = HarmlessConsole(
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
    return out.getvalue()


def _plain(pieces: Iterable[object], width: int, *, wrap: bool) -> str:
    from undust.showing.drawn import plain_lines  # noqa: PLC0415 -- only where rich is missing

    lines = (line for piece in pieces for line in plain_lines(piece, width if wrap else None))
    return "".join(f"{printable(line)}\n" for line in lines)


def show_lines(lines: Callable[[int, Callable[[str, str], str]], Iterable[str]]) -> None:
    """Print the lines that `lines(width, styled)` gives, coloured on a terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH

    def styled(text: str, style: str) -> str:
        return f"{MARKS[style]}{text}{_END}" if style in MARKS else text

    for line in lines(width, styled if is_terminal else lambda text, _style: text):
        # Marks of one byte are put in for styles, and styles for marks only after everything else.
        shown = printable(line) if not is_terminal else "".join(map(_shown, line))
        click.echo(shown)


def _shown(char: str) -> str:
    return _STYLES.get(char) or printable(char)
