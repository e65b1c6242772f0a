"""Which URLs a site has: the number of a URL to its address, and which of the address's forms it is.

Addresses come in blocks of 64, whose numbers of URLs follow a heavy tail with the mean that real software
had. So the URL of any number is found without counting those before it. An address is a family and a number
in it, and its forms come in one of a few orders, drawn by weight.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.sites.chance import draw, share
from bench.sites.forms import Combination, combinations
from bench.sites.measured import MEASURED

if TYPE_CHECKING:
    from bench.sites.chance import Ints
    from bench.sites.fields import Digits
    from bench.sites.model import Family, Kind

BLOCK = 64
_LARGEST = 40
_ORDERS = 64


class Addresses(NamedTuple):
    """Where some URLs are: family, number in the family, and which form of that address."""

    page: Ints
    """The number of the address on the site."""
    family: Ints
    number: Ints
    variant: Ints


class Layout:
    """The URLs of one site."""

    def __init__(self, kind: Kind, seed: int, urls: int, giant: int = 0) -> None:
        self.kind, self.seed, self.urls, self.giant = kind, seed, urls, giant
        self.giant_page = 0
        sizes = cluster_sizes(1 - (1 - MEASURED[kind.like].duplicates) / kind.pages_per_address)
        self._block_urls = int(sizes.sum())
        self._block_page = np.repeat(np.arange(BLOCK), sizes)
        self._block_variant = np.concatenate([np.arange(size) for size in sizes])
        self.pages = BLOCK * max(1, -(-(urls - giant) // self._block_urls))
        shares = [family.share for family in kind.families]
        self._period = np.repeat(np.arange(len(shares)), shares)
        # Spread over the period, so that small sites have some of every family.
        self._period = self._period[np.argsort(draw(0, "period", np.arange(len(self._period))))]
        self._rank = np.array([int((self._period[:at] == own).sum()) for at, own in enumerate(self._period)])
        self._shares = np.array(shares)

    def addresses(self, numbers: Ints) -> Addresses:
        """Return where the URLs of these numbers are."""
        rest = np.maximum(numbers - self.giant, 0)
        block, place = rest // self._block_urls, rest % self._block_urls
        turn = (draw(self.seed, "turn", block) % np.uint64(BLOCK)).astype(np.int64)
        page = block * BLOCK + (self._block_page[place] + turn) % BLOCK
        variant = self._block_variant[place]
        is_giant = numbers < self.giant
        page = np.where(is_giant, self.giant_page, page)
        # Past all forms that are written without chance.
        variant = np.where(is_giant, numbers + (1 << 20), variant)
        return Addresses(page, *self.family_of(page), variant)

    def family_of(self, page: Ints) -> tuple[Ints, Ints]:
        """Return the family of each address, and its number in it."""
        turn, at = page // len(self._period), page % len(self._period)
        family = self._period[at]
        return family, turn * self._shares[family] + self._rank[at]

    def count(self, family: int) -> int:
        """Return how many values the main digit of a family has."""
        numbers = -(-self.pages // len(self._period)) * int(self._shares[family])
        return max(1, -(-numbers // small_values(self.kind.families[family])))

    @cached_property
    def combinations(self) -> tuple[tuple[Combination, ...], ...]:
        """The ways to write the URLs of each family."""
        return all_combinations(self.kind)

    def chosen(self, family: int, digits: Digits, variant: Ints, page: Ints) -> Ints:
        """Return which combination each URL is written in: no URL of an address comes twice."""
        omitted = omitted_of(self.kind.families[family], digits)
        chosen = np.empty(len(variant), np.int64)
        for mask in np.unique(omitted).tolist():
            rows = np.flatnonzero(omitted == mask)
            orders, noisy = orders_of(self.kind, family, mask)
            at = (draw(self.seed, "order", page[rows]) % np.uint64(_ORDERS)).astype(np.int64)
            early = np.minimum(variant[rows], orders.shape[1] - 1)
            late = draw(self.seed, "late", page[rows], variant[rows]) % np.uint64(len(noisy))
            chosen[rows] = np.where(variant[rows] < orders.shape[1], orders[at, early], noisy[late])
        return chosen


def all_combinations(kind: Kind) -> tuple[tuple[Combination, ...], ...]:
    """Return the ways to write the URLs of each family of a kind."""
    if kind.name not in _combinations:
        _combinations[kind.name] = tuple(combinations(kind, family) for family in kind.families)
    return _combinations[kind.name]


def orders_of(kind: Kind, family: int, mask: int) -> tuple[Ints, Ints]:
    """Return orders of the combinations that tell the digits of a mask, and those with chance in them."""
    key = (kind.name, family, mask)
    if key not in _orders:
        small = list(kind.families[family].small)
        needed = {name for place, name in enumerate(small) if mask >> place & 1}
        fitting = [
            (place, each)
            for place, each in enumerate(all_combinations(kind)[family])
            if each.weight and needed <= each.digits
        ]
        weights = np.array([each.weight for _, each in fitting])
        places = np.array([place for place, _ in fitting])
        drawn = draw(0, "orders", family, mask, np.arange(_ORDERS)[:, None], np.arange(len(places)))
        # Drawn by weight, without putting back (Efraimidis and Spirakis).
        orders = places[np.argsort(-np.log(np.maximum(share(drawn), 1e-300)) / weights, axis=1)]
        _orders[key] = orders, np.array([place for place, each in fitting if each.is_noisy])
    return _orders[key]


_combinations: dict[str, tuple[tuple[Combination, ...], ...]] = {}
_orders: dict[tuple[str, int, int], tuple[Ints, Ints]] = {}
# Sites of one kind share them: many small sites would take longer to plan than to write.


def small_values(family: Family) -> int:
    """Return how many addresses there are for each value of the main digit."""
    return int(np.prod([1, *family.small.values()]))


def digits_of(family: Family, numbers: Ints) -> dict[str, Ints]:
    """Return the digits of addresses by their numbers in the family."""
    digits: dict[str, Ints] = {}
    rest = numbers
    for name, size in reversed(list(family.small.items())):
        digits[name] = rest % size
        rest = rest // size
    return digits | {family.main: rest}


def number_of(family: Family, digits: Digits) -> Ints:
    """Return the number of an address in its family."""
    number = digits[family.main]
    for name, size in family.small.items():
        number = number * size + digits[name]
    return np.asarray(number)


def omitted_of(family: Family, digits: Digits) -> Ints:
    """Return a bit for each small digit that is not zero: a form must write it."""
    bits = [(digits[name] > 0).astype(np.int64) << place for place, name in enumerate(family.small)]
    return np.asarray(sum(bits, start=np.zeros(len(digits[family.main]), np.int64)))


@lru_cache
def cluster_sizes(duplicates: float) -> Ints:
    """Return how many URLs each address of a block has: a heavy tail with the mean that the share asks for.

    >>> cluster_sizes(0.6).mean().round(1), cluster_sizes(0.6).max()
    (np.float64(2.5), np.int64(40))
    """
    ranks = (np.arange(BLOCK) + 0.5) / BLOCK
    low, high = 0.3, 8.0
    for _ in range(40):
        tail = (low + high) / 2
        sizes = np.minimum((1 - ranks) ** (-1 / tail), _LARGEST).astype(np.int64)
        low, high = (tail, high) if sizes.mean() > 1 / (1 - duplicates) else (low, tail)
    return np.minimum((1 - ranks) ** (-1 / high), _LARGEST).astype(np.int64)
