"""Words, shingles and minima written down plainly, from the description in docs/content.md."""

from __future__ import annotations

from functools import cache

MASK = (1 << 64) - 1
WORD_SEED, WORD_FACTOR = 0xCBF29CE484222325, 0x100000001B3
SHINGLE_FACTOR = 0xD6E8FEB86659FD93

SPACELESS = (
    *((0x0E00, 0x10A0), (0x1780, 0x1800), (0x2E80, 0x2FE0), (0x3005, 0x3100), (0x3400, 0xA000)),
    *((0xF900, 0xFB00), (0x20000, 0x40000)),
)
SIGNS = (
    *((0x80, 0xAA), (0xAB, 0xB5), (0xB6, 0xBA), (0xBB, 0xC0), (0xD7, 0xD8), (0xF7, 0xF8)),
    *((0x2000, 0x2070), (0x20A0, 0x20D0), (0x2190, 0x2C00), (0x3000, 0x3005), (0xFE30, 0xFE50)),
    *((0xFF00, 0xFF10), (0xFF1A, 0xFF21), (0xFF3B, 0xFF41), (0xFF5B, 0xFF66), (0xFFF0, 0x10000)),
)


def words(text: str) -> list[str]:
    """Runs of letters and digits, ASCII in lower case; a character of a script without spaces is a word."""
    found = [""]
    for char in text:
        if any(first <= ord(char) < last for first, last in SPACELESS):
            found += [char, ""]
        elif (char.isascii() and not char.isalnum()) or any(low <= ord(char) < high for low, high in SIGNS):
            found.append("")
        else:
            found[-1] += char.lower() if char.isascii() else char
    return [word for word in found if word]


def mixed(number: int) -> int:
    """The finishing step of splitmix64."""
    number = (number + 0x9E3779B97F4A7C15) & MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)


@cache
def word_hash(word: str) -> int:
    """FNV-1a of the word's bytes, mixed."""
    number = WORD_SEED
    for byte in word.encode():
        number = ((number ^ byte) * WORD_FACTOR) & MASK
    return mixed(number)


def shingles(text: str, width: int) -> set[int]:
    """The hashes of all runs of `width` words; a shorter text is one run."""
    hashes = [word_hash(word) for word in words(text)]
    width = min(width, len(hashes))
    runs = (hashes[start : start + width] for start in range(len(hashes) - width + 1)) if hashes else ()
    return {mixed(_polynomial(run)) for run in runs}


def _polynomial(run: list[int]) -> int:
    value = 0
    for number in run:
        value = (value * SHINGLE_FACTOR + number) & MASK
    return value


def minima(hashes: set[int], size: int) -> list[int] | None:
    """For each of `size` functions, the upper half of the smallest value."""
    if not hashes:
        return None
    factors = [(mixed(2 * place) | 1, mixed(2 * place + 1)) for place in range(size)]
    return [min((factor * number + shift) & MASK for number in hashes) >> 32 for factor, shift in factors]
