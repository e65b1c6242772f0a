"""What is counted: how sure a rate is, how many different texts there were, and the counts that people see.

A rate from three URLs and a rate from three million look alike; an interval sets them
apart. Every interval here is exact (Clopper and Pearson 1934): it promises at least the stated
confidence for every count, the small ones included, and never less.

Different texts are counted in memory that does not grow with them. Each becomes a hash of 64 bits, and the
smallest hashes are kept (Bar-Yossef et al., 2002). As long as there are no more than are kept the count is
exact; beyond that, their density shows about how many there were, with a standard error of 0.4 %. The same
texts give the same number on every machine.

`Totals` has the counts that every command, page and JSON shows, one name each. Standard normalization removes
duplicates before any rule does, so the two are counted apart. Where nothing shows which page a URL shows, its
result cannot be judged: such URLs are counted as seen, and in no other number but those that begin with
`seen`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

from undust._core import Distinct as DistinctHashes
from undust.display import how_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa

CONFIDENCE = 0.95
"""Of every interval and bound, unless said otherwise."""

_HALVINGS = 60
_TINY = 1e-300
_PRECISION = 1e-14
_POINTS, _WIDE = 24, 4.0
"""Points of a distribution that is summed up, and how many standard deviations that reaches."""


@lru_cache(maxsize=1 << 12)
def interval(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the two-sided confidence interval of hits / trials.

    >>> low, high = interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    hits = min(hits, trials)
    tail = (1 - confidence) / 2
    return _lower(hits, trials, tail), _upper(hits, trials, tail)


def upper_bound(hits: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """Return what the true rate does not exceed; without trials nothing is known, so 1.

    >>> round(upper_bound(0, 300), 4)
    0.0099
    """
    return _upper(hits, trials, 1 - confidence)


@lru_cache(maxsize=1 << 12)
def _upper(hits: int, trials: int, tail: float) -> float:
    if hits >= trials:
        return 1.0
    return _solve(lambda rate: 1 - _beta_share(rate, hits + 1, trials - hits) > tail)


@lru_cache(maxsize=1 << 12)
def upper_bound_beside(
    hits: int, trials: int, beside: float, variance: float, confidence: float = CONFIDENCE
) -> float:
    """Return what a rate does not exceed if some hits have another cause, whose rate is about known.

    The rate is refuted if it and the other cause together give so few hits with less than one twentieth of
    the probability that the other cause alone gives (Zech 1989; Read 2002). So few hits by chance prove
    nothing: without a hit the bound is that of no other cause.

    Args:
        hits: Of both causes.
        trials: How many there were.
        beside: The mean rate of the other cause.
        variance: Of that rate.
        confidence: How sure the bound is.

    >>> round(upper_bound(15, 3000), 4), round(upper_bound_beside(15, 3000, 0.005, 0.0005**2), 4)
    (0.0077, 0.0033)
    >>> upper_bound_beside(0, 3000, 0.005, 0.0005**2) == upper_bound(0, 3000)
    True

    """
    if not hits or hits >= trials or beside <= 0:
        return upper_bound(hits, trials, confidence)
    weight = max(beside * (1 - beside) / max(variance, _TINY) - 1, 1.0)
    a, b = beside * weight, (1 - beside) * weight
    wide = _WIDE * variance**0.5
    low, high = max(0.0, beside - wide), min(1.0, beside + wide)
    others = [low + (high - low) * (place + 0.5) / _POINTS for place in range(_POINTS)]
    logs = [(a - 1) * math.log(other) + (b - 1) * math.log1p(-other) for other in others]
    weights = [math.exp(each - max(logs)) for each in logs]

    def so_few(rate: float) -> float:
        return sum(
            weight * (1 - _beta_share(rate + other, hits + 1, trials - hits))
            for other, weight in zip(others, weights, strict=True)
        )

    least = (1 - confidence) * so_few(0.0)
    return min(upper_bound(hits, trials, confidence), _solve(lambda rate: so_few(rate) > least))


def upper_of_mixture(parts: Iterable[tuple[float, float, float]], confidence: float = CONFIDENCE) -> float:
    """Return what a rate does not exceed whose distribution is made of beta distributions.

    Args:
        parts: The weight and the two numbers of each; the weights add up to 1.
        confidence: How likely the rate is at most as large.

    >>> round(upper_of_mixture([(0.5, 1.0, 299.0), (0.5, 1.0, 299.0)]), 4)
    0.01

    """
    known = tuple(parts)
    return _solve(lambda rate: sum(w * _beta_share(rate, a, b) for w, a, b in known) < confidence)


def most_of_mixture(
    parts: Iterable[tuple[float, float, float]], trials: int, confidence: float = CONFIDENCE
) -> int:
    """Return how many of some trials are hits at most, if the distribution of the rate is such a mixture.

    >>> most_of_mixture([(1.0, 1.0, 99.0)], 100)
    4
    """
    known = tuple(parts)
    below = 0.0
    for hits in range(trials):
        ways = math.lgamma(trials + 1) - math.lgamma(hits + 1) - math.lgamma(trials - hits + 1)
        for weight, a, b in known:
            fits = log_beta(a + hits, b + trials - hits) - log_beta(a, b)
            below += weight * math.exp(ways + fits)
        if below >= confidence:
            return hits
    return trials


def misses_by_luck(chosen: Sequence[float], every: Sequence[float], choices: int) -> float:
    """Return how many misses a group hides that was chosen because it has few.

    Of many groups drawn blindly, one has few misses by luck, and as many as the others on the next draw.

    Args:
        chosen: The hits and the misses of the group.
        every: Those of all, the group included.
        choices: How many groups there were to choose from.

    >>> round(misses_by_luck((6, 0), (80, 20), 40), 2), round(misses_by_luck((50, 0), (50, 50), 40), 2)
    (1.2, 0.0)

    """
    size, misses = sum(chosen), every[1]
    whole = sum(every)
    if not size or not misses or size >= whole:
        return 0.0

    def ways(of: float, some: float) -> float:
        return -math.log(of + 1) - log_beta(some + 1, of - some + 1) if 0 <= some <= of else -math.inf

    few = (ways(misses, few) + ways(whole - misses, size - few) for few in range(int(chosen[1]) + 1))
    luck = min(1.0, choices * sum(math.exp(each - ways(whole, size)) for each in few))
    return luck * max(0.0, misses * size / whole - chosen[1])


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _lower(hits: int, trials: int, tail: float) -> float:
    if hits <= 0:
        return 0.0
    return _solve(lambda rate: _beta_share(rate, hits, trials - hits + 1) < tail)


def _solve(is_below: Callable[[float], bool]) -> float:
    """Return where the answer turns from yes to no as the rate grows from 0 to 1."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if is_below(middle):
            low = middle
        else:
            high = middle
    return high


def _beta_share(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):  # the fraction converges quickly on the other side only
        return 1 - _beta_share(1 - x, b, a)
    front = a * math.log(x) + b * math.log1p(-x)
    front += math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return 1 + d1 / (1 + d2 / (1 + …)), the fraction under I_x(a, b), from the front (Lentz)."""
    value, upper, lower = 1.0, 1.0, 0.0
    for step in itertools.count(1):
        half = step // 2
        share = half * (b - half) if step % 2 == 0 else -(a + half) * (a + b + half)
        term = share * x / ((a + step - 1) * (a + step))
        lower = 1 / _not_zero(1 + term * lower)
        upper = _not_zero(1 + term / upper)
        value *= upper * lower
        if abs(upper * lower - 1) < _PRECISION:
            break
    return value


def _not_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


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


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of one site, or of many added up."""

    seen: int = 0
    """Distinct URLs, as they were written."""
    seen_normalized: int = 0
    """How many of these remain distinct after standard normalization."""
    seen_left: int = 0
    """… and after the rules."""
    judged: int = 0
    """URLs whose page is known."""
    pages: int = 0
    """The pages that they show."""
    normalized: int = 0
    """How many of the judged URLs remain distinct after standard normalization."""
    left: int = 0
    """… and after the rules."""
    lost_by_normalization: int = 0
    """Pages that standard normalization merges into a different one."""
    lost: int = 0
    """Pages that are merged into a different one in the end."""
    merged_pages: int = 0
    """The same with near copies, which are not a loss."""

    def __add__(self, other: Totals) -> Totals:
        """Return the counts of both."""
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def duplicates(self) -> int:
        """Judged URLs that are not needed."""
        return self.judged - self.pages

    @property
    def removed(self) -> int:
        """Duplicates that are removed in the end; a page that was lost is not one of them."""
        return max(0, self.judged - self.left - self.lost)

    @property
    def removed_by_normalization(self) -> int:
        """Duplicates that standard normalization removes."""
        return max(0, self.judged - self.normalized - self.lost_by_normalization)

    @property
    def removed_by_rules(self) -> int:
        """Duplicates that the rules remove beyond that."""
        return self.removed - self.removed_by_normalization

    def as_json(self) -> dict[str, int]:
        """Return the counts for programs."""
        return {
            "seen": self.seen,
            "seen_normalized": self.seen_normalized,
            "seen_left": self.seen_left,
            "judged": self.judged,
            "pages": self.pages,
            "duplicates": self.duplicates,
            "removed_by_normalization": self.removed_by_normalization,
            "removed_by_rules": self.removed_by_rules,
            "left": self.left,
            "lost": self.lost,
        }

    def sentences(self, sites: int, rules: int) -> list[str]:
        """Return what people read first: what could be judged, what is removed by what, what is lost.

        >>> found = Totals(10, 8, 5, judged=10, pages=4, normalized=8, left=5)
        >>> print("; ".join(found.sentences(1, 3)))
        10 URLs of 1 site show 4 pages; standard normalization removes 2 of the 6 duplicates, the 3 rules \
remove 3 more; 5 URLs are left, and no page is lost
        """
        where = how_many(sites, "site")
        if not self.judged:
            return self._unjudged(where, rules)
        known = how_many(self.judged, "URL")
        if self.judged < self.seen:
            first = (
                f"{self.judged:,} of {how_many(self.seen, 'URL')} of {where} could be judged; they show "
                f"{how_many(self.pages, 'page')}"
            )
        else:
            first = f"{known} of {where} show {how_many(self.pages, 'page')}"
        work = (
            f"standard normalization removes {self.removed_by_normalization:,} of the "
            f"{how_many(self.duplicates, 'duplicate')}, {_the(rules)} remove{'s' * (rules == 1)} "
            f"{self.removed_by_rules:,} more"
        )
        pages = how_many(self.lost, "page")
        lost = f"{pages} {'is' if self.lost == 1 else 'are'} lost, merged into a different one"
        left = f"{how_many(self.left, 'URL')} {'is' if self.left == 1 else 'are'} left"
        return [first, work, f"{left}, and {lost if self.lost else 'no page is lost'}"]

    def _unjudged(self, where: str, rules: int) -> list[str]:
        fewer, more = self.seen - self.seen_normalized, self.seen_normalized - self.seen_left
        if not self.seen:
            return [f"0 URLs of {where}"]
        known = f"none of {how_many(self.seen, 'URL')} of {where} could be judged"
        work = f"standard normalization makes them {fewer:,} fewer, {_the(rules)} {more:,} more"
        return [
            f"{known}: the input has no evidence of which show the same page",
            f"{work}; how many of these are duplicates is not known",
        ]


def _the(rules: int) -> str:
    return f"the {how_many(rules, 'rule')}" if rules else "0 rules"
