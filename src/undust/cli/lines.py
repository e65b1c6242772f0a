"""Lines in, lines out: the frame of the commands that do one thing to every URL of a list.

A command brings its work as a function from whole lines to whole lines, of the core; everything about
files, order, counts and the summary is here. No line is ever touched in Python.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import click

from undust.cli.stdout import destination, require_stdout_for_one
from undust.cli.terminal import say_json
from undust.files.streams import (
    BLOCK_BYTES,
    LONGEST_LINE,
    STANDARD,
    Holds,
    line_chunks,
    read_blocks,
    require_readable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Work = Callable[[bytes], tuple[bytes, int, int, int]]
    """Whole lines to the new lines, their number, how many changed and how many are no URLs."""


@dataclass
class LineCounts:
    """What happened to the lines; those too long to be held are in no count but `lines` and their own."""

    lines: int = 0
    changed: int = 0
    not_urls: int = 0
    too_long: int = 0


def map_lines(
    paths: Sequence[str],
    work: Work,
    write: Callable[[bytes], object],
    block_bytes: int = BLOCK_BYTES,
    longest_line: int = LONGEST_LINE,
) -> LineCounts:
    """Write all lines of the files, in order, as `work` makes them; return what happened."""
    counts = LineCounts()
    is_line_open = False
    for path in paths:
        if is_line_open:  # the file before has no line feed at its end
            write(b"\n")
            is_line_open = False
        for chunk in line_chunks(read_blocks(path, block_bytes), longest_line):
            data = chunk.data
            if chunk.holds is Holds.LINES:
                data, lines, changed, not_urls = work(data)
                counts.lines += lines
                counts.changed += changed
                counts.not_urls += not_urls
            elif chunk.holds is Holds.LONG_LINE:
                counts.lines += 1
                counts.too_long += 1
            write(data)
            is_line_open = not data.endswith(b"\n")
    return counts


def run(files: Sequence[str], output: str | None, work: Work, *, as_json: bool, quiet: bool) -> None:
    """Do the whole job of such a command."""
    require_stdout_for_one(output, as_json=as_json)
    paths = files or (STANDARD,)
    require_readable(paths)
    is_talking = not quiet and sys.stderr is not None and sys.stderr.isatty()
    if is_talking and STANDARD in paths and sys.stdin is not None and sys.stdin.isatty():
        click.echo("One URL per line, please; Ctrl-D ends.", err=True)
    started = perf_counter()
    with destination(output, as_json=as_json) as write:
        counts = map_lines(paths, work, write)
    seconds = perf_counter() - started
    if as_json:
        say_json({**asdict(counts), "seconds": round(seconds, 6)})
    elif is_talking:
        click.echo(summary(counts, seconds), err=True)


def summary(counts: LineCounts, seconds: float) -> str:
    """Return the counts as a person reads them.

    >>> summary(LineCounts(lines=1200, changed=1, not_urls=3), 0.5)
    '1,200 lines: 1 changed, 3 not URLs (unchanged); 0.5 s, 2,400 lines/s'
    """
    parts = [f"{counts.changed:,} changed"]
    if counts.not_urls:
        parts.append(f"{counts.not_urls:,} not URLs (unchanged)")
    if counts.too_long:
        parts.append(f"{counts.too_long:,} too long (unchanged)")
    speed = counts.lines / max(seconds, 1e-6)
    return f"{counts.lines:,} lines: {', '.join(parts)}; {seconds:.1f} s, {speed:,.0f} lines/s"
