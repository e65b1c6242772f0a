"""How many different texts there were, in memory that does not grow with them.

Each text becomes a hash of 64 bits, and the smallest hashes are kept (Bar-Yossef et al., 2002). As long as
there are no more than `KEPT` the count is exact; beyond that, their density shows about how many
there were, with a standard error of 0.4 %. The same texts give the same number on every machine.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_KEPT = 1 << 16
STANDARD_ERROR = _KEPT**-0.5
_HASHES = 1 << 64


class Distinct:
    """A count of different texts."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._smallest: set[int] = set()
        self._bound = _HASHES

    def add(self, texts: Iterable[bytes]) -> None:
        """Count some texts, in any order and as often as they come."""
        for text in set(texts):
            number = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
            if number < self._bound:
                self._smallest.add(number)
        if len(self._smallest) > 2 * self._kept:
            self._forget()

    def _forget(self) -> None:
        kept = sorted(self._smallest)[: self._kept]
        self._smallest = set(kept)
        self._bound = kept[-1]

    @property
    def is_exact(self) -> bool:
        """Whether the count is exact."""
        return self._bound == _HASHES and len(self._smallest) <= self._kept

    @property
    def count(self) -> int:
        """How many different texts were added, or about how many."""
        if self.is_exact:
            return len(self._smallest)
        if len(self._smallest) > self._kept:
            self._forget()
        return round((self._kept - 1) * _HASHES / self._bound)
