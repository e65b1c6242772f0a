"""Pieces of URLs as rules of our language, where it can say them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from undust.candidates import Candidate
from undust.errors import UndustError
from undust.rules import Rule
from undust.urls.views import END, START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undust.urls.views import TokenView

NAME = "substring"
LENGTH_BITS = 12
TOKENS = re.compile(r"[A-Za-z0-9]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)
"""As `replace` sees them."""
_ANCHORS = {START: "^", END: "$"}


class Pieces:
    """The texts of pieces of token rows, by place."""

    def __init__(self, view: TokenView) -> None:
        self.offsets, self.codes = np.asarray(view.offsets), np.asarray(view.codes)
        self.vocabulary = view.vocabulary.cast(pa.large_binary())
        self.texts: dict[int, str | None] = {START: None, END: None}
        """Of the codes that were asked for: few pieces of many."""

    def text(self, place: int) -> str:
        """Return a piece as `replace` writes it, with anchors."""
        return "".join(self._text(code) or _ANCHORS[code] for code in self._codes(place))

    def why_unsaid(self, place: int) -> str | None:
        """Return why no rule can say a piece, if so."""
        codes = self._codes(place)
        texts = [self._text(code) or "" for code in codes]
        text = "".join(texts)
        if text.endswith("$") and codes[-1] != END:
            return "pairs that end in a dollar sign, which a rule would take for the end"
        if not text.isascii() or "[" in text or "]" in text:
            return "pairs with characters that rules write as triplets"
        if "%" in text and TOKENS.findall(text) != [token for token in texts if token]:
            return "pairs that cut a percent triplet"
        return None

    def _codes(self, place: int) -> list[int]:
        span = place & 0xFFFFFFFF
        first = int(self.offsets[place >> 32]) + (span >> LENGTH_BITS)
        codes: list[int] = self.codes[first : first + (span & ((1 << LENGTH_BITS) - 1))].tolist()
        return codes

    def _text(self, code: int) -> str | None:
        if code not in self.texts:
            self.texts[code] = self.vocabulary[code].as_py().decode(errors="surrogateescape")
        return self.texts[code]


@dataclass(eq=False)
class Saying:
    """Makes candidates of one site, and counts what no rule can say.

    The counts of a candidate are its support and the pages that show it.
    """

    site: str
    pieces: Pieces
    unsaid: Counter[str] = field(default_factory=Counter)

    def substitution(self, longer: int, shorter: int, counts: tuple[int, int]) -> Iterator[Candidate]:
        """Yield both directions of a pair, the one that shrinks the URL first."""
        reason = self.pieces.why_unsaid(longer) or self.pieces.why_unsaid(shorter)
        if reason:
            self.unsaid[reason] += 1
            return
        sides = self.pieces.text(longer), self.pieces.text(shorter)
        for source, target in (sides, sides[::-1]):
            if not source:
                self.unsaid["directions with nothing on the left"] += 1
            else:
                yield from self._candidate(counts, "replace", source, target)

    def parameter(
        self, name: int, value: int, counts: tuple[int, int], *, ends_queries: bool
    ) -> Iterator[Candidate]:
        """Yield the rule that drops a parameter and the one that sets it to its usual value."""
        named = self.pieces.text(name)
        source = f"{{s}}://{{h}}/{{p**}}?{named}={{**}}&{{rest**}}"
        usual = f"{named}={self.pieces.text(value)}"
        for query in ("{rest}", f"{{rest}}&{usual}" if ends_queries else f"{usual}&{{rest}}"):
            yield from self._candidate(counts, "rewrite", source, f"{{s}}://{{h}}/{{p}}?{query}")

    def _candidate(self, counts: tuple[int, int], kind: str, source: str, target: str) -> Iterator[Candidate]:
        try:
            rule = Rule(self.site, kind, source, target, learned_by=NAME)  # type: ignore[arg-type]  # a kind
        except UndustError:
            self.unsaid["rules that the language refuses"] += 1
        else:
            support, pages = counts
            yield Candidate((rule,), support, "instances", pages)
