"""How good a learner's candidates are, before any selection: qualified rate, precision@k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undust.measuring.measures import share
from undust.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


@dataclass(frozen=True)
class Ranking:
    """Which candidates turned out valid, the likeliest first."""

    valid: tuple[bool, ...] = ()

    @classmethod
    def either_way(cls, candidates: Iterable[tuple[Hashable, Hashable, bool]]) -> Ranking:
        """Return the ranking of rules given as (from, to, valid), a rule and its reverse as one.

        DustBuster counts a likely rule as right if it is valid in at least one direction.
        """
        found: dict[frozenset[Hashable], bool] = {}
        for source, target, is_valid in candidates:
            both = frozenset((source, target))
            found[both] = found.get(both, False) or is_valid
        return cls(tuple(found.values()))

    def __add__(self, other: Ranking) -> Ranking:
        """Return both, as if one learner had proposed them site by site."""
        return Ranking(self.valid + other.valid)

    @property
    def qualified_rate(self) -> float:
        """Share of the candidates that are valid (PT, DU)."""
        return share(sum(self.valid), len(self.valid))

    @property
    def interval(self) -> tuple[float, float]:
        """Of the qualified rate, with 95 % confidence."""
        return interval(sum(self.valid), len(self.valid))

    def precision_at(self, k: int) -> float:
        """Share of the valid among the first k (DB); of all, where there are fewer."""
        return share(sum(self.valid[:k]), len(self.valid[:k]))

    def interval_at(self, k: int) -> tuple[float, float]:
        """Of the precision at k, with 95 % confidence."""
        return interval(sum(self.valid[:k]), len(self.valid[:k]))


def interleaved(rankings: Sequence[Ranking]) -> Ranking:
    """Return one ranking of several sites: first the best of each, then the second best of each."""
    longest = max((len(ranking.valid) for ranking in rankings), default=0)
    return Ranking(
        tuple(r.valid[place] for place in range(longest) for r in rankings if place < len(r.valid))
    )
