"""Chance without state: every draw is a hash of what it is for.

A generator that keeps a state must run from the start to know its millionth page. Here page, form and noise
are drawn from (seed, purpose, number) alone, for one number or for a column of them, so that rows can be made
in any batches and a server can answer for any URL.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Number = int | Ints | Words

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_ONE, _TWENTY_SEVEN, _THIRTY, _THIRTY_ONE = (np.uint64(number) for number in (1, 27, 30, 31))
_ROUNDS = 4


def mixed(values: Words) -> Words:
    """Return 64 bits for each value in which every bit depends on all bits of the value (SplitMix64)."""
    values = (values ^ (values >> _THIRTY)) * _FIRST
    values = (values ^ (values >> _TWENTY_SEVEN)) * _SECOND
    return np.asarray(values ^ (values >> _THIRTY_ONE))


def draw(seed: int, purpose: str, *numbers: Number) -> Words:
    """Return 64 bits for each row of `numbers`, which nothing else is drawn from."""
    drawn = _start(seed, purpose)
    for number in numbers:
        drawn = mixed(drawn * _GOLDEN + np.asarray(number).astype(np.uint64) + _ONE)
    return drawn


@lru_cache(maxsize=1 << 12)
def _start(seed: int, purpose: str) -> Words:
    name = int.from_bytes(purpose.encode()[:8].ljust(8, b"."), "little") ^ (len(purpose) << 56)
    # An array of one: arrays overflow silently, as is meant here, and single numbers with a warning.
    return mixed(np.array([(name + seed * int(_GOLDEN)) & (2**64 - 1)], np.uint64))


def share(drawn: Words) -> NDArray[np.float64]:
    """Return draws as numbers from 0 up to 1."""
    return np.asarray((drawn >> np.uint64(11)) * 2.0**-53)


def shuffled(values: Number, bits: int, key: int) -> Words:
    """Return a permutation of the numbers below 2 ** bits (an even number of bits), as a Feistel network."""
    half, low = _halves(bits)
    values = np.atleast_1d(np.asarray(values)).astype(np.uint64)
    left, right = values >> half, values & low
    for step in range(_ROUNDS):
        left, right = right, left ^ (draw(key, "shuffle", step, right) & low)
    return np.asarray((left << half) | right)


def unshuffled(values: Number, bits: int, key: int) -> Words:
    """Return what `shuffled` made these values of."""
    half, low = _halves(bits)
    values = np.atleast_1d(np.asarray(values)).astype(np.uint64)
    left, right = values >> half, values & low
    for step in reversed(range(_ROUNDS)):
        left, right = right ^ (draw(key, "shuffle", step, left) & low), left
    return np.asarray((left << half) | right)


def _halves(bits: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(bits // 2), np.uint64((1 << bits // 2) - 1)
