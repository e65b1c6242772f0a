"""The contenders of a replay: each is asked about every URL, and told what was seen of those it wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

import undust
from undust.reading.observations import SCHEMA
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PERIOD = 1.5
"""Periodic relearning: whenever half as many pages more were seen."""
PERIOD_FIRST = 50


class Replayed(Protocol):
    """Whoever decides what is fetched."""

    def wants(self, url: str) -> bool:
        """Return whether to fetch a URL."""

    def see(self, row: Mapping[str, Any]) -> None:
        """Take what was seen."""

    def returned(self) -> list[str]:
        """Return URLs that are to be fetched after all."""


class Normalized:
    """No learner: what standard normalization makes equal is fetched once."""

    def __init__(self) -> None:
        self._key: Callable[[str], str] = RuleSet().compile().key
        self._keys: set[str] = set()

    def wants(self, url: str) -> bool:
        """Return whether its key is new."""
        key = self._key(url)
        is_new = key not in self._keys
        self._keys.add(key)
        return is_new

    def see(self, row: Mapping[str, Any]) -> None:
        """Learn nothing."""

    def returned(self) -> list[str]:
        """Return nothing."""
        return []


class Periodic(Normalized):
    """`undust.learn` from scratch whenever half as many pages more were seen; nothing is ever taken back."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Mapping[str, Any]] = []
        self._next = PERIOD_FIRST

    def see(self, row: Mapping[str, Any]) -> None:
        """Learn again now and then."""
        self._rows.append(row)
        if len(self._rows) >= self._next:
            self._next = int(len(self._rows) * PERIOD)
            rules = undust.learn(table_of_rows(self._rows))
            self._key = rules.compile().key
            self._keys = {self._key(each["url"]) for each in self._rows}


class Learning:
    """`CrawlLearner`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 -- its own
        self.learner = undust.CrawlLearner(**options)

    def wants(self, url: str) -> bool:
        """Return its decision."""
        return self.learner.decide(url).is_fetch

    def see(self, row: Mapping[str, Any]) -> None:
        """Let it learn."""
        self.learner.observe(row)

    def returned(self) -> list[str]:
        """Return what it hands back."""
        return self.learner.returned()


def table_of_rows(rows: list[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table with the columns of observations."""
    fields = [field for field in SCHEMA if field.name != "time"]
    return pa.table({each.name: pa.array([row.get(each.name) for row in rows], each.type) for each in fields})
