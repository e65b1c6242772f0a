"""How many different texts there were, in memory that does not grow with them.

Each text becomes a hash of 64 bits, and the smallest hashes are kept (Bar-Yossef et al., 2002). As long as
there are no more than `KEPT` the count is exact; beyond that, their density shows about how many
there were, with a standard error of 0.4 %. The same texts give the same number on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undust._core import Distinct as DistinctHashes

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

_KEPT = 1 << 16
STANDARD_ERROR = _KEPT**-0.5


class Distinct:
    """A count of different texts."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._hashes = DistinctHashes(kept)

    def add(self, texts: Iterable[bytes]) -> None:
        """Count some texts, in any order and as often as they come."""
        for text in texts:
            self._hashes.add(text)

    def add_lines(self, data: bytes) -> None:
        """Count the lines of a text, without their line feeds."""
        self._hashes.add_lines(data)

    def add_column(self, column: pa.Array) -> None:
        """Count the texts of a column."""
        self._hashes.add_column(column)

    @property
    def is_exact(self) -> bool:
        """Whether the count is exact."""
        return self._hashes.is_exact

    @property
    def count(self) -> int:
        """How many different texts were added, or about how many."""
        return round(self._hashes.count)
