"""Lines in, lines out: the frame of the commands that do one thing to every URL of a list.

A command brings its work as a function from whole lines to whole lines; of files, order and ends of lines
it needs to know nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust.files.streams import LONGEST_LINE, Holds, line_chunks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from undust.cli.contract import Happened, Lines
    from undust.cli.tally import Tally
    from undust.files.change import Write

UTF8_MARK = b"\xef\xbb\xbf"
_NO_URL = b"-"
"""What no URL begins with."""


class JoinedLines:
    """Writes the lines of several files one after the other; a last line without its end gets one."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._is_line_open = False

    def begin_file(self) -> None:
        """End the last line of the file before."""
        if self._is_line_open:
            self._write(b"\n")
        self._is_line_open = False

    def write(self, data: bytes) -> None:
        """Write lines, or a piece of one."""
        if data:
            self._write(data)
            self._is_line_open = not data.endswith(b"\n")


def map_lines(  # noqa: PLR0913 -- one for each thing that differs between the commands
    blocks: Iterable[bytes],
    work: Callable[[bytes], bytes],
    write: Callable[[bytes], object],
    tally: Tally,
    *,
    keeps_long: bool = True,
    longest_line: int = LONGEST_LINE,
) -> None:
    """Write all lines of a stream, in order, as `work` makes them; lines too long to be held stay."""
    is_start = True
    for chunk in line_chunks(blocks, longest_line):
        data = chunk.data.removeprefix(UTF8_MARK) if is_start else chunk.data
        is_start = False
        if chunk.holds is Holds.LINES:
            write(work(data))
            continue
        if chunk.holds is Holds.LONG_LINE:
            tally.urls += 1
            tally.too_long += 1
        if keeps_long:
            write(data)


def keeping_rows(ask: Lines, data: bytes) -> tuple[bytes, int, Happened]:
    r"""Return what `ask` makes of lines; a line with a tab inside is not a URL, and stays as it is.

    By the standard a URL loses its tabs, which would glue the fields of a table together.

    >>> from undust.cli.mapping import Normalizing
    >>> keeping_rows(Normalizing().lines, b"HTTP://a.test\nhttp://a.test/x\t200\n")[:2]
    (b'http://a.test/\nhttp://a.test/x\t200\n', 2)
    """
    if b"\t" not in data:
        return ask(data)
    lines = data.split(b"\n")
    rows = [place for place, line in enumerate(lines) if b"\t" in line.strip()]
    if not rows:
        return ask(data)
    for place in rows:
        lines[place] = _NO_URL + lines[place]
    out, count, happened = ask(b"\n".join(lines))
    lines = out.split(b"\n")
    for place in rows:
        lines[place] = lines[place].removeprefix(_NO_URL)
    return b"\n".join(lines), count, happened
