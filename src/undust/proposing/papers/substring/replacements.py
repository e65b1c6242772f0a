"""Pieces of URLs as rules of our language, where it can express them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from undust.errors import UndustError
from undust.judging.verdict import Candidate
from undust.rules import Rule
from undust.urls.views import END, START

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from undust.rules.language import Kind
    from undust.urls.views import TokenView

    Ints = NDArray[np.int64]

_NAME = "substring"
LENGTH_BITS = 12
TOKENS = re.compile(r"[A-Za-z0-9]+|%[0-9A-Fa-f]{2}|.", re.DOTALL)
"""As `replace` sees them."""
_ANCHORS = {START: b"^", END: b"$"}
RESPELLED = ("{s}://{h}/{p**}?{rest**}", "{s}://{h}/{p}?{rest:amp}")
"""The sides of the rule that writes `&` for every `;` of a query."""


class ParameterSupport(NamedTuple):
    """A parameter whose value may not matter: places of its name and of its usual value, and the counts."""

    name: int
    value: int
    support: int
    ends_queries: int
    """Whether it is more often last than first."""
    pages: int


@dataclass(frozen=True, eq=False)
class WrittenPieces:
    """Some pieces as `replace` writes them, with anchors."""

    texts: list[str]
    codes: Ints
    """Of the tokens of all pieces, one piece after the other."""
    sizes: Ints
    """Of these tokens, in bytes."""
    ends: list[int]
    """Of each piece among them."""

    def why_unsaid(self, number: int) -> str | None:
        """Return why no rule can express a piece, if so."""
        text, end = self.texts[number], self.ends[number]
        if text.endswith("$") and self.codes[end - 1] != END:
            return "pairs that end in a dollar sign, which a rule would take for the end"
        if not text.isascii() or "[" in text or "]" in text:
            return "pairs with characters that rules write as triplets"
        if "%" in text:
            start = self.ends[number - 1] if number else 0
            if list(map(len, TOKENS.findall(text))) != self.sizes[start:end].tolist():
                return "pairs that cut a percent triplet"
        return None


class TokenPieces:
    """The texts of pieces of token rows, by place."""

    def __init__(self, view: TokenView) -> None:
        self.offsets, self.codes = np.asarray(view.offsets), np.asarray(view.codes)
        self.vocabulary = view.vocabulary.cast(pa.large_binary())

    def written(self, places: NDArray[np.uint64]) -> WrittenPieces:
        """Return all pieces at some places together, for one at a time takes ten times as long."""
        rows, spans = (places >> 32).astype(np.int64), (places & 0xFFFFFFFF).astype(np.int64)
        lengths = spans & ((1 << LENGTH_BITS) - 1)
        ends = np.cumsum(lengths)
        first = self.offsets[rows] + (spans >> LENGTH_BITS)
        codes = self.codes[np.repeat(first + lengths - ends, lengths) + np.arange(lengths.sum())]
        words = self.vocabulary.take(pa.array(codes))
        for code, anchor in _ANCHORS.items():
            words = pc.if_else(pa.array(codes == code), pa.scalar(anchor, words.type), words)
        lists = pa.LargeListArray.from_arrays(pa.array(np.concatenate(([0], ends))), words)
        joined = pc.binary_join(lists, pa.scalar(b"", words.type))
        texts = [text.decode(errors="surrogateescape") for text in joined.to_pylist()]
        return WrittenPieces(texts, codes, np.asarray(pc.binary_length(words)), ends.tolist())

    def text(self, place: int) -> str:
        """Return one piece as `replace` writes it."""
        return self.written(np.array([place], np.uint64)).texts[0]


@dataclass(eq=False)
class Saying:
    """Makes candidates of one site, and counts what no rule can express.

    The counts of a candidate are its support and the pages that show it.
    """

    site: str
    pieces: TokenPieces
    unsaid: Counter[str] = field(default_factory=Counter)

    def substitutions(
        self, longer: NDArray[np.uint64], shorter: NDArray[np.uint64], counts: Iterable[tuple[int, int]]
    ) -> Iterator[Candidate]:
        """Yield both directions of each pair, the one that shrinks the URL first."""
        left, right = self.pieces.written(longer), self.pieces.written(shorter)
        for number, (sides, counted) in enumerate(
            zip(zip(left.texts, right.texts, strict=True), counts, strict=True)
        ):
            reason = left.why_unsaid(number) or right.why_unsaid(number)
            if reason:
                self.unsaid[reason] += 1
                continue
            for source, target in (sides, sides[::-1]):
                if not source:
                    self.unsaid["directions with nothing on the left"] += 1
                else:
                    yield from self._candidate(counted, "replace", source, target)

    def parameter(self, each: ParameterSupport, *, is_behind_semicolons: bool = False) -> Iterator[Candidate]:
        """Yield the rule that removes a parameter and the one that sets it to its usual value.

        After semicolons both come with a rule that replaces each `;` with `&`, since a rule removes whole
        parameters only, and those end at `&`.
        """
        named = self.pieces.text(each.name)
        source = f"{{s}}://{{h}}/{{p**}}?{named}={{**}}&{{rest**}}"
        usual = f"{named}={self.pieces.text(each.value)}"
        counts, before = (each.support, each.pages), (RESPELLED,) if is_behind_semicolons else ()
        for query in ("{rest}", f"{{rest}}&{usual}" if each.ends_queries else f"{usual}&{{rest}}"):
            yield from self._candidate(counts, "rewrite", source, f"{{s}}://{{h}}/{{p}}?{query}", before)

    def _candidate(
        self,
        counts: tuple[int, int],
        kind: Kind,
        source: str,
        target: str,
        before: tuple[tuple[str, str], ...] = (),
    ) -> Iterator[Candidate]:
        try:
            rule = Rule(self.site, kind, source, target, learned_by=_NAME)
            first = [Rule(self.site, "rewrite", *sides, learned_by=_NAME) for sides in before]
        except UndustError:
            self.unsaid["rules that the language refuses"] += 1
        else:
            support, pages = counts
            yield Candidate((*first, rule), support, "instances", pages)
