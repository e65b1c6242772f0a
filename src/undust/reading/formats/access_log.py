"""Access logs of nginx, Apache and whatever writes like them.

A line is a sighting if it is a GET or HEAD with a request line that can be read. A log names paths;
the host comes from the line, if the log has one in it, or from the person (`--base`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from undust._core import LogFormat
from undust.reading.agents import crawlers_of_lines
from undust.reading.formats.lines import Lines, whole_lines
from undust.reading.formats.log_format import COMMON, VHOST, LineFormat, compiled
from undust.reading.formats.reading import Reading
from undust.reading.formats.recognising import LOG_LINE, head_lines
from undust.reading.formats.rows import NO_HOST, OTHER_METHOD, base_of, finished, no_base, shown_rows
from undust.urls import Url

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_FIT = "not in the format of the log"
NO_REQUEST = "without a request line"
ODD_TARGET = "the request is for neither a path nor an http(s) URL"
LOST_TIME = "time is in no form that is known"
LOST_SIZE = "size is not a whole number"
COLUMNS = ("url", "status", "size", "time", "redirect")
"""What the core reads out of a line, in its order."""
EVENTS = (NO_FIT, NO_REQUEST, OTHER_METHOD, ODD_TARGET, NO_HOST, LOST_TIME, LOST_SIZE)
"""The core's `LogEvent` in words."""


def fits(head: bytes, log_format: str) -> bool:
    """Return whether most of the first lines have a format that the person described."""
    lines = head_lines(head)
    described = compiled(log_format)
    reader = LogFormat(described.before, list(described.parts), "http://host", "", "")
    events = pa.array(reader.read(b"\n".join(lines))[len(COLUMNS)])
    return (
        len(lines) > 2 * pc.sum(pc.equal(events, EVENTS.index(NO_FIT))).as_py()
        if len(events)
        else bool(lines)
    )


def read(file: BinaryIO, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Give the sightings of a log."""
    custom = compiled(reading.options.log_format) if reading.options.log_format else None
    reader: LogFormat | None = None
    names_host = False
    for lines in whole_lines(file, reading):
        if reader is None:
            log_format = custom or _guessed(lines.data)
            names_host = log_format.names_host
            reader = LogFormat(log_format.before, list(log_format.parts), *_base(reading))
        *columns, _ = reader.read(lines.data)
        arrays = [pa.array(column) for column in columns]
        _note_events(arrays[len(COLUMNS) :], lines, reading, names_host=names_host)
        if reading.crawlers is not None:
            reading.crawlers.append(_crawlers(lines, arrays))
        yield finished(dict(zip(COLUMNS, arrays, strict=False)))


def _crawlers(lines: Lines, arrays: list[pa.Array]) -> pa.Array:
    """Return who asked in each line that is a sighting."""
    kinds, numbers = arrays[len(COLUMNS) : len(COLUMNS) + 2]
    lost = pa.array([EVENTS.index(reason) for reason in (LOST_TIME, LOST_SIZE)], kinds.type)
    skipped = numbers.filter(pc.invert(pc.is_in(kinds, lost))).to_pylist()
    return crawlers_of_lines(lines.column(), skipped, len(arrays[0]))


def _guessed(data: bytes) -> LineFormat:
    """Return the stock format that most of the first lines have."""
    with_host = without = 0
    for line in head_lines(data[:65536] + b"\n"):
        match = re.match(LOG_LINE, line)
        # The identity, which no server asks for any more, is the second word, or the third behind a host.
        if match and match["second"] == b"-":
            without += 1
        elif match and match["third"] == b"-":
            with_host += 1
    return VHOST if with_host > without else COMMON


def _base(reading: Reading) -> tuple[str, str, str]:
    """Return the base of paths, and the scheme and port that hosts in the log get from it."""
    base = base_of(reading)
    url = Url.parse(base) if base else None
    return ("", "", "") if url is None else (base or "", url.scheme, url.port or "")


def _note_events(events: list[pa.Array], lines: Lines, reading: Reading, *, names_host: bool) -> None:
    kinds, numbers, offsets, lengths = events
    for kind in sorted(pc.unique(kinds).to_pylist()):
        reason = EVENTS[kind]
        if reason == NO_HOST and not names_host:
            raise no_base(reading)
        note = _NOTES.get(reason, Reading.pass_over)
        for row, count in shown_rows(pc.indices_nonzero(pc.equal(kinds, kind))):
            start, length = offsets[row].as_py(), lengths[row].as_py()
            note(
                reading, reason, lines.place(numbers[row].as_py()), lines.data[start : start + length], count
            )


_NOTES = {NO_FIT: Reading.skip, LOST_TIME: Reading.lose, LOST_SIZE: Reading.lose}
"""How events that are damage are counted; all others are records that are not sightings."""
