"""What is found at an address: the page or something else, its text at each fetch, its size.

The rows of a crawl and the answers of the server are both made here, so a digest in a row is that of the text
that is served.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bench.sites.chance import draw, share
from bench.sites.layout import digits_of, number_of
from bench.sites.measured import MEASURED
from bench.sites.model import GONE, LOGIN, NOTHING, PAGE, SOFT
from bench.sites.text import BANK, FIRST_VERSION, PLAIN, VERSIONS, Text, other_sentences, sentences_of
from undust.reading.page import text_digest
from undust.reading.text import SIZE, sketch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bench.sites.chance import Ints
    from bench.sites.model import Family, Kind

NOTICES = {
    GONE: b"Error 404. Nothing is known here under the address that you asked for, begin again at home.",
    SOFT: b"We are sorry. What you are looking for was removed, had its name changed, or never existed.",
    LOGIN: b"Log in. Only members may see this part of our pages, so enter your name and password first.",
    NOTHING: b"Your search had no result. Nothing matches all of the filters that you chose, remove some.",
}
"""What stands where no page is."""
_BEFORE = b'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title></head><body><p>'
_BETWEEN, _AFTER = b"</p><!--", b"--></body></html>\n"
_FRAME = len(_BEFORE) + len(_BETWEEN) + len(_AFTER)
_FAMILY_PLACE = 50
_CHANGING = 2
"""Sentences of a page that are written anew, where it is rewritten between fetches."""


class Content:
    """The pages of one site."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self.kind, self.seed = kind, seed
        self.rates = MEASURED[kind.like]
        self.always: tuple[int, int] | None = None
        """Family and number of a page that is always there and never changes."""

    def shown(self, family: int, numbers: Ints) -> Ints:
        """Return what each page of a family shows: itself or something else."""
        rates = self.kind.families[family].shows
        if rates is None:
            rates = {GONE: self.rates.gone, SOFT: self.rates.soft}
        drawn = share(draw(self.seed, "shows", family, numbers))
        shown = np.full(len(numbers), PAGE)
        limit = 0.0
        for what, rate in rates.items():
            shown[(drawn >= limit) & (drawn < limit + rate)] = what
            limit += rate
        if self.always is not None and self.always[0] == family:
            shown[numbers == self.always[1]] = PAGE
        return shown

    def changes(self, family: int, numbers: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which pages change between fetches, and which of those are written anew."""
        drawn = share(draw(self.seed, "changes", family, numbers))
        if self.always is not None and self.always[0] == family:
            drawn[numbers == self.always[1]] = 1.0
        return drawn < self.rates.changes, drawn < self.rates.rewritten

    def text(self, family: int, numbers: Ints, tails: Ints, moments: Ints) -> Text:
        """Return what the pages of a family say at a moment; only pages that change heed it."""
        rolls = self.kind.families[family].rolls
        codes, turns = numbers, None
        if rolls is not None:
            digits = digits_of(self.kind.families[family], numbers)
            turns = digits[rolls]
            codes = number_of(self.kind.families[family], digits | {rolls: np.zeros_like(numbers)})
        sentences = sentences_of(codes | family << _FAMILY_PLACE, self.seed)
        if turns is not None:
            self._reorder(sentences, codes, turns)
        does_change, is_rewritten = self.changes(family, numbers)
        tails = np.where(does_change & (tails == PLAIN), FIRST_VERSION + moments % VERSIONS, tails)
        if is_rewritten.any():
            for place in range(_CHANGING):
                new = other_sentences(draw(self.seed, "rewrite", moments[is_rewritten], place))
                sentences[is_rewritten, place] = new
        return Text(sentences, tails)

    def _reorder(self, sentences: Ints, codes: Ints, turns: Ints) -> None:
        """Show what a list shows in another order: some of it was there, some comes from further down."""
        turned = np.flatnonzero(turns)
        sentences[turned] = sentences[turned, ::-1]
        for place in range(_CHANGING):
            sentences[turned, place] = other_sentences(
                draw(self.seed, "further", codes[turned], turns[turned], place)
            )

    def padding(self, family: int, numbers: Ints) -> Ints:
        """Return the bytes of each page that nobody sees: between none and many, as with markup."""
        drawn = share(draw(self.seed, "padding", family, numbers))
        return (400 / (1.02 - drawn)).astype(np.int64)


class Notice(NamedTuple):
    """What is known of a page that is none."""

    size: int
    digest: str
    sketch: NDArray[np.uint32]


@lru_cache
def notice(what: int) -> Notice:
    """Return size, digest and sketch of the page that says so."""
    text = NOTICES[what]
    digest, minima = text_digest(text), sketch(text)
    assert digest is not None  # noqa: S101 -- it is not empty
    assert minima is not None  # noqa: S101
    assert len(minima) == SIZE  # noqa: S101
    return Notice(body_size(len(text), 0), digest, minima)


def body_size(text: int, padding: int) -> int:
    """Return the bytes of a page."""
    return _FRAME + text + padding


def sizes(text: Text, padding: Ints) -> Ints:
    """Return the bytes of each page."""
    return BANK.sizes(text) + padding + _FRAME


def body(text: bytes, padding: int) -> bytes:
    """Return a page."""
    return b"".join([_BEFORE, text, _BETWEEN, b" " * padding, _AFTER])


def same_page(family: Family, numbers: Ints) -> Ints:
    """Return the number of the page that each address of a family shows."""
    if family.same is None:
        return numbers
    digits = digits_of(family, numbers)
    return number_of(family, {**digits, **family.same(digits)})
