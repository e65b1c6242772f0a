"""The blocks of a text written down plainly, from the description in docs/content.md."""

from __future__ import annotations

import re

from tests.oracles.sketch import MASK, SHINGLE_FACTOR, WORD_FACTOR, WORD_SEED, mixed, words

MOST_BLOCKS, MOST_WORDS, SHORTEST_TOKEN = 256, 12, 12


def blocks(parts: list[str]) -> list[int]:
    """The blocks of a text whose layout cuts it into parts."""
    runs = [run for part in parts for run in _runs(words(part))]
    keys = [mixed(_sum([_text_hash(word) for word in run])) >> 33 for run in runs]
    following = [*(key & 0xFF for key in keys[1:]), 0][: len(keys)]
    found = {
        key << 32 | _digits(run) << 12 | after << 4 | len(run)
        for key, run, after in zip(keys, runs, following, strict=True)
    }
    return sorted(found)[:MOST_BLOCKS]


def _runs(some: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in some:
        found[-1].append(word)
        if _text_hash(word) % 4 == 0 or len(found[-1]) == MOST_WORDS:
            found.append([])
    return [run for run in found if run]


def _is_token(word: str) -> bool:
    return len(word.encode()) >= SHORTEST_TOKEN and len(re.findall("[0-9]+", word)) > 1


def _text_hash(word: str) -> int:
    word = "0" if _is_token(word) else word
    return mixed(_fnv(re.sub("[0-9]+", "0", word).encode()))


def _digits(run: list[str]) -> int:
    numbers = [hashed for word in run if (hashed := _number_hash(word)) is not None]
    return max(mixed(_sum(numbers)) >> 44, 1) if numbers else 0


def _number_hash(word: str) -> int | None:
    if not re.search("[0-9]", word):
        return None
    if _is_token(word):
        return mixed(_fnv(word.encode()))
    return mixed(_fnv(re.sub("[^0-9]+", " ", re.sub("^[^0-9]+", "", word)).encode()))


def _fnv(data: bytes) -> int:
    number = WORD_SEED
    for byte in data:
        number = ((number ^ byte) * WORD_FACTOR) & MASK
    return number


def _sum(numbers: list[int]) -> int:
    value = 0
    for number in numbers:
        value = (value * SHINGLE_FACTOR + number) & MASK
    return value
