"""What is done to URLs, and what is reported about it; for type checkers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Happened(Protocol):
    """What happened to URLs; the core's `Counts` is one."""

    @property
    def changed(self) -> int:
        """How many are not what they were."""

    @property
    def not_urls(self) -> int:
        """How many are not URLs, and stayed."""

    @property
    def skipped(self) -> int:
        """How many have a user name, or are too long."""

    @property
    def unresolved(self) -> int:
        """How many came to no end."""

    @property
    def uses(self) -> list[int]:
        """By rule, how many URLs it changed; empty if not asked for."""


Lines = Callable[[bytes], tuple[bytes, int, Happened]]
"""Whole lines to the new lines, their number and what happened."""


class UrlMapping(Protocol):
    """One thing that is done to every URL."""

    def lines(self, data: bytes) -> tuple[bytes, int, Happened]:
        """Return whole lines of URLs as they become, their number, and what happened."""

    def column(self, urls: pa.Array) -> tuple[pa.Array, Happened]:
        """Return the same for a column."""
