"""What pages say, so built that digest and sketch of millions of pages are quick and still exact.

A text is four sentences from a fixed bank, chosen by the bits of a shuffled page number: two pages never say
the same, and seldom share a sentence. A sketch is a minimum over shingles, and every shingle lies inside a
sentence, across two of them, or across the last and the tail. Sentences begin and end with one of few
phrases, so all three kinds are in small tables, made with the core once, and a sketch is a minimum over
seven rows of them.

A tail is what a page that changes shows last: how often it was seen. One word of some 160 differs, and one
shingle; in the middle of a text it would be five.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.sites.chance import draw, shuffled
from undust.reading.text import SIZE, sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.sites.chance import Ints

SENTENCES = 4
CODE_BITS = 56
_BANK_BITS = CODE_BITS // SENTENCES
_PHRASES = 64
_PHRASE_WORDS = 4
_MIDDLE_WORDS = 32
_SYLLABLES = (
    *("ba", "be", "bi", "bo", "da", "de", "do", "fa", "fe", "fo", "ga", "ge", "go", "ka", "ki", "ko"),
    *("la", "le", "li", "lo", "ma", "me", "mi", "mo", "na", "ne", "no", "pa", "pe", "ra", "re", "ro"),
)
VOCABULARY = tuple(first + second for first in _SYLLABLES for second in _SYLLABLES)
"""1,024 words that can be read aloud."""
VERSIONS = 128
TAILS = (
    b"",
    *(b" views %d" % number for number in range(VERSIONS)),
    b" as printed",
    b" for small screens",
)
"""What may stand at the end of a page."""
PLAIN, FIRST_VERSION, PRINTED, SMALL = 0, 1, VERSIONS + 1, VERSIONS + 2


class Text(NamedTuple):
    """For each page which sentences it has, and which tail."""

    sentences: Ints
    """One row a page, `SENTENCES` columns."""
    tail: Ints


class Bank:
    """The sentences, and the minima of all shingles that they can make."""

    @cached_property
    def sentences(self) -> list[bytes]:
        """All of them, the opening and closing phrase of each by its number."""
        numbers = np.arange(1 << _BANK_BITS)
        middles = draw(0, "middle", numbers[:, None], np.arange(_MIDDLE_WORDS)) % len(VOCABULARY)
        return [
            b" ".join([self.openings[number % _PHRASES], _words(row), self.closings[end]]) + b"."
            for number, (row, end) in enumerate(zip(middles, closing_of(numbers), strict=True))
        ]

    @cached_property
    def _spaced(self) -> list[bytes]:
        return [sentence + b" " for sentence in self.sentences]

    @cached_property
    def openings(self) -> list[bytes]:
        """The phrases that sentences begin with."""
        return _phrases(0)

    @cached_property
    def closings(self) -> list[bytes]:
        """The phrases that sentences end with."""
        return _phrases(1)

    @cached_property
    def inner(self) -> NDArray[np.uint32]:
        """The minima inside each sentence."""
        return _minima(self.sentences)

    @cached_property
    def across(self) -> NDArray[np.uint32]:
        """The minima from each closing phrase to each opening one."""
        pairs = [b" ".join([end, start]) for end in self.closings for start in self.openings]
        return _minima(pairs).reshape(_PHRASES, _PHRASES, SIZE)

    @cached_property
    def ending(self) -> NDArray[np.uint32]:
        """The minima from each closing phrase to the end of each tail; nothing for no tail."""
        ends = [end + tail for end in self.closings for tail in TAILS]
        minima = _minima(ends).reshape(_PHRASES, len(TAILS), SIZE)
        minima[:, PLAIN] = np.iinfo(np.uint32).max
        return minima

    @cached_property
    def lengths(self) -> Ints:
        """The bytes of each sentence."""
        return np.array([len(sentence) for sentence in self.sentences])

    def text(self, text: Text) -> bytes:
        """Return what the one page of `text` says."""
        return b" ".join(self.sentences[number] for number in text.sentences[0]) + TAILS[int(text.tail[0])]

    def sizes(self, text: Text) -> Ints:
        """Return the bytes of each text."""
        tails = np.array([len(tail) for tail in TAILS])
        return np.asarray(self.lengths[text.sentences].sum(axis=1) + SENTENCES - 1 + tails[text.tail])

    def digests(self, text: Text) -> list[str]:
        """Return the MD5 of each text: the digest that undust gives a page."""
        last, md5 = self.sentences, hashlib.md5
        first = self._spaced
        return [
            md5(first[one] + first[two] + first[three] + last[four] + TAILS[tail]).hexdigest()
            for (one, two, three, four), tail in zip(text.sentences.tolist(), text.tail.tolist(), strict=True)
        ]

    def sketches(self, text: Text) -> NDArray[np.uint32]:
        """Return the sketch of each text, one row each."""
        openings, closings = text.sentences % _PHRASES, closing_of(text.sentences)
        minima = self.ending[closings[:, -1], text.tail]
        for place in range(SENTENCES):
            np.minimum(minima, self.inner[text.sentences[:, place]], out=minima)
        for place in range(SENTENCES - 1):
            np.minimum(minima, self.across[closings[:, place], openings[:, place + 1]], out=minima)
        return minima


BANK = Bank()


def sentences_of(codes: Ints, seed: int) -> Ints:
    """Return the sentences of pages with these numbers, which must be below 2 ** `CODE_BITS`."""
    bits = shuffled(codes, CODE_BITS, seed)
    places = np.arange(SENTENCES, dtype=np.uint64) * np.uint64(_BANK_BITS)
    return ((bits[:, None] >> places) & np.uint64((1 << _BANK_BITS) - 1)).astype(np.int64)


def other_sentences(drawn: NDArray[np.uint64]) -> Ints:
    """Return one sentence for each draw."""
    return (drawn & np.uint64((1 << _BANK_BITS) - 1)).astype(np.int64)


def closing_of(sentences: Ints) -> Ints:
    """Return the closing phrase of each sentence."""
    return (draw(2, "phrase", sentences) % _PHRASES).astype(np.int64)


def _phrases(side: int) -> list[bytes]:
    chosen = draw(side, "phrase", np.arange(_PHRASES)[:, None], np.arange(_PHRASE_WORDS))
    return [_words(row) for row in chosen % len(VOCABULARY)]


def _words(numbers: NDArray[np.uint64]) -> bytes:
    return " ".join(VOCABULARY[number] for number in numbers.tolist()).encode()


def _minima(texts: list[bytes]) -> NDArray[np.uint32]:
    minima = [sketch(text) for text in texts]
    return np.array(minima, np.uint32)
