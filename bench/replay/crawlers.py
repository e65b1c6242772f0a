"""The contenders of a replay: each is asked about every URL, and told what was seen of those it wanted."""

from __future__ import annotations

import json
import subprocess
import tempfile
from importlib import import_module
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

import undust
from undust.reading.observations import SCHEMA
from undust.rules import RuleSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bench.replay.crawls import LabelledCrawl

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

    @property
    def explored(self) -> int:
        """How many duplicates were fetched to test rules."""


class Normalized:
    """No learner: what standard normalization makes equal is fetched once."""

    explored: int = 0

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
            self._key = self._learned(self._rows).compile().key
            self._keys = {self._key(each["url"]) for each in self._rows}

    def _learned(self, rows: list[Mapping[str, Any]]) -> RuleSet:
        return undust.learn(table_of_rows(rows))


class PeriodicCommand(Periodic):
    """The same with the `learn` of another installed undust."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command

    def _learned(self, rows: list[Mapping[str, Any]]) -> RuleSet:
        with tempfile.TemporaryDirectory() as name:
            seen, rules = Path(name) / "seen.jsonl", Path(name) / "rules.json"
            seen.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            words = [self._command, "learn", str(seen), "-o", str(rules), "--quiet"]
            # It ends with other numbers if it finds no rule.
            subprocess.run(words, check=False, stdout=subprocess.DEVNULL)
            return undust.load(rules) if rules.exists() else RuleSet()


DUPLICATE, EXPLORED = 0.98, 0.05
"""What MaybeDont's own Scrapy middleware uses."""
WORDS_OF_A_PAGE = 40


class SortedRandom(Random):
    """Draws from sets, as Python did until 3.10 and MaybeDont 0.1.1 needs, and the same in every run."""

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:  # noqa: ANN401 -- as in Random
        """Return some of a collection."""
        return super().sample(sorted(population), k)


class MaybeDont(Normalized):
    """MaybeDont, with what no crawler knows: exactly which pages are the same."""

    def __init__(self, page_of: Mapping[str, str], seed: int) -> None:
        super().__init__()
        import_module("maybedont.predict").random = SortedRandom(seed)  # type: ignore[attr-defined]
        self._predictor = import_module("maybedont").DupePredictor()
        self._page_of, self._chance = page_of, Random(seed)

    def wants(self, url: str) -> bool:
        """Return whether it is no likely duplicate."""
        if not super().wants(url):
            return False
        is_likely = self._predictor.get_dupe_prob(url) > DUPLICATE
        return not is_likely or self._chance.random() < EXPLORED

    def see(self, row: Mapping[str, Any]) -> None:
        """Let it learn, from a text that stands for the page."""
        words = Random(self._page_of[row["url"]])
        text = " ".join(f"{words.getrandbits(40):x}" for _ in range(WORDS_OF_A_PAGE))
        self._predictor.update_model(row["url"], text)


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

    @property
    def explored(self) -> int:
        """How many URLs were fetched to test rules."""
        return self.learner.counts["explored"]


class Known(Learning):
    """The same with the rules of the whole crawl from the start, learned from labels that no crawler has."""

    def __init__(self, crawl: LabelledCrawl) -> None:
        rows = [{**crawl.rows[url], "cluster": page} for url, page in crawl.pages.items()]
        super().__init__(rules=undust.learn(table_of_rows(rows)))


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table with the columns of observations."""
    fields = [field for field in SCHEMA if field.name != "time"]
    return pa.table({each.name: pa.array([row.get(each.name) for row in rows], each.type) for each in fields})
