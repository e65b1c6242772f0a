"""How the memory that a person allows is shared out, and how many processes it feeds.

A part is for tables that are being gathered (what is larger goes to a file), a part for DuckDB's sort,
the rest for the sites in work. From it follows how many rows of one site are looked at together.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LEAST_MEMORY = 384 << 20
PROGRAM_BYTES = 96 << 20
"""What the program itself takes, with the libraries it needs."""
HELD_SHARE, SORT_SHARE = 0.125, 0.375
"""Of the memory that is left."""
SORT_BYTES = 64 << 20
"""What each thread of DuckDB needs to sort; with less it gives up."""
WORKER_BYTES = 512 << 20
"""What another process takes with the sites that it works on; there are no more than fit into the rest."""
ROW_BYTES = 1536
"""What a site takes for each of its rows while it is worked on, sketches included."""
JUDGED_URL_BYTES = 3 * ROW_BYTES
"""What it takes for each URL whose rules are judged, which may be fewer."""
SITE_ROWS = 2_000_000
"""Rows of one site that are looked at together where no memory is named."""
LARGE_SITE = 1_000_000
"""A site of more rows is not copied to another process."""


def bytes_of(text: str) -> int:
    """Return a size that a person wrote.

    >>> bytes_of("4GB"), bytes_of("512 MiB")
    (4294967296, 536870912)
    """
    match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].lower()]) if match else 0
    if size < LEAST_MEMORY:
        message = f"'{text}' is not a size of at least 384MB; write it like 4GB"
        raise ValueError(message)
    return size


def _room(memory: int) -> int:
    return max(memory - PROGRAM_BYTES, memory // 2)


def _for_sites(memory: int) -> int:
    return int(_room(memory) * (1 - HELD_SHARE - SORT_SHARE))


def site_rows(memory: int | None) -> int:
    """Return how many rows of one site are looked at together; it depends on this number alone.

    So all engines that are given the same memory take the same sample of a larger site.
    """
    return SITE_ROWS if memory is None else _for_sites(memory) // ROW_BYTES


def judged_urls(memory: int | None) -> int | None:
    """Return how many URLs of one site are judged together at most; None if memory does not limit it."""
    return None if memory is None else _for_sites(memory) // JUDGED_URL_BYTES


@dataclass(frozen=True)
class Budget:
    """The memory in bytes, or None for as much as it takes, and the threads."""

    memory: int | None
    threads: int

    @classmethod
    def of(cls, memory: int | str | None, threads: int | None) -> Budget:
        """Return the budget that a person names; all cores by default."""
        return cls(bytes_of(memory) if isinstance(memory, str) else memory, threads or os.cpu_count() or 1)

    @property
    def held_bytes(self) -> int | None:
        """A table of more goes to a file."""
        return None if self.memory is None else int(_room(self.memory) * HELD_SHARE)

    @property
    def sort_bytes(self) -> int | None:
        """What sorting may take."""
        return None if self.memory is None else int(_room(self.memory) * SORT_SHARE)

    @property
    def sort_threads(self) -> int:
        """How many threads may sort."""
        if self.sort_bytes is None:
            return self.threads
        return max(1, min(self.threads, self.sort_bytes // SORT_BYTES))

    @property
    def workers(self) -> int:
        """How many processes work on sites."""
        if self.memory is None:
            return self.threads
        return max(1, min(self.threads, _for_sites(self.memory) // WORKER_BYTES))

    @property
    def worker_rows(self) -> int:
        """A site of more rows is worked on by the first process, before there are others."""
        return LARGE_SITE if self.memory is None else (WORKER_BYTES - 2 * PROGRAM_BYTES) // ROW_BYTES
