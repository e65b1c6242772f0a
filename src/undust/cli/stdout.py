"""What goes to stdout: the result, or the summary for programs, and never both."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from undust.files.streams import STANDARD, open_output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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
