"""Bytes that almost are what a reader expects: samples, cut, flipped, doubled, mixed, renumbered.

The twin of `driver.cpp` for the readers that are Python. All chance comes from one generator, so the
number of a mutation repeats it on every machine, and hypothesis, given its own generator, makes a finding
small.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    Mutation = Callable[[bytes, bytes, Random], bytes]

LONGEST = 1 << 16
SPECIAL = (
    *(b"\0", b"\n", b"\r", b"\t", b" ", b'"', b"'", b"\\", b"/", b"?", b"&", b"=", b"#", b"%", b":", b";"),
    *(b"{", b"}", b"[", b"]", b"<", b">", b",", b"|", b"\x1b", b"\x7f", b"\x80", b"\xc3", b"\xed\xa0\x80"),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80", b"\xc2\x9b", b"{{", b"</script>"),
)
NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"7",
    b"999",
    b"2147483648",
    b"18446744073709551616",
    b"1e999",
    b"NaN",
    b"9" * 5000,
)


def _flip(data: bytes, _: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _insert(data: bytes, _: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(SPECIAL) + data[at:]


def _replace(data: bytes, _: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.choice(SPECIAL) + data[at + 1 :]


def _cut(data: bytes, _: bytes, chance: Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:]


def _keep(data: bytes, _: bytes, chance: Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[start:end]


def _blank(data: bytes, _: bytes, chance: Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + bytes(end - start) + data[end:]


def _repeat(data: bytes, _: bytes, chance: Random) -> bytes:
    start = chance.randrange(len(data))
    piece = data[start : start + 1 + chance.randrange(64)]
    return data[:start] + piece * chance.choice((2, 3, 200)) + data[start:]


def _splice(data: bytes, other: bytes, chance: Random) -> bytes:
    at, from_ = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
    return data[:at] + other[from_ : from_ + 1 + chance.randrange(200)] + data[at + chance.randrange(50) :]


def _number(data: bytes, _: bytes, chance: Random) -> bytes:
    places = [match.span() for match in re.finditer(rb"\d+", data)]
    if not places:
        return data
    start, end = chance.choice(places)
    return data[:start] + chance.choice(NUMBERS) + data[end:]


MUTATIONS: tuple[Mutation, ...] = (
    *(_flip, _insert, _replace, _cut, _keep, _blank, _repeat, _splice, _number),
)


def mutated(seeds: Sequence[bytes], chance: Random) -> bytes:
    """Return one of the samples with a few things wrong with it."""
    data = chance.choice(seeds)
    for _ in range(1 + chance.randrange(6)):
        data = chance.choice(MUTATIONS)(data, chance.choice(seeds), chance)[:LONGEST] or chance.choice(
            SPECIAL
        )
    return data
