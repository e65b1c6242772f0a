"""Reading an archive in spite of its damage: each broken record costs itself and no other.

The libraries that read archives give up where a file is broken. Here reading is taken up again at the next
place where a record begins, packed or plain. Before that, the last record that was read is looked at
once more: one whose length is wrong swallows its neighbours, and then they are read and it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from undust.files.packing import packing_of_content
from undust.reading.formats.records import DAMAGED_PACKING, NO_HEADER, WRONG_LENGTH, ArchiveRecord
from undust.reading.formats.window import MOST_HELD, WINDOW_BYTES, WINDOW_HEAD_BYTES, Window

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from undust.files.packing import Packing


class Damage(NamedTuple):
    """A place where no record could be read."""

    offset: int
    reason: str
    sample: bytes = b""


Row = TypeVar("Row")


class Archive(NamedTuple, Generic[Row]):
    """A kind of archive, and what is made of its records."""

    records: Callable[[Window], Iterator[ArchiveRecord]]
    start: re.Pattern[bytes]
    """How a record begins."""
    length: Callable[[bytes], int | None]
    """From the first bytes of a record to how long it is, without the line ends behind it."""
    row_of: Callable[[ArchiveRecord], Row]
    """Reads a record; called once for each, and what it returns is given on if the record is whole."""

    def rows(self, window: Window) -> Iterator[Row | Damage]:
        """Give what is made of each whole record, and each damaged place, in order."""
        begin = failures = 0
        is_found = True
        while is_found:
            pending: tuple[int, Row] | None = None
            started = window.tell()
            try:
                for record in self.records(window):
                    if pending:
                        yield pending[1]
                    pending, failures = None, 0
                    begin = record.offset
                    window.forget(begin)
                    row = self.row_of(record)
                    if damage := record.payload.damage():
                        yield Damage(begin, damage)
                        begin += 1
                        break
                    pending = (begin, row)
                else:
                    is_found = False
            except OSError as error:
                end = self._end(window, pending[0]) if pending else None
                if pending and end is None:
                    yield Damage(pending[0], WRONG_LENGTH)
                else:
                    begin = begin if end is None else end
                    yield from [pending[1]] if pending else []
                    yield _damage(window, begin, error)
                # Where starts without records follow each other, ever larger steps are made.
                begin += 1 << min(failures, 16)
                failures += 1
                pending = None
            if pending:
                yield pending[1]
            # In what is packed as a whole, offsets are those of unpacked bytes, which may be further back.
            is_found = is_found and window.find_start(max(begin, started + 1), self.start)
            begin = window.tell()

    def _end(self, window: Window, offset: int) -> int | None:
        """Return where the next record should begin; None if the one at `offset` has a wrong length."""
        window.go_back(offset)
        head = window.peek(WINDOW_HEAD_BYTES)
        packing = packing_of_content(head)
        if packing:
            return self._end_of_member(window, packing, offset)
        if not self.start.match(head):
            # Inside of a member that holds many records; the place is not known.
            return offset
        size = self.length(window.take(WINDOW_BYTES))
        if not size or size > MOST_HELD:
            return None
        window.go_back(offset)
        rest = window.take(size + 4)[size:]
        return None if rest.strip(b"\r\n") else offset + size + 4

    def _end_of_member(self, window: Window, packing: Packing, offset: int) -> int | None:
        unpacker, held = packing.new_unpacker(), bytearray()
        try:
            for block in iter(window.read, b""):
                held += unpacker.decompress(block, WINDOW_BYTES)
                while not (unpacker.eof or unpacker.needs_input or len(held) > MOST_HELD):
                    held += unpacker.decompress(b"", WINDOW_BYTES)
                if unpacker.eof or len(held) > MOST_HELD:
                    break
        except packing.failure():
            return offset
        size = self.length(bytes(held[:WINDOW_BYTES]))
        rest = held[size : size + WINDOW_HEAD_BYTES].lstrip(b"\r\n") if size else b"?"
        is_whole = size and size <= len(held) and (not rest or self.start.match(rest))
        return window.tell() - len(unpacker.unused_data) if is_whole else None


def _damage(window: Window, offset: int, error: OSError) -> Damage:
    window.go_back(offset)
    return Damage(offset, NO_HEADER if "header" in str(error) else DAMAGED_PACKING, window.peek(64))
