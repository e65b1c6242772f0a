"""Pieces of URLs as rules of our language, where it can say them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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


@dataclass(frozen=True, eq=False)
class Pieces:
    """The texts of pieces of token rows, by place."""

    view: TokenView

    def tokens(self, place: int) -> tuple[str | None, ...]:
        """Return a piece; None is the start or the end of the URL."""
        texts = self.view.vocabulary.take(self._codes(place)).cast(pa.large_binary()).to_pylist()
        return tuple(None if text is None else text.decode(errors="surrogateescape") for text in texts)

    def text(self, place: int) -> str:
        """Return a piece as `replace` writes it, with anchors."""
        pairs = zip(self._codes(place).to_pylist(), self.tokens(place), strict=True)
        return "".join(_ANCHORS[code] if text is None else text for code, text in pairs)

    def _codes(self, place: int) -> pa.Array:
        span = place & 0xFFFFFFFF
        first = self.view.offsets[place >> 32].as_py() + (span >> LENGTH_BITS)
        return self.view.codes.slice(first, span & ((1 << LENGTH_BITS) - 1))


@dataclass(eq=False)
class Saying:
    """Makes candidates of one site, and counts what no rule can say."""

    site: str
    pieces: Pieces
    unsaid: Counter[str] = field(default_factory=Counter)

    def substitution(self, longer: int, shorter: int, support: int) -> Iterator[Candidate]:
        """Yield both directions of a pair, the one that shrinks the URL first."""
        reason = self._why_not(longer) or self._why_not(shorter)
        if reason:
            self.unsaid[reason] += 1
            return
        sides = self.pieces.text(longer), self.pieces.text(shorter)
        for source, target in (sides, sides[::-1]):
            if not source:
                self.unsaid["directions with nothing on the left"] += 1
            else:
                yield from self._candidate(support, "replace", source, target)

    def parameter(self, name: int, value: int, support: int) -> Iterator[Candidate]:
        """Yield the rule that drops a parameter and the one that sets it to its usual value."""
        named = self.pieces.text(name)
        source = f"{{s}}://{{h}}/{{p**}}?{named}={{**}}&{{rest**}}"
        for kept in ("", f"{named}={self.pieces.text(value)}&"):
            yield from self._candidate(support, "rewrite", source, f"{{s}}://{{h}}/{{p}}?{kept}{{rest}}")

    def _why_not(self, place: int) -> str | None:
        tokens = self.pieces.tokens(place)
        words = [token for token in tokens if token is not None]
        if tokens and tokens[-1] == "$":
            return "pairs that end in a dollar sign, which a rule would take for the end"
        if not "".join(words).isascii() or any(token in {"[", "]"} for token in words):
            return "pairs with characters that rules write as triplets"
        if TOKENS.findall("".join(words)) != words:
            return "pairs that cut a percent triplet"
        return None

    def _candidate(self, support: int, kind: str, source: str, target: str) -> Iterator[Candidate]:
        try:
            rule = Rule(self.site, kind, source, target, learned_by=NAME)  # type: ignore[arg-type]  # a kind
        except UndustError:
            self.unsaid["rules that the language refuses"] += 1
        else:
            yield Candidate((rule,), support, "instances")
