"""What a person said about the input, and what was met while reading one file of it.

Nothing is dropped silently: a record that cannot be read is counted under a reason, with
its place and a sample; `strict` makes the first one an error instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

import pyarrow as pa

from undust.errors import DamagedSource

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
class Skipped:
    """Records left out for one reason: how many, and a few of them with their place."""

    count: int = 0
    samples: list[tuple[str, bytes]] = field(default_factory=list)


@dataclass(slots=True)
class Reading:
    """One file being read."""

    name: str
    options: ReadOptions = field(default_factory=ReadOptions)
    rows: int = 0
    skipped: dict[str, Skipped] = field(default_factory=dict)

    def skip(self, reason: str, place: str, sample: bytes = b"") -> None:
        """Count a record that cannot be read; `place` is "line 7" or "offset 1234"."""
        if self.options.strict:
            message = f"{self.name}: {place}: {reason}; leave out --strict to skip such records"
            raise DamagedSource(message)
        skipped = self.skipped.setdefault(reason, Skipped())
        skipped.count += 1
        if len(skipped.samples) < SAMPLES_PER_REASON:
            skipped.samples.append((place, sample[:SAMPLE_BYTES]))


Source = Callable[[BinaryIO, Reading], Iterator[pa.RecordBatch]]
"""Decompressed bytes in, batches of `observations.SCHEMA` out."""
