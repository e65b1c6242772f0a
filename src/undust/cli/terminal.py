"""What a command prints: texts of strangers as they wrote them, and nothing that a terminal would obey.

A URL, a rule or a name may hold escape sequences that rewrite the screen, change the title or turn a line
around. Results in files and pipes are never touched; this module prints for people and programs. What goes to
stdout is the result, or the summary for programs, and never both.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from undust.errors import harmless
from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
