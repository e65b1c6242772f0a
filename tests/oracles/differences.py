"""What separates two URLs of one page, in Python as plain as it goes: one pair and one token at a time.

The core's differences must agree with this, text by text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from undust.learning.texts import pieces_of
from undust.proposing.idle_parts import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undust.learning.texts import UrlPieces

    Rule = tuple[str, str, list[str]]
    Difference = tuple[str, str, list[set[str]]]

LONGEST, LONG_NAME, KEPT_VALUES = 6, 14, 5
CAPTURES = "abcdefgijk"
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


def differences(
    urls: Sequence[str], pairs: Iterable[tuple[int, int, int]], least: int, most: int
) -> list[Difference]:
    """Return both sides of what several pages show, those of most pages first, and what was captured."""
    pages: dict[tuple[str, str], set[int]] = defaultdict(set)
    values: dict[tuple[str, str], list[set[str]]] = {}
    for left, right, page in pairs:
        for source, target, texts in _rules_between(pieces_of(urls[left]), pieces_of(urls[right])):
            pages[source, target].add(page)
            seen = values.setdefault((source, target), [set() for _ in texts])
            for some, text in zip(seen, texts, strict=True):
                if len(some) < KEPT_VALUES:
                    some.add(text)
    ranked = sorted(pages.items(), key=lambda item: (-len(item[1]), item[0]))
    return [(*sides, values[sides]) for sides, where in ranked[:most] if len(where) >= least]


def _rules_between(left: UrlPieces, right: UrlPieces) -> Iterator[Rule]:
    """Yield left side, right side and captured texts of the rules that lead from one URL to the other."""
    common = Counter(left.query) & Counter(right.query)
    # The order of parameters on the left side of a rule means nothing, so one order stands for all.
    ours, theirs = tuple(sorted(_without(left.query, common))), _without(right.query, common)
    names = [parameter.partition("=")[0] for parameter in (*ours, *theirs)]
    if left.scheme != right.scheme or max(len(ours), len(theirs)) > LONGEST or not all(map(is_plain, names)):
        return
    if left.host == right.host and len(ours) == 1 and not theirs:
        yield from _value_as_path(left, right, ours[0])
    same_host = left.host == right.host
    hosts = ("{h}", "{h}") if same_host else (left.host, right.host)
    for path, new_path in _paths(left.segments, right.segments):
        is_open = not ours and not path.replace("{p**}", "").strip("/")
        # Without anything to tell when it applies a rule would never end; another host tells.
        if is_open == same_host:
            continue
        sides = captured(Sides((path, *ours), (new_path, *theirs)))
        for each in (sides, forgetting(sides)):
            if each is None or any(len(text) >= LONG_NAME for text in each.only_right()):
                continue
            if not each.captures and each.writes_path():
                continue  # one page's path for another's
            path_text, *query = each.left_texts()
            new_path_text, *new_query = each.right_texts()
            source = f"{{s}}://{hosts[0]}/{path_text}?{'&'.join([*query, '{rest**}'])}"
            new = new_path_text.replace("{p**}", "{p}")
            yield (
                source,
                f"{{s}}://{hosts[1]}/{new}?{'&'.join([*new_query, '{rest}'])}",
                [*each.captures, *each.forgotten],
            )


def _value_as_path(left: UrlPieces, right: UrlPieces, parameter: str) -> Iterator[Rule]:
    """Yield that a value with slashes is the path, or its end: `?q=node/7` and `/node/7`."""
    name, _, value = parameter.partition("=")
    segments = tuple(value.split("/"))
    if len(segments) > 1 and ";" not in value and right.segments[-len(segments) :] == segments:
        source = f"{{s}}://{{h}}/{_joined(*left.segments)}?{name}={{a}}&{{rest**}}"
        prefix = _joined(*right.segments[: -len(segments)], "{a}")
        yield source, f"{{s}}://{{h}}/{prefix}?{{rest}}", [value]


def _without(query: tuple[str, ...], common: Counter[str]) -> tuple[str, ...]:
    """Return the parameters that are not common, in their order."""
    left = Counter(common)
    kept = []
    for parameter in query:
        left[parameter] -= 1
        if left[parameter] < 0:
            kept.append(parameter)
    return tuple(kept)


def _paths(left: tuple[str, ...], right: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the two paths with what they share at the start, or at the end, left open."""
    if left == right:
        yield "{p**}", "{p**}"
        return
    shortest = min(len(left), len(right))
    head = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    room = shortest - head
    tail = next((at for at in range(room) if left[-1 - at] != right[-1 - at]), room)
    ours, theirs = left[head : len(left) - tail], right[head : len(right) - tail]
    if max(len(ours), len(theirs)) > LONGEST:
        return
    if tail:
        yield _joined(*left[:head], *ours, "{p**}"), _joined(*left[:head], *theirs, "{p**}")
    if head:
        end = left[len(left) - tail :]
        yield _joined("{p**}", *ours, *end), _joined("{p**}", *theirs, *end)
    yield _joined(*left), _joined(*right)


def _joined(*segments: str) -> str:
    return "/".join(segments)
