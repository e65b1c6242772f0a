"""What a command does to a table: a column is read, another one is written, the rest stays as it is.

Rows come and go in the order of the input, a block at a time. A column that is already there is replaced
in its place; a new one goes to the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from undust.errors import DamagedSource
from undust.files.streams import Holds, line_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_ROW = 1 << 26
"""A row of more bytes than this is too long to be held."""
UTF8_MARK = b"\xef\xbb\xbf"

Cell = bytes | None
Write = Callable[[bytes], object]
Work = Callable[[Sequence[Cell]], tuple[Sequence[Cell], Sequence[bool] | None]]
"""A block of URLs to what becomes of them, and which rows to write; None: all of them."""
WorkLines = Callable[[bytes], bytes | None]
"""The same for URLs as lines, to as many lines; None: nothing of their rows is written."""
Choose = Callable[[Sequence[str], Sequence[str]], str]
"""From the names of the columns, and of those that hold nothing but URLs, to the column of the URLs."""


class TableChange(NamedTuple):
    """What is done to one table."""

    name: str
    """What an error calls the file."""
    choose: Choose
    said: str | None
    """The column that the person named, if any."""
    written: str
    """The column that gets the results."""
    work: Work
    write: Write
    drops_rows: bool = False
    """Some rows are not written."""
    only_changed: bool = False
    """Only rows are written whose URL changes."""
    work_lines: WorkLines | None = None
    """What is done to URLs that hold no line break; without it they are cells like all others."""


class Numbered(NamedTuple):
    """Whole lines, and the number of the first of them."""

    data: bytes
    first: int


def numbered_lines(name: str, blocks: Iterable[bytes]) -> Iterator[Numbered]:
    """Give whole lines, without the mark that begins some UTF-8 files; raise at one too long to be held."""
    number = 1
    for chunk in line_chunks(blocks, LONGEST_ROW):
        if chunk.holds is not Holds.LINES:
            message = f"{name}:{number}: longer than {LONGEST_ROW >> 20} MiB, which no row may be; remove it"
            raise DamagedSource(message)
        yield Numbered(chunk.data.removeprefix(UTF8_MARK) if number == 1 else chunk.data, number)
        number += chunk.data.count(b"\n")


def text_from_bytes(data: bytes) -> str:
    r"""Return a URL; bytes that are not UTF-8 become percent triplets.

    >>> text_from_bytes(b"http://a.test/caf\xe9")
    'http://a.test/caf%E9'
    """
    text = data.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)
