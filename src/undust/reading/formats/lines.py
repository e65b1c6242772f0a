"""Whole lines of a stream, with their numbers, as bytes or as a column.

A line too long to be held is not a line of any format here: it is skipped as one record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from undust._core import count_lines
from undust.files.streams import BLOCK_BYTES, LONGEST_LINE, Holds, line_chunks
from undust.reading.formats.recognising import UTF8_MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.reading.formats.reading import Reading

TOO_LONG = f"longer than {LONGEST_LINE:,} bytes"


class Lines(NamedTuple):
    """Some whole lines of a file."""

    data: bytes
    first: int
    """The number of the first of them; a file's first line is 1."""

    def place(self, index: int) -> str:
        """Return where a line is, for people."""
        return f"line {self.first + index}"

    def column(self) -> pa.Array:
        """Return the lines as a binary column, without their line ends."""
        return split_lines(self.data)


def blocks_of(file: BinaryIO) -> Iterator[bytes]:
    """Give what is left of a stream, block by block."""
    return iter(lambda: file.read(BLOCK_BYTES), b"")


def whole_lines(file: BinaryIO, reading: Reading) -> Iterator[Lines]:
    """Give the lines of a stream in pieces of about a megabyte; lines too long are skipped."""
    number = 1
    for chunk in line_chunks(blocks_of(file)):
        if chunk.holds is Holds.LINES:
            data = chunk.data.removeprefix(UTF8_MARK) if number == 1 else chunk.data
            yield Lines(data, number)
        elif chunk.holds is Holds.LONG_LINE:
            reading.skip(TOO_LONG, f"line {number}", chunk.data)
        number += count_lines(chunk.data)


def split_lines(data: bytes) -> pa.Array:
    """Return the lines of a text as a binary column, without their line ends."""
    if not data:
        return pa.array([], pa.binary())
    plain = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    plain = plain.removesuffix(b"\n")
    return pc.split_pattern(pa.array([plain], pa.binary()), b"\n").flatten()
