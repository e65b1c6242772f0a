"""What a person said about the input, and what was met while reading one file of it.

Nothing is dropped silently. Three things can happen to a record that is not simply read, and each is
counted under a reason, with the place and a few samples:

* it is damaged and skipped; `strict` makes the first such one an error instead;
* it is whole and passed over, for it is no sighting of a page: a POST in a log, a `dns:` record;
* it is kept without one of its values, which could not be read; `strict` objects to that too, unless the
  value is as its author wrote it and only not to be believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa

from undust.errors import DamagedSource

if TYPE_CHECKING:
    from undust.reading.content.seen import PagesSeen
    from undust.reading.observations import Statement

SAMPLES_PER_REASON = 3
SAMPLE_BYTES = 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the person said; the same for every file of a job."""

    base: str | None = None
    """Scheme and host for paths in logs that name no host: `https://shop.test`."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Our column name to the name in the person's table: {"url": "address"}."""
    log_format: str | None = None
    """An Apache `LogFormat` or nginx `log_format` string, for logs of one's own making."""
    strict: bool = False
    """Stop at the first record that cannot be read."""
    shingle_words: int = 5
    """Words in a shingle of the sketch; 10 as published."""
    sketch_size: int = 32
    """Minima in a sketch; 4 as published."""


@dataclass(slots=True)
class SkippedRecords:
    """Records of one reason: how many, and a few of them with their place."""

    count: int = 0
    samples: list[tuple[str, bytes]] = field(default_factory=list)

    def add(self, place: str, sample: bytes, count: int) -> None:
        """Count records; the first few of all keep their place and their first bytes."""
        self.count += count
        if len(self.samples) < SAMPLES_PER_REASON:
            self.samples.append((place, sample[:SAMPLE_BYTES]))


@dataclass(slots=True)
class Reading:
    """One file being read."""

    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    format: str = ""
    """The name of the source that reads it."""
    rows: int = 0
    skipped: dict[str, SkippedRecords] = field(default_factory=dict)
    """Damaged records, by what is wrong with them."""
    passed_over: dict[str, SkippedRecords] = field(default_factory=dict)
    """Whole records that are no sighting of a page, by why they are none."""
    lost: dict[str, SkippedRecords] = field(default_factory=dict)
    """Values that could not be read in records that were kept, by what is wrong with them."""
    statements: dict[Statement, None] = field(default_factory=dict)
    """What sites say about their parameters, each once, in the order in which it was met."""
    seen: PagesSeen | None = None
    """What the pages of the whole job taught so far; None if this is the only file of it."""

    def skip(self, reason: str, place: str, sample: bytes = b"", count: int = 1) -> None:
        """Count a record that cannot be read; `place` is "line 7" or "offset 1234"."""
        self._object(reason, place)
        self.skipped.setdefault(reason, SkippedRecords()).add(place, sample, count)

    def pass_over(self, reason: str, place: str, sample: bytes = b"", count: int = 1) -> None:
        """Count a record that is in order and no sighting of a page."""
        self.passed_over.setdefault(reason, SkippedRecords()).add(place, sample, count)

    def lose(self, reason: str, place: str, sample: bytes = b"", count: int = 1) -> None:
        """Count a value that cannot be read, of a record that is kept without it."""
        self._object(reason, place)
        self.lost.setdefault(reason, SkippedRecords()).add(place, sample, count)

    def doubt(self, reason: str, place: str, sample: bytes = b"") -> None:
        """Count a value that is not to be believed, of a record that is kept without it."""
        self.lost.setdefault(reason, SkippedRecords()).add(place, sample, 1)

    def _object(self, reason: str, place: str) -> None:
        if self.options.strict:
            message = f"{self.name}: {place}: {reason}; leave out --strict to go on without it"
            raise DamagedSource(message)


Source = Callable[[BinaryIO, Reading], Iterator[pa.RecordBatch]]
"""Decompressed bytes in, batches of `observations.SCHEMA` out."""
