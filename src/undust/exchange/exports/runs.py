r"""A label, a segment or a value with captures in it, as an expression that never goes back twice.

An engine that backtracks tries every split of `{a}-{b}-{c}` before it gives up: the time grows with the cube
of the length. Two facts of the rule language make one pass enough:

* A component is matched on its own, so the first split that reaches its end is final: `(?>…(?=[/?]|$))`.
* Captures are greedy from the left. If a run contains the text before it, the run before could have
  taken more; so no run but the first needs to hold that text, except at its very end.

    {a}-{b}-{c}    (?>(?=[^/?&;]++(?=[/?]|$))([^/?&;]+)-([^/?&;-]*[^/?&;])-([^/?&;-]*[^/?&;])(?=[/?]|$))

Then a place of one separator fixes the place of the separator before it, so each place is looked
at once for each separator. The look ahead makes most failures as quick as a match.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_letters, digits
from typing import TYPE_CHECKING

from undust.errors import CannotExpress
from undust.exchange.exports.expressions import CaptureGroup, escaped, in_class, plain_pieces, run
from undust.rules.pattern import Capture

if TYPE_CHECKING:
    from collections.abc import Collection

    from undust.exchange.exports.expressions import Pieces, UrlPart
    from undust.rules.pattern import Text

_PRINTABLE = frozenset(map(chr, range(0x21, 0x7F)))
_HEX = frozenset(digits + "ABCDEF")
"""What follows the `%` of a triplet in standard form."""
_LETTERS = {
    "int": frozenset(digits),
    "alpha": frozenset(ascii_letters),
    "hex": frozenset(digits + "abcdefABCDEF"),
    "word": frozenset(digits + ascii_letters + "_-"),
}
MOST_WAYS = 8
"""In how many ways a place in a URL may be reached; the time grows with it."""
_REASON = "its captures in one part of the URL overlap, and an expression of them would backtrack"


@dataclass(frozen=True)
class _Item:
    """A literal, or a capture with the characters that it consists of."""

    text: str = ""
    """The literal; empty for a capture."""
    expression: str = ""
    first: frozenset[str] = frozenset()
    """With what it may begin."""
    letters: frozenset[str] = frozenset()
    """Of what a run of any length consists; empty if the length is bounded."""
    characters: frozenset[str] = frozenset()
    """Of what a text of bounded length consists."""
    name: str | None = None


def component(text: Text, place: UrlPart, used: Collection[str], *, lean: bool) -> Pieces:
    """Return a label, a segment or a value as an expression; captures that are `used` become groups."""
    if lean or len(text) == 1 or not any(isinstance(piece, Capture) for piece in text):
        return plain_pieces(text, place, used)
    items = [_item(piece, place) for piece in text]
    written = _Component(items, place.end)
    pieces: list[str | CaptureGroup] = []
    for item, expression in zip(items, written.expressions, strict=True):
        is_group = item.name is not None and item.name in used
        pieces.append(CaptureGroup(item.name or "", expression) if is_group else expression)
    return tuple(pieces) if written.is_settled else (f"(?>{written.ahead}", *pieces, f"{place.end})")


def _item(piece: str | Capture, place: UrlPart) -> _Item:
    if isinstance(piece, str):
        literal = place.normalize(piece)
        return _Item(literal, escaped(literal), frozenset(literal[:1]), characters=frozenset(literal))
    expression = run(piece, place, is_alone=True)
    if piece.detail is None:
        letters = _PRINTABLE - frozenset(place.stops)
        return _Item("", expression, letters, letters, name=piece.name)
    if piece.detail in _LETTERS:
        letters = _LETTERS[piece.detail]
        return _Item("", expression, letters, letters, name=piece.name)
    if piece.detail in {"uuid", "date"}:
        letters = _LETTERS["hex"]
        return _Item("", expression, letters, characters=letters | {"-"}, name=piece.name)
    items = [place.normalize(item) for item in piece.detail.split("|")]
    first = frozenset(item[:1] for item in items)
    return _Item("", expression, first, characters=frozenset("".join(items)), name=piece.name)


class _Component:
    """The items of a component from left to right, each with its expression."""

    def __init__(self, items: list[_Item], end: str) -> None:
        self.items = items
        self.end = end
        self.is_settled = True
        """Whether each run so far could end at one place only."""
        self._last = _Item()
        """The run before."""
        self._between: list[_Item] = []
        """What follows it."""
        self._ways = 1
        """In how many ways a place may be reached, because separators overlap themselves."""
        self.expressions = [self._expression(place) for place in range(len(items))]

    def _expression(self, place: int) -> str:
        item = self.items[place]
        if not item.letters:
            boundary = "" if self._between else _boundary(self._last.letters, item.first)
            self._between.append(item)
            return boundary + item.expression
        following = self.items[place + 1].first if place + 1 < len(self.items) else frozenset()
        is_determined = item.letters.isdisjoint(following)
        expression = self._run(place, is_determined=is_determined)
        self.is_settled = self.is_settled and is_determined
        self._last, self._between = item, []
        return expression

    def _run(self, place: int, *, is_determined: bool) -> str:
        letters = self.items[place].letters
        whole = f"{classed(letters)}++" if is_determined else f"{classed(letters)}+"
        text = "".join(each.text for each in self._between)
        if self.is_settled or not self._between or not letters.issuperset(text):
            return whole
        is_plain = all(each.text for each in self._between)
        if is_plain and self._last.letters >= letters | frozenset(text):
            self._ways *= len(text) if _overlaps_itself(text) else 1
            if self._ways <= MOST_WAYS:
                return _without(letters, text)
        if not self._is_last_and_widest(place):
            raise CannotExpress(_REASON)
        return whole  # if the end can be reached at all, then from each place before it

    @property
    def ahead(self) -> str:
        """What is looked for before all else: the characters of the component, and its end."""
        last = max(place for place, item in enumerate(self.items) if item.letters)
        letters = frozenset[str]().union(
            *(item.letters or item.characters for item in self.items[: last + 1])
        )
        behind = "".join(item.expression for item in self.items[last + 1 :])
        if not behind:
            return f"(?={classed(letters)}++{self.end})"
        return f"(?={classed(letters)}+{_boundary(letters, self.items[last + 1].first)}{behind}{self.end})"

    def _is_last_and_widest(self, place: int) -> bool:
        """Whether a run is the last one, and could take all text before it."""
        before, behind = self.items[:place], self.items[place + 1 :]
        parts = [item.letters or frozenset(item.text) for item in before]
        return (
            all(parts)
            and self.items[place].letters.issuperset(frozenset().union(*parts))
            and not any(item.letters for item in behind)
        )


def _boundary(letters: frozenset[str], first: frozenset[str]) -> str:
    """Return what keeps a text after a run of such letters from beginning inside a triplet."""
    return "(?<!%)(?<!%[0-9A-F])" if "%" in letters and not first.isdisjoint(_HEX) else ""


def _overlaps_itself(text: str) -> bool:
    return any(text.startswith(text[start:]) for start in range(1, len(text)))


def _without(letters: frozenset[str], text: str) -> str:
    """Return a run in which a text is at the very end only."""
    whole = classed(letters)
    size = len(text)
    if size == 1 and not frozenset(text) & _HEX:
        return f"{classed(letters - frozenset(text))}*{whole}"
    boundary = _boundary(letters, frozenset(text[0]))
    start = f"(?:(?!{boundary}{escaped(text)}){whole})*"
    if size == 1:
        return f"{start}{whole}"
    return f"(?:{start}{whole}{{{size}}}|{whole}{{1,{size - 1}}})"


def classed(letters: frozenset[str]) -> str:
    """Return the class of some characters, in the shorter of both ways."""
    others = _PRINTABLE - letters
    if "%" in letters:
        return f"[^{''.join(map(in_class, sorted(others)))}]"
    return f"[{_ranges(sorted(letters))}]"


def _ranges(letters: list[str]) -> str:
    ranges: list[list[str]] = []
    for letter in letters:
        if (
            ranges
            and ord(ranges[-1][-1]) + 1 == ord(letter)
            and letter.isalnum()
            and ranges[-1][-1].isalnum()
        ):
            ranges[-1].append(letter)
        else:
            ranges.append([letter])
    return "".join(f"{some[0]}-{some[-1]}" if some[1:] else in_class(some[0]) for some in ranges)
