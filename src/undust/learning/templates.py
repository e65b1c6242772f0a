"""Two sides of a rule in the making: texts that stand on both become captures."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CAPTURES = "abcdefgijk"
"""Names of captures, in the order in which they are made; `h`, `p` and `s` are taken."""
TOKEN = re.compile(r"\{p\*\*\}|%[0-9A-F]{2}|[A-Za-z0-9]+|.", re.DOTALL)
FORGET = "{*}"
JOINERS = frozenset("-_.,+")
"""Between words of one name, as titles have them."""


@dataclass(frozen=True)
class Sides:
    """The path and the parameters of both sides, each cut into tokens."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    captures: list[str] = field(default_factory=list)
    """The texts that were captured."""
    forgotten: list[str] = field(default_factory=list)
    """The texts that the left side forgets, in their order."""
    left_tokens: list[list[str]] = field(default_factory=list)
    right_tokens: list[list[str]] = field(default_factory=list)

    def left_texts(self) -> list[str]:
        """Return path and parameters of the left side."""
        return ["".join(tokens) for tokens in self.left_tokens]

    def right_texts(self) -> list[str]:
        """Return path and parameters of the right side."""
        return ["".join(tokens) for tokens in self.right_tokens]

    def writes_path(self) -> bool:
        """Return whether the right side's path has words of its own."""
        return any(token[:1].isalnum() for token in self.right_tokens[0])

    def only_right(self) -> Iterator[str]:
        """Yield the words that the rule writes of its own."""
        yield from (token for tokens in self.right_tokens for token in tokens if token[:1].isalnum())


def captured(sides: Sides) -> Sides:
    """Return the sides with what they share captured, the longest text first."""
    left, right = _cut(sides.left), _cut(sides.right)
    texts: list[str] = []
    while len(texts) < len(CAPTURES):
        found = _longest_common(left, right)
        if found is None:
            break
        (i, a), (j, b), length = found
        name = f"{{{CAPTURES[len(texts)]}}}"
        texts.append("".join(left[i][a : a + length]))
        left[i][a : a + length] = [name]
        right[j][b : b + length] = [name]
    return replace(sides, captures=texts, left_tokens=left, right_tokens=right)


def forgetting(sides: Sides) -> Sides | None:
    """Return the same with words that only the left side has forgotten; None if it has none."""
    texts: list[str] = []
    left = [_forgotten(tokens, _first_free(place), texts) for place, tokens in enumerate(sides.left_tokens)]
    return replace(sides, left_tokens=left, forgotten=texts) if texts else None


def _forgotten(tokens: list[str], start: int, texts: list[str]) -> list[str]:
    """Return the tokens with runs of words forgotten; what they were is added to `texts`."""
    done = tokens[:start]
    for place in range(start, len(tokens)):
        token = tokens[place]
        follows = done[-1:] == [FORGET]
        if _is_word(token):
            if not follows:
                done.append(FORGET)
                texts.append("")
            texts[-1] += token
        elif follows and token in JOINERS and place + 1 < len(tokens) and _is_word(tokens[place + 1]):
            texts[-1] += token
        else:
            done.append(token)
    return done


def _cut(texts: tuple[str, ...]) -> list[list[str]]:
    """Return the tokens of a path and of parameters; a parameter's name is one token with its `=`."""
    path, *query = texts
    cut = [TOKEN.findall(path)]
    for parameter in query:
        name, equals, value = parameter.partition("=")
        cut.append([name + equals, *TOKEN.findall(value)])
    return cut


def _first_free(place: int) -> int:
    """Return where captures may begin: names of parameters stay as they are."""
    return 1 if place else 0


def _is_word(token: str) -> bool:
    return token[:1].isalnum() or token[:1] == "%"


def _longest_common(
    left: list[list[str]], right: list[list[str]]
) -> tuple[tuple[int, int], tuple[int, int], int] | None:
    """Return where the longest text is that both sides have; a run never crosses `/` or `;`."""
    best, size = None, 0
    for i, ours in enumerate(left):
        for j, theirs in enumerate(right):
            for a in range(_first_free(i), len(ours)):
                if not _is_word(ours[a]) or (a and _touches(ours[a - 1])):
                    continue
                for b in range(_first_free(j), len(theirs)):
                    length = _run(ours, a, theirs, b)
                    weight = sum(map(len, ours[a : a + length]))
                    if weight > size:
                        best, size = ((i, a), (j, b), length), weight
    return best


def _run(ours: list[str], a: int, theirs: list[str], b: int) -> int:
    """Return how many tokens from there are the same on both sides, the last of them a word."""
    length = 0
    for one, other in zip(ours[a:], theirs[b:], strict=False):
        if one != other or one in "/;" or one.startswith("{"):
            break
        length += 1
    while length and not _is_word(ours[a + length - 1]):
        length -= 1
    # Two captures that touch cannot be told apart.
    return 0 if a + length < len(ours) and _touches(ours[a + length]) else length


def _touches(text: str) -> bool:
    return text.startswith("{") and text != "{p**}"
