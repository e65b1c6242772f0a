"""The parts of URLs that depend on the page: each is written for a column of pages and read back from a URL.

A page is a few digits: `n`, its number, and for some families others, such as `page` or `sort`. A field
writes one digit, and reads it from text, or writes something that the server ignores and cannot read. Chance
that belongs to one sighting, such as a session id, is drawn from the nonce of the row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.sites.chance import draw, shuffled, unshuffled
from bench.sites.text import VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Digits = Mapping[str, NDArray[np.int64]]

NONCE = "?"
"""The digit that belongs to one sighting."""
MAIN = "n"
"""The digit that grows with the site."""


class Field(Protocol):
    """A part of a URL."""

    @property
    def pattern(self) -> str:
        """What it looks like, as a regular expression without groups."""

    @property
    def digit(self) -> str | tuple[str, ...] | None:
        """The digit that it tells, or several; None if the server ignores it."""

    def write(self, digits: Digits, seed: int) -> pa.Array:
        """Return the text for each page."""

    def read(self, text: str, seed: int) -> Any:  # noqa: ANN401 -- a number, or as many as there are digits
        """Return the digit or digits; None if no page is written so."""


@dataclass(frozen=True)
class Number:
    """A number that counts from `start`, by `step`; `width` digits at least."""

    digit: str = MAIN
    start: int = 1
    step: int = 1
    width: int = 0
    pattern: ClassVar[str] = r"[0-9]{1,18}"

    def write(self, digits: Digits, seed: int) -> pa.Array:  # noqa: ARG002 -- no chance here
        """Return the numbers in decimal."""
        texts = pa.array(digits[self.digit] * self.step + self.start).cast(pa.string())
        return pc.utf8_lpad(texts, self.width, "0") if self.width else texts

    def read(self, text: str, seed: int) -> int | None:  # noqa: ARG002 -- no chance here
        """Return the digit, which may be too large or below zero."""
        value, rest = divmod(int(text) - self.start, self.step)
        return None if rest else value


@dataclass(frozen=True)
class Listed:
    """One of a few words."""

    digit: str
    words: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """Any of the words."""
        return "|".join(map(re.escape, self.words))

    def write(self, digits: Digits, seed: int) -> pa.Array:  # noqa: ARG002 -- no chance here
        """Return the word for each digit."""
        return _column(self.words).take(pa.array(digits[self.digit]))

    def read(self, text: str, seed: int) -> int | None:  # noqa: ARG002 -- no chance here
        """Return the place of the word."""
        return self.words.index(text) if text in self.words else None


@dataclass(frozen=True)
class Serial:
    """A number that counts the values of a small digit through those of the main one: comments of posts."""

    digit: tuple[str, str]
    size: int
    start: int = 1
    pattern: ClassVar[str] = r"[0-9]{1,18}"

    def write(self, digits: Digits, seed: int) -> pa.Array:  # noqa: ARG002 -- no chance here
        """Return the numbers in decimal."""
        main, small = (digits[name] for name in self.digit)
        return pa.array(main * self.size + small + self.start).cast(pa.string())

    def read(self, text: str, seed: int) -> tuple[int, int]:  # noqa: ARG002 -- no chance here
        """Return both digits."""
        return divmod(int(text) - self.start, self.size)


_WORD_BITS, _TITLE_WORDS = 10, 3
_TITLE_BITS = _WORD_BITS * _TITLE_WORDS
_PLACE = {word: place for place, word in enumerate(VOCABULARY)}


@dataclass(frozen=True)
class Title:
    """Three words that tell the number to the server and to nobody else; without `digit`, a mere slug."""

    digit: str | None = MAIN
    of: str = MAIN
    """The digit that the words are drawn from."""
    joint: str = "-"
    capital: bool = False
    upper: bool = False
    salt: int = 0
    """Another one gives other titles to the same pages."""
    suffix: str = ""
    """Appended to the words of a slug, to make another slug of the same page."""

    @property
    def pattern(self) -> str:
        """Words with the joint between them; of an ignored slug any words."""
        return (
            r"[A-Za-z0-9_-]+" if self.digit is None else rf"[A-Za-z]+(?:{re.escape(self.joint)}[a-z]+){{2}}"
        )

    def write(self, digits: Digits, seed: int) -> pa.Array:
        """Return the words."""
        bits = shuffled(digits[self.of], _TITLE_BITS, seed + self.salt)
        words = _column(VOCABULARY)
        each = [
            words.take(pa.array((bits >> np.uint64(_WORD_BITS * place)) % np.uint64(len(VOCABULARY))))
            for place in range(_TITLE_WORDS)
        ]
        if self.capital:
            each[0] = pc.utf8_capitalize(each[0])
        title = joined(*each, joint=self.joint)
        title = pc.ascii_upper(title) if self.upper else title
        return joined(title, self.suffix) if self.suffix else title

    def read(self, text: str, seed: int) -> int | None:
        """Return the number of the page with this title."""
        words = (text.lower() if self.upper else text).split(self.joint)
        if not words[0][:1].isupper() or self.capital:
            words[0] = words[0][:1].lower() + words[0][1:]
        if any(word not in _PLACE for word in words):
            return None
        bits = sum(_PLACE[word] << (_WORD_BITS * place) for place, word in enumerate(words))
        return int(unshuffled(bits, _TITLE_BITS, seed + self.salt)[0])


_HASH_BITS = 40
_SHORT = _HASH_BITS // 4


@dataclass(frozen=True)
class Hash:
    """A name in hexadecimal; its first ten digits tell the number, and the rest follows from it."""

    digit: str = MAIN
    length: int = 40
    dashes: bool = False
    """Written as a UUID, of 32 digits."""

    @property
    def pattern(self) -> str:
        """So many hexadecimal digits."""
        return (
            r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}" if self.dashes else rf"[0-9a-f]{{{self.length}}}"
        )

    def write(self, digits: Digits, seed: int) -> pa.Array:
        """Return the names."""
        first = shuffled(digits[self.digit], _HASH_BITS, seed ^ 1)
        rest = [draw(seed, "hash", first, part) for part in range(2)]
        text = hexadecimal([(first, _SHORT), (rest[0], 16), (rest[1], 16)])
        text = pc.utf8_slice_codeunits(text, 0, self.length)
        if not self.dashes:
            return text
        cuts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)]
        return joined(*(pc.utf8_slice_codeunits(text, *cut) for cut in cuts), joint="-")

    def read(self, text: str, seed: int) -> int | None:
        """Return the number, if the rest of the name is right too."""
        number = int(unshuffled(int(text.replace("-", "")[:_SHORT], 16), _HASH_BITS, seed ^ 1)[0])
        written = self.write({self.digit: np.array([number])}, seed)[0].as_py()
        return number if written == text else None


FIRST_DAY = date(2001, 1, 1)


@dataclass(frozen=True)
class Day:
    """A day, `per_day` pages each; which of them it is stands elsewhere."""

    form: str = "%Y/%m/%d"
    digit: str = "day"

    @property
    def pattern(self) -> str:
        """The form with digits for its parts."""
        parts = {"%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%m": "[0-9]{2}", "%d": "[0-9]{2}"}
        text = re.escape(self.form)
        for part, digits in parts.items():
            text = text.replace(part, digits)
        return text

    def write(self, digits: Digits, seed: int) -> pa.Array:  # noqa: ARG002 -- no chance here
        """Return the days."""
        days, places = np.unique(digits[self.digit], return_inverse=True)
        texts = [(FIRST_DAY + timedelta(days=int(day))).strftime(self.form) for day in days]
        return pa.array(texts, pa.string()).take(pa.array(places))

    def read(self, text: str, seed: int) -> int | None:  # noqa: ARG002 -- no chance here
        """Return the day, counted from the first."""
        from datetime import datetime  # noqa: PLC0415 -- for reading only

        try:
            day = datetime.strptime(text, self.form).date()  # noqa: DTZ007 -- a day has no zone
        except ValueError:
            return None
        return (day - FIRST_DAY).days


@dataclass(frozen=True)
class Noise:
    """Hexadecimal digits that belong to one sighting: session ids and click ids."""

    length: int = 32
    upper: bool = False
    digit: ClassVar[None] = None
    pattern: ClassVar[str] = r"[0-9A-Za-z]+"

    def write(self, digits: Digits, seed: int) -> pa.Array:
        """Return as many digits as asked for."""
        parts = [(draw(seed, "noise", digits[NONCE], part), 16) for part in range(-(-self.length // 16))]
        text = pc.utf8_slice_codeunits(hexadecimal(parts), 0, self.length)
        return pc.ascii_upper(text) if self.upper else text

    def read(self, text: str, seed: int) -> None:
        """Return nothing: nobody reads it."""


@dataclass(frozen=True)
class Chosen:
    """One of a few words, by chance of one sighting."""

    words: tuple[str, ...]
    digit: ClassVar[None] = None
    pattern: ClassVar[str] = r"[^/?&]+"

    def write(self, digits: Digits, seed: int) -> pa.Array:
        """Return a word for each row."""
        places = draw(seed, "chosen", digits[NONCE]) % np.uint64(len(self.words))
        return _column(self.words).take(pa.array(places))

    def read(self, text: str, seed: int) -> None:
        """Return nothing: nobody reads it."""


VISIT: dict[str, Field] = {
    "sid": Noise(32),
    "SID": Noise(32, upper=True),
    "click": Noise(22),
    "moment": Noise(12),
    "source": Chosen(("newsletter", "twitter", "google", "rss", "partner")),
    "word": Chosen(VOCABULARY),
}
"""Fields that every site knows: what visitors and their programs add."""


def hexadecimal(parts: list[tuple[NDArray[np.uint64], int]]) -> pa.Array:
    """Return for each row the last digits of each number in hexadecimal, one after the other."""
    columns = [
        (numbers[:, None] >> (np.arange(length - 1, -1, -1, dtype=np.uint64) * np.uint64(4))) & np.uint64(15)
        for numbers, length in parts
    ]
    matrix = np.frombuffer(b"0123456789abcdef", np.uint8)[np.concatenate(columns, axis=1)]
    rows, width = matrix.shape
    offsets = np.arange(0, (rows + 1) * width, width, dtype=np.int32)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(matrix.tobytes()))


def joined(*texts: str | pa.Array, joint: str = "") -> pa.Array:
    """Return texts and columns of texts, one after the other."""
    columns = (_scalar(each) if isinstance(each, str) else each for each in texts)
    return pc.binary_join_element_wise(*columns, _scalar(joint))


@lru_cache(maxsize=1 << 16)
def _scalar(text: str) -> pa.Scalar:
    # Making one takes longer than joining a short column.
    return pa.scalar(text)


@lru_cache(maxsize=256)
def _column(words: tuple[str, ...]) -> pa.Array:
    return pa.array(words)
